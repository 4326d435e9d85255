import type { ManualPages } from '../manual-page.ts'

/** Commands that show and change kubeconfig files. */
export const configPages: ManualPages = {
  completion: {
    details: [
      'Names are asked of the server that the command line means, by --context, --namespace and the others; it has two seconds to answer.',
      'For bash, put source <(coracle completion bash) into ~/.bashrc; for zsh, the same with zsh into ~/.zshrc after compinit; for fish, coracle completion fish | source into ~/.config/fish/config.fish.',
    ],
    examples: [
      ['for bash', 'coracle completion bash'],
      ['for zsh', 'coracle completion zsh'],
      ['for fish', 'coracle completion fish'],
    ],
    seeAlso: ['options'],
  },
  plugin: {
    details: [
      'Words that name no command are looked for on PATH: coracle foo bar runs coracle-foo-bar or kubectl-foo-bar, or else coracle-foo or kubectl-foo with the argument bar. A dash within a word is an underscore in the name. A command cannot be replaced.',
    ],
    examples: [['which there are', 'coracle plugin list']],
    seeAlso: ['completion'],
  },
  'plugin list': {
    details: ['Ends with an error where there is none, or where one cannot be run.'],
    examples: [['names without directories', 'coracle plugin list --name-only']],
    seeAlso: ['plugin'],
  },
  help: {
    examples: [['all about a command of a command', 'coracle help rollout status']],
    seeAlso: ['options'],
  },
  options: {
    examples: [['what every command may be told', 'coracle options']],
    seeAlso: ['config view'],
  },
  config: {
    details: [
      'With --kubeconfig that file alone is read and written. Else those of $KUBECONFIG are one kubeconfig: the first that has an entry wins, an entry is changed where it stands, and a new one goes to the first file that is there. Without it, .coracle/kubeconfig here or in a directory above is taken, or else ~/.kube/config.',
    ],
    examples: [
      ['what there is', 'coracle config get-contexts'],
      ['work with another cluster from now on', 'coracle config use-context staging'],
    ],
    seeAlso: ['config view', 'config use-context', 'config set-context'],
  },
  'config view': {
    examples: [
      ['all of it, without secrets', 'coracle config view'],
      [
        'one that can be given away: only the current context, with its certificates',
        'coracle config view --minify --flatten',
      ],
      ['the address of the server', "coracle config view --minify -o jsonpath='{.clusters[0].cluster.server}'"],
    ],
    seeAlso: ['config get-contexts', 'config set'],
  },
  'config current-context': {
    examples: [['which one it is', 'coracle config current-context']],
    seeAlso: ['config use-context', 'config get-contexts'],
  },
  'config get-contexts': {
    examples: [
      ['all of them', 'coracle config get-contexts'],
      ['names for a script', 'coracle config get-contexts -o name'],
    ],
    seeAlso: ['config use-context', 'config set-context'],
  },
  'config get-clusters': {
    examples: [['their names', 'coracle config get-clusters']],
    seeAlso: ['config set-cluster', 'config delete-cluster'],
  },
  'config get-users': {
    examples: [['their names', 'coracle config get-users']],
    seeAlso: ['config set-credentials', 'config delete-user'],
  },
  'config use-context': {
    examples: [['work with another cluster', 'coracle config use-context staging']],
    seeAlso: ['config get-contexts', 'config current-context'],
  },
  'config rename-context': {
    examples: [['a shorter name', 'coracle config rename-context kubernetes-admin@kubernetes home']],
    seeAlso: ['config get-contexts'],
  },
  'config delete-context': {
    examples: [['one that is no longer needed', 'coracle config delete-context staging']],
    seeAlso: ['config delete-cluster', 'config delete-user'],
  },
  'config delete-cluster': {
    examples: [['one that is gone', 'coracle config delete-cluster staging']],
    seeAlso: ['config delete-context', 'config get-clusters'],
  },
  'config delete-user': {
    examples: [['one who has left', 'coracle config delete-user jane']],
    seeAlso: ['config delete-context', 'config get-users'],
  },
  'config set-context': {
    details: ['What is not named stays as it is; an empty value takes a field out.'],
    examples: [
      ['another namespace where none is named', 'coracle config set-context --current --namespace=shop'],
      ['a new context', 'coracle config set-context staging --cluster=staging --user=jane'],
    ],
    seeAlso: ['config use-context', 'config get-contexts'],
  },
  'config set-cluster': {
    examples: [
      [
        'a cluster with its authority',
        'coracle config set-cluster staging --server=https://staging:6443 --certificate-authority=ca.crt --embed-certs',
      ],
    ],
    seeAlso: ['config set-credentials', 'config set-context'],
  },
  'config set-credentials': {
    examples: [
      ['a token', 'coracle config set-credentials jane --token=0123456789abcdef'],
      ['a certificate', 'coracle config set-credentials jane --client-certificate=jane.crt --client-key=jane.key'],
      [
        'a plugin that gives credentials',
        'coracle config set-credentials jane --exec-command=login --exec-api-version=client.authentication.k8s.io/v1 --exec-interactive-mode=IfAvailable',
      ],
    ],
    seeAlso: ['config set-cluster', 'config set-context'],
  },
  'config set': {
    examples: [
      ['the server of a cluster', 'coracle config set clusters.staging.server https://staging:6443'],
      ['the current context', 'coracle config set current-context staging'],
    ],
    seeAlso: ['config unset', 'config view'],
  },
  'config unset': {
    examples: [
      ['the namespace of a context', 'coracle config unset contexts.staging.namespace'],
      ['no context is current', 'coracle config unset current-context'],
    ],
    seeAlso: ['config set', 'config view'],
  },
  kuberc: {
    details: [
      "The file is that of --kuberc, or of $KUBERC, or else ~/.kube/kuberc; KUBERC=off turns preferences off. It is kubectl's, and of the same form: a Preference of kubectl.config.k8s.io/v1beta1 or v1alpha1.",
      'A flag that is given counts, whatever the preferences say. An alias is a word of letters that names no command; it stands for a command with flags and arguments, and defaults of the command itself are not those of the alias.',
    ],
    examples: [
      ['what is preferred', 'coracle kuberc view'],
      ['ask before each deletion', 'coracle kuberc set --section defaults --command delete --option interactive=true'],
    ],
    seeAlso: ['kuberc set', 'kuberc view', 'config'],
  },
  'kuberc view': {
    examples: [
      ['all of it', 'coracle kuberc view'],
      ['those of another file', 'coracle kuberc view --kuberc team.yaml -o json'],
    ],
    seeAlso: ['kuberc set'],
  },
  'kuberc set': {
    details: [
      'With --overwrite, options and arguments take the place of those that the entry had; what is left out stays as it was.',
      'Credential plugins are programs that a kubeconfig names. With Allowlist only those run whose command is one of the entries, as a path or a name on the PATH.',
    ],
    examples: [
      [
        'a wide table unless asked otherwise',
        'coracle kuberc set --section defaults --command get --option output=wide',
      ],
      [
        'coracle getn for the nodes',
        'coracle kuberc set --section aliases --name getn --command get --prependarg nodes --option output=wide',
      ],
      [
        'only one program may give credentials',
        'coracle kuberc set --section credentialplugin --policy Allowlist --allowlist-entry command=cloud-login',
      ],
    ],
    seeAlso: ['kuberc view'],
  },
}
