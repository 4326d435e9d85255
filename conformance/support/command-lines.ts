import type { JsonObject } from '@coracle/api'
import type { KubectlCommand, KubectlFlag } from './kubectl-help.ts'

/** Lines that make sense, by the words of the command; `{n}` is a number of the line's own. What follows something is not among them. */
const bases: Readonly<Record<string, readonly string[]>> = {
  annotate: ['cm settings a{n}=1', 'cm/settings a=1', '-f cm.yaml a=1', 'cm -l app=none a=2'],
  'api-resources': [''],
  apply: ['-f cm.yaml', '-f directory'],
  'apply edit-last-applied': ['cm settings', 'cm/others'],
  'apply set-last-applied': ['-f cm.yaml --create-annotation'],
  'apply view-last-applied': ['cm settings', '-f cm.yaml'],
  attach: ['nosuch', 'cm/settings'],
  'auth can-i': ['get pods', 'create deployments.apps', 'get pods/one', 'get /logs', 'get pods one'],
  autoscale: ['deployment web --max=3 --name=a{n}', 'rc/old --min=2 --max=3 --name=a{n}'],
  'auth whoami': [''],
  'certificate approve': ['nosuch'],
  'certificate deny': ['nosuch'],
  'config current-context': ['--kubeconfig={kubeconfig}'],
  'config delete-cluster': ['one --kubeconfig={kubeconfig}', 'nosuch --kubeconfig={kubeconfig}'],
  'config delete-context': ['one --kubeconfig={kubeconfig}', 'nosuch --kubeconfig={kubeconfig}'],
  'config delete-user': ['one --kubeconfig={kubeconfig}', 'nosuch --kubeconfig={kubeconfig}'],
  'config get-clusters': ['--kubeconfig={kubeconfig}'],
  'config get-contexts': ['--kubeconfig={kubeconfig}', 'one --kubeconfig={kubeconfig}'],
  'config get-users': ['--kubeconfig={kubeconfig}'],
  'config rename-context': ['one other --kubeconfig={kubeconfig}', 'nosuch other --kubeconfig={kubeconfig}'],
  'config set': ['clusters.one.server https://other --kubeconfig={kubeconfig}', 'x.y z --kubeconfig={kubeconfig}'],
  'config set-cluster': ['one --server=https://other --kubeconfig={kubeconfig}', 'new --kubeconfig={kubeconfig}'],
  'config set-context': ['one --namespace=x --kubeconfig={kubeconfig}', '--current --kubeconfig={kubeconfig}'],
  'config set-credentials': ['one --token=x --kubeconfig={kubeconfig}', 'new --kubeconfig={kubeconfig}'],
  'config unset': ['clusters.one --kubeconfig={kubeconfig}', 'nosuch.x --kubeconfig={kubeconfig}'],
  'config use-context': ['one --kubeconfig={kubeconfig}', 'nosuch --kubeconfig={kubeconfig}'],
  'config view': ['--kubeconfig={kubeconfig}', '--minify --kubeconfig={kubeconfig}'],
  cordon: ['nosuch', '{node} --dry-run=client'],
  cp: ['nosuch:/a b', 'text.txt nosuch:/a', 'nowhere nosuch:/a', 'a b'],
  create: ['-f cm.yaml', '-f wrong-kind.yaml'],
  'create clusterrole': ['{namespace}-{n} --verb=get --resource=pods'],
  'create clusterrolebinding': ['{namespace}-{n} --clusterrole=view --user=jane'],
  'create configmap': ['made-{n} --from-literal=a=1', 'made-{n} --from-env-file=env.txt', 'settings'],
  'create cronjob': ['made-{n} --image=x --schedule=@daily --dry-run=server'],
  'create deployment': ['made-{n} --image=x --replicas=0', 'web --image=x'],
  'create ingress': ['made-{n} --rule=a/=web:80'],
  'create job': ['made-{n} --image=x --dry-run=server', 'made-{n} --from=cronjob/nightly --dry-run=server'],
  'create namespace': ['{namespace}-{n} --dry-run=server', 'default'],
  'create poddisruptionbudget': ['made-{n} --selector=a=b --min-available=1'],
  'create priorityclass': ['{namespace}-{n} --value=1'],
  'create quota': ['made-{n} --hard=count/x.y=1 --dry-run=server'],
  'create role': ['made-{n} --verb=get --resource=pods'],
  'create rolebinding': ['made-{n} --role=reader --user=jane'],
  'create secret docker-registry': ['made-{n} --docker-username=a --docker-password=b', 'made-{n}'],
  'create secret generic': ['made-{n} --from-literal=a=1', 'made-{n} --from-file=text.txt'],
  'create secret tls': ['made-{n} --cert=text.txt --key=text.txt'],
  'create service clusterip': ['made-{n} --clusterip=None'],
  'create service externalname': ['made-{n} --external-name=a.example'],
  'create service loadbalancer': ['made-{n} --tcp=80 --dry-run=client'],
  'create service nodeport': ['made-{n} --tcp=80 --dry-run=client'],
  'create serviceaccount': ['made-{n}'],
  'create token': ['nosuch'],
  debug: ['nosuch --image=x', 'node/nosuch --image=x'],
  delete: ['cm settings', 'cm/settings', 'cm settings others nosuch', '-f cm.yaml', 'cm -l app=web'],
  describe: ['cm settings', 'deploy/web', '-f cm.yaml', 'cm sett'],
  diff: ['-f cm.yaml', '-f directory'],
  drain: ['nosuch', '{node} --pod-selector=app=none --dry-run=client'],
  edit: ['cm settings', 'cm/settings', 'cm/nosuch', '-f cm.yaml'],
  events: ['--for pod/nosuch'],
  exec: ['nosuch -- ls', 'cm/settings -- ls', 'nosuch'],
  explain: ['pods.spec.restartPolicy', 'nosuch', 'pods.nosuch'],
  expose: [
    'deployment web --port=80 --cluster-ip=None --name=made-{n}',
    '-f deployment.yaml --port=80 --name=made-{n}',
  ],
  get: [
    'cm',
    'cm settings',
    'cm/settings',
    'cm,secret',
    'cm settings nosuch',
    'deploy web',
    '-f cm.yaml',
    'cm/settings secret/keys',
  ],
  label: ['cm settings l{n}=1', 'cm/settings a=1', '-f cm.yaml a=1', 'cm -l app=none b=2'],
  logs: ['nosuch', '-l app=none', 'nosuch -f'],
  patch: [
    'cm settings -p {"data":{"p":"{n}"}}',
    'cm/settings --type=merge -p {"data":{"p":"1"}}',
    '-f cm.yaml -p {"data":{"p":"1"}}',
  ],
  'port-forward': ['nosuch 80', 'svc/web 80', 'cm/settings 80'],
  replace: ['-f cm.yaml', '-f directory'],
  'rollout history': ['deploy/web', 'cm settings'],
  'rollout pause': ['deploy/web', 'cm settings'],
  'rollout restart': ['deploy/web', 'cm settings'],
  'rollout resume': ['deploy/web'],
  'rollout status': ['deploy/web --watch=false', 'cm settings'],
  'rollout undo': ['deploy/web', 'cm settings'],
  run: ['made-{n} --image=x --dry-run=client', 'made-{n} --image=x --dry-run=server'],
  scale: ['deploy web --replicas=0', 'deploy/web rc/old --replicas=0', 'cm settings --replicas=1'],
  'set env': ['deploy/web A{n}=1', 'deploy/web --from=cm/settings', 'cm settings A=1'],
  'set image': ['deploy/web web=x:{n}', 'deploy web nosuch=x'],
  'set resources': ['deploy/web --limits=cpu={n}m'],
  'set selector': ['svc/web app=web'],
  'set serviceaccount': ['deploy/web robot{n}'],
  'set subject': ['rolebinding/bound --user=u{n}'],
  taint: [
    'nodes {node} k=v:NoSchedule --dry-run=client',
    'nodes {node} k- --dry-run=client',
    'pods one k=v:NoSchedule',
  ],
  'top node': ['nosuch'],
  'top pod': ['nosuch', '-l app=none'],
  uncordon: ['nosuch', '{node} --dry-run=client'],
  wait: ['cm settings --for=jsonpath={.kind}=ConfigMap --timeout=1s', 'cm/nosuch --for=delete --timeout=1s'],
}

