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
}