const formats = [
  ...['json', 'yaml', 'name', 'wide', 'nosuch', 'JSON', ''],
  ...[
    'jsonpath={.kind}',
    'jsonpath',
    'jsonpath={',
    'jsonpath={.nosuch}',
    'jsonpath-as-json={.kind}',
    'jsonpath-file=nowhere',
  ],
  ...['go-template={{.kind}}', 'go-template', 'go-template={{', 'go-template-file=nowhere', 'template={{.kind}}'],
  ...['custom-columns=N:.metadata.name', 'custom-columns', 'custom-columns=N', 'custom-columns-file=nowhere'],
]

/** Values of flags, right ones first. Flags that are not here have `1` and nothing. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  cascade: ['orphan', 'true', 'x', ''],
  'chunk-size': ['1', '0', 'x'],
  'current-replicas': ['0', '7', '-1', 'x'],
  'dry-run': ['client', 'server', 'none', 'x', 'true', ''],
  'field-selector': ['metadata.name=settings', 'metadata.name=none', ''],
  filename: ['cm.yaml', 'nowhere.yaml', 'empty.yaml', 'no-kind.yaml', 'wrong-kind.yaml', 'directory', 'nothing', ''],
  'grace-period': ['0', '-1', 'x'],
  image: ['x:1', 'Bad Image', ''],
  limits: ['cpu=1', 'cpu=x', 'x'],
  output: formats,
  overrides: ['{"metadata":{"labels":{"o":"1"}}}', '{bad', '[]'],
  patch: ['{"data":{"p":"1"}}', '[]', ''],
  'patch-file': ['nowhere', ''],
  port: ['80', 'x', ''],
  replicas: ['0', 'x', ''],
  'resource-version': ['x', ''],
  restart: ['Never', 'x', ''],
  revision: ['0', '9', 'x'],
  selector: ['app=web', 'app=none', 'a=b=c', ''],
  'sort-by': ['.metadata.name', '{.metadata.name', '.nosuch', ''],
  subresource: ['status', 'nosuch', ''],
  template: ['{{.kind}}', '{{', ''],
  timeout: ['1s', 'x', '1'],
  type: ['merge', 'json', 'x'],
  validate: ['strict', 'warn', 'ignore', 'x', ''],
}

/** Flags that wait or open an editor, are kubectl's alone, or choose by patterns. */
const left = new Set(
  'attach containers edit follow force help interactive list kustomize raw rm stdin tty wait watch watch-only all all-namespaces prune'.split(
    ' ',
  ),
)

/** Of autoscale: kubectl blames an older version of the API for what is wrong with them. */
const leftOfAutoscale = new Set(['output', 'template'])

/** Files that lines name, beside each other in one folder. */
export const files: Readonly<Record<string, JsonObject | string>> = {
  'cm.yaml': configMap('settings', { metadata: { name: 'settings', labels: { app: 'web' } }, data: { a: '9' } }),
  'deployment.yaml': { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  'directory/a.yaml': configMap('settings'),
  'directory/b.json': configMap('others'),
  'empty.yaml': '',
  'env.txt': 'A=1\n# a comment\nB=2\n',
  'no-kind.yaml': { apiVersion: 'v1', metadata: { name: 'x' } },
  'nothing/notes.txt': 'no manifest',
  'text.txt': 'text\n',
  'wrong-kind.yaml': { apiVersion: 'v1', kind: 'Nosuch', metadata: { name: 'x' } },
}

function configMap(name: string, more: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more }
}

/** All lines: the bases by themselves, with too few and too many arguments, unknown ones, and with each flag given right, wrong, without a value and twice. */
export function commandLines(commands: readonly KubectlCommand[]): readonly (readonly string[])[] {
  const inOrder = commands.toSorted((a, b) => (a.words.join(' ') < b.words.join(' ') ? -1 : 1))
  const lines = inOrder.flatMap(({ words, flags }) => {
    const isLeft = (name: string) => left.has(name) || (words[0] === 'autoscale' && leftOfAutoscale.has(name))
    const own = flags.filter(({ long }) => !isLeft(long.slice(2)))
    return (bases[words.join(' ')] ?? []).flatMap((base) => [...linesFrom(words, base, own)])
  })
  return [...new Map(lines.map((line) => [line.join('\0'), line])).values()]
}

function* linesFrom(
  words: readonly string[],
  base: string,
  flags: readonly KubectlFlag[],
): Iterable<readonly string[]> {
  const all = base === '' ? [] : base.split(' ')
  const first = all.findIndex((word) => word.startsWith('-'))
  const [args, given] = first < 0 ? [all, []] : [all.slice(0, first), all.slice(first)]
  yield [...words, ...all]
  for (let count = 0; count < args.length; count++) yield [...words, ...args.slice(0, count), ...given]
  for (const extra of [['extra'], ['nosuch/x'], ['-n', 'nosuch'], ['--nosuch'], ['-Z']])
    yield [...words, ...args, ...extra, ...given]
  if (args.length > 0) yield [...words, 'nosuchkind', ...args.slice(1), ...given]
  if (args.length > 1) yield [...words, args[0] ?? '', 'nosuch', ...args.slice(2), ...given]
  for (const { long, defaultText } of flags) {
    const isSwitch = defaultText === 'true' || defaultText === 'false'
    const values = isSwitch ? ['true', 'false', 'maybe'] : (valuesOf[long.slice(2)] ?? ['1', ''])
    for (const value of values) yield [...words, ...all, `${long}=${value}`]
    yield [...words, ...all, long]
    yield [...words, ...all, ...values.slice(0, 2).map((value) => `${long}=${value}`)]
  }
}

/** Some of many, the same for the same seed. */
export function sampleOf<T>(items: readonly T[], count: number, seed: number): readonly T[] {
  const rest = [...items]
  const sample: T[] = []
  for (let state = seed; sample.length < count && rest.length > 0; ) {
    // The constants of Numerical Recipes.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    sample.push(...rest.splice(Math.floor((state / 2 ** 32) * rest.length), 1))
  }
  return sample
}
