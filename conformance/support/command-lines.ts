import type { JsonObject } from '@coracle/api'
import type { KubectlCommand, KubectlFlag } from './kubectl-help.ts'

/**
 * Lines that make sense, by the words of the command. `{n}` is a number of the line's own, `{kind}` stands for an object of each kind
 * and `{file}` for each file, and what follows `<` is read from standard input. What follows something is not among them.
 */
const bases: Readonly<Record<string, readonly string[]>> = {
  annotate: ['{kind} a{n}=1', 'cm settings a=1', '-f {file} a=1', 'cm -l app=none a=2', 'cm settings --list'],
  'api-resources': [''],
  'api-versions': [''],
  apply: [
    '-f {file}',
    '-f cm.yaml --server-side --field-manager=another',
    '-f cm.yaml --prune -l app=web',
    '-f directory --prune --all --prune-allowlist=core/v1/ConfigMap',
  ],
  'apply edit-last-applied': ['cm settings', 'cm/others', '-f {file}'],
  'apply set-last-applied': ['-f cm.yaml --create-annotation', '-f {file}'],
  'apply view-last-applied': ['cm settings', '-f {file}', '{kind}'],
  attach: ['nosuch', 'cm/settings'],
  'auth can-i': ['get pods', 'create deployments.apps', 'get pods/one', 'get /logs', 'get pods one', 'nosuch nosuch'],
  'auth reconcile': ['-f roles.yaml', '-f {file}'],
  autoscale: ['{kind} --max=3 --name=a{n}', 'rc/old --min=2 --max=3 --name=a{n}', '-f {file} --max=3'],
  'auth whoami': [''],
  'certificate approve': ['nosuch', '-f {file}'],
  'certificate deny': ['nosuch'],
  'cluster-info': [''],
  'cluster-info dump': ['--output-directory=dump-{n} --namespaces={namespace}'],
  completion: ['nosh', 'bash zsh'],
  'config current-context': ['--kubeconfig={kubeconfig}', 'KUBECONFIG={kubeconfigs}'],
  'config delete-cluster': [
    'one --kubeconfig={kubeconfig}',
    'nosuch --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two',
  ],
  'config delete-context': [
    'one --kubeconfig={kubeconfig}',
    'nosuch --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two',
  ],
  'config delete-user': [
    'one --kubeconfig={kubeconfig}',
    'nosuch --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two',
  ],
  'config get-clusters': ['--kubeconfig={kubeconfig}', 'KUBECONFIG={kubeconfigs}'],
  'config get-contexts': ['--kubeconfig={kubeconfig}', 'one --kubeconfig={kubeconfig}', 'KUBECONFIG={kubeconfigs}'],
  'config get-users': ['--kubeconfig={kubeconfig}', 'KUBECONFIG={kubeconfigs}'],
  'config rename-context': [
    'one other --kubeconfig={kubeconfig}',
    'nosuch other --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two three',
  ],
  'config set': [
    'clusters.one.server https://other --kubeconfig={kubeconfig}',
    'x.y z --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} users.two.token x',
  ],
  'config set-cluster': [
    'one --server=https://other --kubeconfig={kubeconfig}',
    'new --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two --server=https://other',
  ],
  'config set-context': [
    'one --namespace=x --kubeconfig={kubeconfig}',
    '--current --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two --user=one',
  ],
  'config set-credentials': [
    'one --token=x --kubeconfig={kubeconfig}',
    'new --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two --token=x',
  ],
  'config unset': [
    'clusters.one --kubeconfig={kubeconfig}',
    'nosuch.x --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} users.two',
  ],
  'config use-context': [
    'one --kubeconfig={kubeconfig}',
    'nosuch --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs} two',
  ],
  'config view': [
    '--kubeconfig={kubeconfig}',
    '--minify --kubeconfig={kubeconfig}',
    'KUBECONFIG={kubeconfigs}',
    'KUBECONFIG={kubeconfigs} --minify --context=two',
  ],
  cordon: ['nosuch', '{node} --dry-run=client'],
  cp: ['nosuch:/a b', 'text.txt nosuch:/a', 'nowhere nosuch:/a', 'a b', 'a:/b c:/d', 'text.txt x/y/z:/a'],
  create: ['-f {file}', '-f wrong-kind.yaml'],
  'create clusterrole': [
    '{namespace}-{n} --verb=get --resource=pods',
    '{namespace}-x --verb=get --non-resource-url=/x',
  ],
  'create clusterrolebinding': ['{namespace}-{n} --clusterrole=view --user=jane'],
  'create configmap': ['made-{n} --from-literal=a=1', 'made-{n} --from-env-file=env.txt', 'settings', 'Bad_Name'],
  'create cronjob': ['made-{n} --image=x --schedule=@daily --dry-run=server', 'made-{n} --image=x --schedule=bad'],
  'create deployment': ['made-{n} --image=x --replicas=0', 'web --image=x', 'Bad_Name --image=x'],
  'create ingress': ['made-{n} --rule=a/=web:80', 'made-{n} --default-backend=web:80'],
  'create job': [
    'made-{n} --image=x --dry-run=server',
    'made-{n} --from=cronjob/nightly --dry-run=server',
    'made-{n} --from=deploy/web',
  ],
  'create namespace': ['{namespace}-{n} --dry-run=server', 'default', 'Bad_Name'],
  'create poddisruptionbudget': ['made-{n} --selector=a=b --min-available=1'],
  'create priorityclass': ['{namespace}-{n} --value=1'],
  'create quota': ['made-{n} --hard=count/x.y=1 --dry-run=server'],
  'create role': ['made-{n} --verb=get --resource=pods', 'made-{n} --verb=get --resource=nosuch'],
  'create rolebinding': ['made-{n} --role=reader --user=jane'],
  'create secret docker-registry': ['made-{n} --docker-username=a --docker-password=b', 'made-{n}'],
  'create secret generic': ['made-{n} --from-literal=a=1', 'made-{n} --from-file=text.txt'],
  'create secret tls': ['made-{n} --cert=text.txt --key=text.txt'],
  'create service clusterip': ['made-{n} --clusterip=None', 'made-{n} --tcp=80 --dry-run=client'],
  'create service externalname': ['made-{n} --external-name=a.example'],
  'create service loadbalancer': ['made-{n} --tcp=80 --dry-run=client'],
  'create service nodeport': ['made-{n} --tcp=80 --dry-run=client'],
  'create serviceaccount': ['made-{n}', 'default', 'Bad_Name'],
  'create token': ['nosuch'],
  debug: ['nosuch --image=x', 'node/nosuch --image=x', 'cm/settings --image=x', '-f {file} --image=x'],
  delete: [
    'cm settings',
    'cm/settings',
    'cm settings others nosuch',
    '-f {file}',
    'cm -l app=web',
    'cm/settings secret/keys -i < yes.txt',
  ],
  describe: ['cm settings', 'deploy/web', '-f {file}', 'cm sett'],
  diff: ['-f {file}', '-f directory'],
  drain: ['nosuch', '{node} --pod-selector=app=none --dry-run=client'],
  edit: ['cm settings', 'cm/settings', 'cm/nosuch', '-f {file}'],
  events: ['', '--for pod/nosuch', '--for cm/settings', '--types=Warning'],
  exec: ['nosuch -- ls', 'cm/settings -- ls', 'nosuch', '-f {file} -- ls'],
  explain: [
    'pods.spec.restartPolicy',
    'nosuch',
    'pods.nosuch',
    'deploy',
    'cm --recursive',
    'deploy --api-version=apps/v1beta1',
  ],
  expose: [
    '{kind} --port=80 --cluster-ip=None --name=made-{n}',
    'deployment web --port=80 --cluster-ip=None --name=made-{n}',
    '-f {file} --port=80 --name=made-{n}',
    'deploy/web --name=made-{n}',
  ],
  get: [
    'cm',
    'cm settings',
    '{kind}',
    'cm,secret',
    'cm settings nosuch',
    'deploy web',
    '-f {file}',
    'cm/settings secret/keys',
    'all',
    'events',
  ],
  label: ['{kind} l{n}=1', 'cm/settings a=1', '-f {file} a=1', 'cm -l app=none b=2', 'cm settings --list'],
  logs: ['nosuch', '-l app=none', 'nosuch -f', 'cm/settings', 'job/nosuch', 'cronjob/nightly'],
  options: [''],
  patch: [
    'cm settings -p {"data":{"p":"{n}"}}',
    'cm/settings --type=merge -p {"data":{"p":"1"}}',
    '-f {file} -p {"data":{"p":"1"}}',
    '{kind} -p {"metadata":{"annotations":{"p":"{n}"}}}',
    'cm/settings --type=json -p [{"op":"remove","path":"/nosuch"}]',
  ],
  'plugin list': [''],
  'port-forward': ['nosuch 80', 'svc/web 80', 'cm/settings 80'],
  proxy: ['--port=99999'],
  replace: ['-f {file}', '-f directory'],
  'rollout history': ['{kind}', 'deploy web', '-f {file}'],
  'rollout pause': ['{kind}', 'deploy web', '-f {file}'],
  'rollout restart': ['{kind}', 'deploy web', '-f {file}'],
  'rollout resume': ['{kind}', 'deploy web', '-f {file}'],
  'rollout status': ['{kind} --watch=false', 'deploy web --watch=false', '-f {file} --watch=false'],
  'rollout undo': ['{kind}', 'deploy web', '-f {file}'],
  run: ['made-{n} --image=x --dry-run=client', 'made-{n} --image=x --dry-run=server', 'Bad_Name --image=x'],
  scale: ['{kind} --replicas=0', 'deploy web --replicas=0', 'deploy/web rc/old --replicas=0', '-f {file} --replicas=0'],
  'set env': [
    '{kind} A{n}=1',
    'deploy/web --from=cm/settings',
    'deploy/web --list',
    '-f {file} A=1',
    '-f deployment.yaml A=1 --local',
  ],
  'set image': [
    '{kind} *=x:{n}',
    'deploy/web web=x:{n}',
    'deploy web nosuch=x',
    '-f {file} *=x',
    '-f deployment.yaml web=x --local',
  ],
  'set resources': [
    '{kind} --limits=cpu={n}m',
    '-f {file} --limits=cpu=1',
    '-f deployment.yaml --limits=cpu=1 --local',
  ],
  'set selector': ['{kind} app=web', 'svc web app=web', '-f {file} a=b'],
  'set serviceaccount': ['{kind} robot{n}', 'deploy web robot{n}', '-f {file} robot'],
  'set subject': ['{kind} --user=u{n}', 'rolebinding/bound --user=u{n}', '-f {file} --user=u'],
  taint: [
    'nodes {node} k=v:NoSchedule --dry-run=client',
    'nodes {node} k- --dry-run=client',
    'pods one k=v:NoSchedule',
  ],
  'top node': ['nosuch'],
  'top pod': ['nosuch', '-l app=none'],
  uncordon: ['nosuch', '{node} --dry-run=client'],
  version: ['extra'],
  wait: [
    'cm settings --for=jsonpath={.kind}=ConfigMap --timeout=1s',
    'cm/nosuch --for=delete --timeout=1s',
    'cm/settings --for=condition=Ready --timeout=1s',
    '-f {file} --for=create --timeout=1s',
    'cm -l app=none --for=delete --timeout=1s',
  ],
}

/** Objects of each kind that kubectl treats in a way of its own. */
const namedObjects = [
  ...['deploy/web', 'ds/each', 'sts/db', 'rs/plain', 'rc/old', 'job/once', 'cronjob/nightly', 'pod/nosuch'],
  ...['cm/settings', 'secret/keys', 'svc/web', 'sa/default', 'role/reader', 'rolebinding/bound', 'node/{node}'],
  ...['ns/{namespace}', 'nosuchkind/x', 'deployments.v1.apps/web', 'deploy.nosuch/web'],
]

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
  'accept-hosts': ['^x$', '('],
  address: ['127.0.0.1', 'x y'],
  'aggregation-rule': ['a=b', 'a', ''],
  annotation: ['a=b', 'a', ''],
  annotations: ['a=b', 'a', ''],
  'api-group': ['apps', 'nosuch', ''],
  'bound-object-kind': ['Pod', 'x', ''],
  cascade: ['orphan', 'true', 'x', ''],
  'chunk-size': ['1', '0', 'x'],
  'current-replicas': ['0', '7', '-1', 'x'],
  'default-backend': ['web:80', 'web', ''],
  'dry-run': ['client', 'server', 'none', 'x', 'true', ''],
  duration: ['600s', '1s', '-1s', 'x'],
  env: ['A=1', 'A', '=1', ''],
  'field-selector': ['metadata.name=settings', 'metadata.name=none', 'nosuch=x', 'a', ''],
  filename: [
    ...['cm.yaml', 'nowhere.yaml', 'empty.yaml', 'no-kind.yaml', 'wrong-kind.yaml', 'directory', 'nothing', ''],
    ...['-', 'mixed.yaml', 'broken.yaml', 'list.yaml', '*.txt', 'http://127.0.0.1:2/x.yaml'],
  ],
  for: [
    ...['delete', 'create', 'condition=Ready', 'condition=Ready=False', 'condition=', 'condition', 'x', 'DELETE', ''],
    ...['jsonpath={.kind}=ConfigMap', 'jsonpath={.kind}', 'jsonpath={.nosuch}=1', 'jsonpath=.kind=ConfigMap'],
    ...['jsonpath={.kind}=', 'jsonpath={', 'jsonpath={.data}', 'jsonpath', 'cm/settings', 'cm/x', 'cm', 'nosuch/x'],
  ],
  'from-env-file': ['env.txt', 'text.txt', 'nowhere', ''],
  'from-file': ['text.txt', 'k=text.txt', 'directory', 'k=directory', 'nowhere', '=text.txt', 'a b=text.txt', ''],
  'from-literal': ['b=1', 'b=', 'b', '=1', 'a b=1', ''],
  'grace-period': ['0', '-1', 'x'],
  hard: ['cpu=1', 'pods=x', 'x', 'cpu=1,cpu=2', ''],
  image: ['x:1', 'Bad Image', ''],
  'image-pull-policy': ['Always', 'x', ''],
  'label-columns': ['app', 'a b', ''],
  labels: ['a=b', 'a', 'a=b=c', ''],
  limits: ['cpu=1', 'cpu=x', 'x'],
  'limit-bytes': ['1', '0', '-1', 'x'],
  'max-log-requests': ['1', '0', '-1', 'x'],
  'max-unavailable': ['1', '50%', 'x', ''],
  'min-available': ['1', '50%', 'x', ''],
  'non-resource-url': ['/x', 'x', '/x*', '*', ''],
  output: formats,
  overrides: ['{"metadata":{"labels":{"o":"1"}}}', '{bad', '[]'],
  'override-type': ['merge', 'strategic', 'json', 'x', ''],
  patch: ['{"data":{"p":"1"}}', '[]', ''],
  'patch-file': ['nowhere', 'text.txt', ''],
  port: ['80', 'x', ''],
  'preemption-policy': ['Never', 'x', ''],
  protocol: ['UDP', 'x', ''],
  'prune-allowlist': ['core/v1/ConfigMap', 'core/v1/Nosuch', 'x', ''],
  raw: ['/version/nosuch', '/healthz', 'x', ''],
  replicas: ['0', 'x', ''],
  requests: ['cpu=1', 'cpu=x', 'x', ''],
  resource: ['pods', 'deployments.apps/scale', 'nosuch', 'pods/nosuch', 'pods.nosuch', '*', ''],
  'resource-version': ['x', ''],
  restart: ['Never', 'x', ''],
  revision: ['0', '9', 'x'],
  rule: ['a/b=web:80', 'a/b=web:80,tls', 'a=web', 'web:80', 'a/b*=web:http,tls=x', ''],
  schedule: ['@hourly', 'x', ''],
  scopes: ['BestEffort', 'x', 'BestEffort,NotBestEffort', ''],
  selector: ['app=web', 'app=none', 'a=b=c', 'a in (b', '!a', ''],
  serviceaccount: ['a:b', 'b', 'a:', ''],
  'session-affinity': ['ClientIP', 'x', ''],
  since: ['1s', '-1s', 'x'],
  'since-time': ['2020-01-01T00:00:00Z', 'x', ''],
  'sort-by': ['.metadata.name', '{.metadata.name', '.nosuch', ''],
  subresource: ['status', 'nosuch', ''],
  tail: ['1', '-1', 'x'],
  'target-port': ['80', 'http', 'x y', ''],
  tcp: ['80', '80:90', 'x', '80:x', '1:2:3', '99999', ''],
  template: ['{{.kind}}', '{{', ''],
  timeout: ['1s', 'x', '1'],
  'to-revision': ['0', '9', '-1', 'x'],
  type: ['merge', 'json', 'x'],
  types: ['Normal', 'normal,Warning', 'x', ''],
  'unix-socket': ['nowhere/socket'],
  validate: ['strict', 'warn', 'ignore', 'x', ''],
  value: ['1', '-1', 'x', '9999999999'],
  verb: ['get', 'nosuch', '*', 'get,*', ''],
  www: ['directory', 'nowhere', ''],
}

/** Flags of all commands, for a few of them. */
const sharedValues: Readonly<Record<string, readonly string[]>> = {
  as: ['nobody', 'system:serviceaccount:x:y', ''],
  'as-group': ['x', ''],
  'as-uid': ['x', ''],
  'as-user-extra': ['a=b', 'a', ''],
  'certificate-authority': ['nowhere', 'text.txt', ''],
  'client-certificate': ['nowhere', 'text.txt', ''],
  'client-key': ['nowhere', 'text.txt', ''],
  cluster: ['nosuch', ''],
  context: ['nosuch', ''],
  'disable-compression': ['true', 'maybe'],
  'insecure-skip-tls-verify': ['true', 'maybe'],
  'log-flush-frequency': ['1s', 'x'],
  'match-server-version': ['false', 'maybe'],
  namespace: ['nosuch', 'Bad_Name', ''],
  password: ['x', ''],
  'request-timeout': ['1m', '60', 'x', '-1s', ''],
  server: ['http://127.0.0.1:2', 'x://y', ':', 'http://127.0.0.1:2/path', ''],
  'tls-server-name': ['localhost', 'nosuch', ''],
  token: ['wrong', ''],
  user: ['nosuch', ''],
  username: ['x', ''],
  v: ['0', 'x', '-1', '99', ''],
  vmodule: ['x=1', 'x'],
  'warnings-as-errors': ['true', 'maybe'],
}

/** Those that have all values of the flags of all commands. */
const withSharedFlags = new Set([
  'get',
  'apply',
  'create deployment',
  'delete',
  'describe',
  'label',
  'auth can-i',
  'api-resources',
  'config view',
])

/** Flags that wait or open an editor, are kubectl's alone, or choose by patterns. */
const left = new Set(
  'attach containers edit follow help stdin tty wait watch watch-only all-namespaces record bash pod-running-timeout'.split(
    ' ',
  ),
)

/** Such flags of single commands, by their words. */
const leftOf: Readonly<Record<string, readonly string[]>> = {
  // What has been taken away is there again at some moment.
  delete: ['all'],
  // The editor opens.
  create: ['edit'],
  proxy: ['port', 'disable-filter'],
  'auth can-i': ['list'],
}

/** Files that lines name, beside each other in one folder. */
export const files: Readonly<Record<string, JsonObject | string>> = {
  'cm.yaml': configMap('settings', { metadata: { name: 'settings', labels: { app: 'web' } }, data: { a: '9' } }),
  'deployment.yaml': {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'example/web:2' }] },
      },
    },
  },
  'directory/a.yaml': configMap('settings'),
  'directory/b.json': configMap('others'),
  'empty.yaml': '',
  'comments.yaml': '# nothing\n---\n---\n# nothing\n',
  'env.txt': 'A=1\n# a comment\nB=2\n',
  'no-kind.yaml': { apiVersion: 'v1', metadata: { name: 'x' } },
  'no-name.yaml': { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} },
  'nothing/notes.txt': 'no manifest',
  'text.txt': 'text\n',
  'yes.txt': 'y\n',
  'wrong-kind.yaml': { apiVersion: 'v1', kind: 'Nosuch', metadata: { name: 'x' } },
  'wrong-version.yaml': { apiVersion: 'nosuch/v1', kind: 'ConfigMap', metadata: { name: 'x' } },
  'wrong-field.yaml': configMap('settings', { nosuch: 1, data: { a: '1' } }),
  'wrong-type.yaml': configMap('settings', { data: ['a'] }),
  'wrong-value.yaml': configMap('Bad_Name'),
  'stale.yaml': configMap('settings', { metadata: { name: 'settings', resourceVersion: '1' }, data: { a: '<stale>' } }),
  'elsewhere.yaml': configMap('settings', { metadata: { name: 'settings', namespace: 'elsewhere' } }),
  'generated.yaml': configMap('x', { metadata: { generateName: 'x-' } }),
  'mixed.yaml': documents(
    configMap('settings'),
    { apiVersion: 'v1', kind: 'Nosuch', metadata: { name: 'x' } },
    configMap('missing', { metadata: { name: 'missing', namespace: 'nosuch' } }),
    configMap('others'),
  ),
  'broken.yaml': `${JSON.stringify(configMap('settings'))}\n---\nkind: [\n---\n${JSON.stringify(configMap('others'))}\n`,
  'broken.json': '{"apiVersion": "v1", "kind": "ConfigMap", ',
  'scalar.yaml': 'just a text\n',
  'list.yaml': { apiVersion: 'v1', kind: 'List', items: [configMap('settings'), configMap('others')] },
  'workloads.yaml': documents(
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
    { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'old' } },
  ),
  'roles.yaml': documents(
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'bound' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }],
    },
  ),
}

/** What `{file}` stands for: the first with flags too, the others by themselves. */
const manifestFiles = [
  ...['cm.yaml', 'directory', 'nothing', 'nowhere.yaml', '-', '- < broken.yaml', '- < empty.yaml', '- < text.txt'],
  ...Object.keys(files).filter((path) => /^[\w-]+\.(yaml|json)$/.test(path) && path !== 'cm.yaml'),
  ...[
    'cm.yaml -f mixed.yaml',
    'cm.yaml -f nowhere.yaml',
    'nowhere.yaml -f gone.yaml',
    'cm.yaml -f cm.yaml',
    'broken.yaml -f cm.yaml',
  ],
  ...['http://127.0.0.1:2/x.yaml', 'cm.yaml -f http://127.0.0.1:2/x.yaml', '*.json', 'no*.yaml', 'nosuch*.yaml'],
]

function configMap(name: string, more: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more }
}

function documents(...objects: readonly JsonObject[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('---\n')
}

/** Lines that have differed and are no mere combinations, which are always compared. */
export const formerDifferences: readonly (readonly string[])[] = [
  'set env -f deployment.yaml A=1 --local --output=json',
  'set image -f deployment.yaml web=x --local --output=yaml',
  'set image -f wrong-type.yaml *=x',
  'rollout status -f wrong-type.yaml --watch=false',
  'set selector deploy/web nosuch',
  'set selector svc/web nosuch',
  'set selector deploy/web !nosuch',
  'get --sort-by=.nosuch deploy web',
  'get --sort-by=.nosuch deploy/web svc/web',
  'get --sort-by=.nosuch deploy',
  'get --sort-by={ cm settings',
  'get --sort-by=.nosuch cm settings -o name',
  'get --sort-by=.nosuch deploy -o name',
  'get cm --v=x',
  'get cm --v=-1',
  'get cm --vmodule=x',
  'get cm --log-flush-frequency=x',
  'get cm --profile=x',
  'get --help=maybe',
  'get --nosuch --help',
  'get -k nosuch',
  'get -k nothing',
  'apply -k nosuch -f cm.yaml',
  'label cm settings a=1 -k nosuch',
  'get cm --kustomize=',
  'get -f broken.yaml',
  'get -f cm.yaml -f broken.yaml',
  'describe -f cm.yaml -f elsewhere.yaml',
  'replace -f mixed.yaml',
  'replace -f empty.yaml',
  'replace -f no-name.yaml',
  'replace -f cm.yaml --as=nobody',
  'apply -f no-name.yaml',
  'apply -f cm.yaml --as=nobody',
  'apply -f stale.yaml',
  'apply -f cm.yaml --server=http://127.0.0.1:2',
  'apply -f cm.yaml --prune --all --prune-allowlist=core/v1/Nosuch',
  'patch -f empty.yaml -p {}',
  'patch -f deployment.yaml -p {"data":{"p":"1"}}',
  'label deploy/web l{n}=1 --all',
  'label -f cm.yaml -f mixed.yaml a=1',
  'edit -f comments.yaml',
  'edit cm/settings -o nosuch',
  'apply edit-last-applied cm/others -o nosuch',
  'apply view-last-applied -f deployment.yaml',
  'apply set-last-applied -f no-name.yaml',
  'autoscale -f mixed.yaml --max=3',
  'scale -f mixed.yaml --replicas=0',
  'rollout restart -f mixed.yaml',
  'rollout pause -f comments.yaml',
  'rollout history -f mixed.yaml',
  'rollout status -f cm.yaml -f http://127.0.0.1:2/x.yaml --watch=false',
  'rollout undo rc/old',
  'set image -f mixed.yaml *=x',
  'set image -f directory *=x',
  'set image -f wrong-kind.yaml *=x',
  'set image -f scalar.yaml *=x',
  'set env deploy/web --list -o json',
  'set env deploy/web --list -o nosuch',
  'set image -f deployment.yaml web=x --local --dry-run=client',
  'set env extra -f deployment.yaml A=1 --local',
  'set resources -f deployment.yaml --limits=cpu=1 --local --dry-run=client',
  'wait -f mixed.yaml --for=create --timeout=1s',
  'exec -f empty.yaml -- ls',
  'exec nosuch extra -- ls',
  'events --for=nosuch/x',
  'events --template={{',
  'proxy extra --port=99999',
  'create poddisruptionbudget made-{n} --selector=a=b --min-available=x',
  'run made-{n} --image=x --dry-run=client --annotations=',
  'port-forward cm/settings 80 --address=nowhere',
  'logs cm/settings --limit-bytes=-1',
  'debug -f cm.yaml --image=x --as=nobody',
  'cluster-info --as=nobody',
  'get cm --context=nosuch',
  'get cm --cluster=nosuch',
  'get cm --server=x://y',
  'delete cm none --client-key=text.txt',
  'get cm none --tls-server-name=nosuch',
  'create role made-{n} --verb=nosuch --resource=nosuch',
  'create role made-{n} --verb=use --resource=pods',
  'create clusterrole {namespace}-{n} --verb=list --non-resource-url=/x',
  'create deployment made-{n} --image=x --server=http://127.0.0.1:2',
  'create ingress made-{n} --default-backend=web',
  'run made-{n} --image=x --labels=a',
  'debug nosuch --image=x --env=a',
  'debug nosuch --image=x --env=',
  'logs nosuch --since=-1s',
  'config set-credentials one --exec-interactive-mode= --kubeconfig={kubeconfig}',
  'config set-cluster one --embed-certs --kubeconfig={kubeconfig}',
  'cluster-info dump --output-directory=dump-{n} --namespaces={namespace} -o nosuch',
  'auth can-i get pods --server=http://127.0.0.1:2',
  'auth reconcile -f wrong-kind.yaml',
  'top pod --selector=a=b=c',
  'apply set-last-applied -f cm.yaml -f mixed.yaml',
  'apply view-last-applied -f no*.yaml',
  'cluster-info dump --namespaces={namespace} --template={{.kind}}',
  'cluster-info dump --output-directory=dump-{n} --namespaces={namespace} --output=name',
  'create clusterrolebinding {namespace}-{n} --clusterrole= --user=jane',
  'set env --list',
  'set env deploy/web B=2 --prefix=P_',
  'set env -f deployment.yaml A=1 --local --from=cm/settings',
  'debug -f mixed.yaml --image=x',
  'create service nodeport made-{n} --tcp=1:2:3',
  'create service clusterip made-{n} --tcp=80:x_y',
  'config view --output= --kubeconfig={kubeconfig}',
  'config view --minify --kubeconfig={kubeconfig} --context=',
  'config set-credentials new --kubeconfig={kubeconfig} --embed-certs --client-key=text.txt --client-certificate=',
  'rollout history sts/db --output=json',
  'auth whoami --output=json',
  'logs nosuch --since-time=2020-01-01T00:00:61Z',
  'autoscale deploy/web --max=3 --name=twice',
  'autoscale deploy/web --max=3 --name=twice --cpu=50%',
  'autoscale deploy/web --max=3 --name=a{n} --cpu=50 --output=yaml',
  'create quota made-{n} --hard=cpu=1000,pods=0.5 --dry-run=client --output=yaml',
  'certificate approve -f directory',
  'get cm,secret --as-group=x',
  'get cm,secret --client-key=text.txt',
  'get cm/settings secret/keys --as-uid=x',
  'get -f cm.yaml --cluster=nosuch',
  'get -f cm.yaml --tls-server-name=nosuch',
  'describe cm settings --certificate-authority=nowhere',
  'label -f cm.yaml a=1 --as-group=x',
  'create deployment made-{n} --image=x --tls-server-name=nosuch',
  'set selector svc web app=web --resource-version=x',
  'set selector svc web app=web --resource-version=1',
  'api-resources --output=NOSUCH',
  'label -f cm.yaml a=1 --selector=!a',
  'get -f cm.yaml --selector=app=web',
  'get -f cm.yaml --selector=app=web -o name',
  'get -f cm.yaml --selector=!nosuch',
  'events -o JSON',
  'events -o yaml --show-managed-fields',
  'edit -f cm.yaml -o JSON',
  'patch cm settings --type=json --dry-run=client -p [{"op":"remove","path":"/nosuch"}]',
  'patch cm settings --type=json --dry-run=client -p [{"op":"replace","path":"/data/nosuch","value":"x"}]',
  'patch cm settings --type=json --dry-run=client -p [1]',
  'patch cm settings --type=json --dry-run=client -p x',
  'patch cm settings --type=merge --dry-run=client -p []',
  'patch cm settings --type=merge --dry-run=client -p x',
  'patch cm settings --dry-run=client -p []',
  'create deployment made-{n} --image=x --dry-run=client --context=nosuch',
  'create cm made-{n} --dry-run=client --as-group=x',
  'create cm made-{n} --dry-run=client --server=x://y',
  'run made-{n} --image=x --dry-run=client --server=http://127.0.0.1:2',
  'create deployment made-{n} --image=Bad',
  'create token nosuch --template={{',
  'create secret docker-registry made-{n} --from-file=',
  'config set-credentials new --kubeconfig={kubeconfig} --auth-provider-arg=',
  'config set-credentials new --kubeconfig={kubeconfig} --exec-command=x --exec-env=',
  'debug -f list.yaml --image=x',
  'attach cm/settings nosuch/x',
  'attach cm/kube-root-ca.crt nosuch',
  'attach cm nosuch',
  'wait --for=condition= deploy/web --timeout=1s',
  'wait -l app=none --for=delete --timeout=1s',
  'wait --for=delete --timeout=1s',
  'label -l app=none a=1',
  'delete --all',
  'auth reconcile -f roles.yaml --dry-run=',
  'auth can-i get /logs --subresource=status',
  'auth can-i nosuch /logs',
  'auth can-i nosuch nodes -A',
  'auth can-i get nodes --no-headers',
  'diff -n nosuch -f cm.yaml',
  'diff -f stale.yaml',
  'apply -f cm.yaml --server-side --field-manager=another --filename=mixed.yaml',
  'set env deploy/web --from=cm/settings --filename=list.yaml',
  'get cm -l app=none --sort-by={.metadata.name -o name',
  'get -f no-name.yaml',
  'get -f no-name.yaml -o name',
  'get -f no-name.yaml -o json',
  'get -f no-name.yaml --show-labels',
  'get -f generated.yaml -o yaml',
  'get -f no-name.yaml --no-headers',
  'get -f no-name.yaml --server-print=false',
  'wait -f no-name.yaml --for=delete --timeout=1s',
  'wait -f generated.yaml --for=create --timeout=1s',
  'set env deploy/web A=1 --env==1',
  'set env deploy/web A=1 --env=1=a',
  'set env deploy/web A=1 A-',
  'set env deploy/web --from=cm/settings --selector=!a',
  'set image deploy/web nosuch',
  'set image deploy/nosuch',
  'set image deploy/web web=x *=y',
  'set image -f deployment.yaml --local',
  'run made-{n} --image=x --dry-run=client --env=1=a',
  'debug nosuch --image=x --env==1',
  'debug nosuch --image=x --copy-to=x --set-image==1',
  'debug node/nosuch --image=x --context=nosuch',
  'describe -f cm.yaml --namespace=nosuch',
  'label cm -l app=none b=2 --resource-version=x',
  'label cm settings extra --list',
  'label -f directory --list',
  'label -f mixed.yaml --list',
  'label cm,secret settings --list',
  'annotate cm settings others x=1 --resource-version=1',
  'delete cm/settings secret/keys -i < yes.txt --raw=/healthz',
  'delete cm settings --raw=/healthz --output=json',
  'edit -f cm.yaml --subresource=status',
  'auth reconcile -f cm.yaml --filename=*.txt',
  'wait cm/nosuch --for=delete --timeout=1s --as=nobody',
  'wait cm/settings --for=delete --timeout=1s',
  'wait cm/nosuch --for=delete --timeout=1s',
  'wait cm settings nosuch --for=delete --timeout=1s',
  'auth can-i get pods --server=x://y',
  'auth can-i nosuch nosuch --server=:',
  'create deployment made-{n} --image=x --server=x://y',
  'label -f cm.yaml a=1 --server=x://y',
  'apply -f cm.yaml --prune -l app=web --server=:',
  'get -f cm.yaml --server=:',
  'get cm --server=x://',
  'get cm --server=x/y',
  'proxy --port=99999 --unix-socket=nowhere/socket',
  'proxy --unix-socket=nowhere/socket',
  'label cm settings a=1 --as-group=x',
  'label cm -l app=none b=2 --client-key=nowhere',
  'label -f cm.yaml a=1 --context=nosuch',
  'rollout restart -f deployment.yaml --as-group=x',
  'rollout restart -f deployment.yaml --context=nosuch',
  'set image -f deployment.yaml *=x --as-group=x',
  'set selector svc web a=b --as-group=x',
  'set serviceaccount deploy web x --as-group=x',
  'patch cm settings -p {} --as-group=x',
  'edit -f cm.yaml --as-group=x',
  'apply edit-last-applied cm settings --as-group=x',
  'apply view-last-applied cm settings --as-group=x',
  'rollout restart deploy web extra',
  'rollout history deploy web --template={{.kind}}',
  'debug -f cm.yaml --image=x --custom=1',
  'cp a:/b c:/d --context=nosuch',
  'auth reconcile -f cm.yaml -f mixed.yaml',
  'apply -f cm.yaml',
  'apply -f cm.yaml --dry-run',
  'apply view-last-applied -f elsewhere.yaml',
  'scale -f elsewhere.yaml --replicas=0',
  'scale -f deployment.yaml -f elsewhere.yaml -f wrong-kind.yaml --replicas=0',
  'rollout pause -f cm.yaml --filename=http://127.0.0.1:2/x.yaml',
  'create job made-{n} -n nosuch --from=cronjob/nightly --dry-run=server',
  'create clusterrole {namespace}-x --aggregation-rule=a',
  'create job made-{n} --from=deploy/web --as=nobody',
  'create job made-{n} --from=cronjob',
  'create job made-{n} --from=a/b/c',
  'set env -f cm.yaml A=1 --list=true',
  'expose deploy/web --port=80 --cluster-ip=None --name=made-{n} --protocol=x',
  'expose deploy/web --port=80 --cluster-ip=None --name=made-{n} --protocol=UDP -o yaml --dry-run=client',
  'patch cm settings nosuch -p {bad',
  'patch cm settings -p {bad --dry-run=client',
  'patch cm settings -p {bad --dry-run=client --type=merge',
  'patch cm settings -p {bad --dry-run=client --type=json',
  'patch -f cm.yaml -p {bad --local',
  'replace -f directory --raw=/version/nosuch',
  'delete -f directory --raw=/version/nosuch',
  'expose deploy/web --port=80 --cluster-ip=None --name=made-{n} --load-balancer-ip=1',
  'expose deploy/web --port=80 --name=made-{n} --type=LoadBalancer --load-balancer-ip=1 --dry-run=client -o yaml',
  'scale deploy/web rc/old --replicas=0 --current-replicas=7',
  'scale deploy/web rc/old --replicas=0 --resource-version=7',
  'scale deploy/web --replicas=0 --resource-version=7 --dry-run=client',
  'scale deploy/web --replicas=0 --current-replicas=7 --dry-run=client',
  'scale deploy/web --replicas=0 --current-replicas=-7',
  'scale cm/settings rc/old deploy/nosuch --replicas=0',
  'apply -f cm.yaml --server=127.0.0.1:2',
  'apply -f cm.yaml --server=127.0.0.1:2 --validate=ignore',
  'create deployment made-{n} --image=x --server=127.0.0.1:2',
].map((line) => line.split(' '))

/** All lines: the bases by themselves, with too few and too many arguments, unknown ones, and with each flag given right, wrong, without a value and twice. */
export function commandLines(commands: readonly KubectlCommand[]): readonly (readonly string[])[] {
  const inOrder = commands.toSorted((a, b) => (a.words.join(' ') < b.words.join(' ') ? -1 : 1))
  const lines = inOrder.flatMap(({ words, flags }) => {
    const name = words.join(' ')
    const isLeft = (flag: string) => left.has(flag) || (leftOf[name] ?? []).includes(flag)
    const own = flags.filter(({ long }) => !isLeft(long.slice(2)))
    return [...linesAbout(words), ...(bases[name] ?? []).flatMap((base) => [...linesOf(words, base, own)])]
  })
  return [...new Map(lines.map((line) => [line.join('\0'), line])).values()]
}

/** Lines that ask for help, or name no command. */
function linesAbout(words: readonly string[]): readonly (readonly string[])[] {
  return [
    [...words, '--help'],
    [...words, '-h'],
    ['help', ...words],
    ['help', ...words, 'nosuch'],
    [...words, 'nosuch', '--help'],
    [...words, '--nosuch', '--help'],
    [...words, '--help=maybe'],
    [...words.slice(0, -1), `${words.at(-1) ?? ''}x`],
  ]
}

/** Lines of one base: with all flags where its placeholders stand for the first of what they may, and by itself for the others. */
function linesOf(
  words: readonly string[],
  base: string,
  flags: readonly KubectlFlag[],
): readonly (readonly string[])[] {
  for (const [placeholder, values] of [
    ['{kind}', namedObjects],
    ['{file}', manifestFiles],
  ] as const) {
    if (!base.includes(placeholder)) continue
    const [first = '', ...others] = values.map((value) => base.replaceAll(placeholder, value))
    return [...linesFrom(words, first, flags), ...others.map((other) => [...words, ...other.split(' ')])]
  }
  return [...linesFrom(words, base, flags)]
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
  // What is not in a namespace has one in its name, of which each program has its own.
  const strange = args[0]?.includes('{namespace}') === true ? '{namespace}-nosuchkind' : 'nosuchkind'
  if (args.length > 0) yield [...words, strange, ...args.slice(1), ...given]
  if (args.length > 1) yield [...words, args[0] ?? '', 'nosuch', ...args.slice(2), ...given]
  for (const { long, defaultText } of flags) {
    const isSwitch = defaultText === 'true' || defaultText === 'false'
    const values = isSwitch ? ['true', 'false', 'maybe'] : (valuesOf[long.slice(2)] ?? ['1', ''])
    for (const value of values) yield [...words, ...all, `${long}=${value}`]
    yield [...words, ...all, long]
    yield [...words, ...all, ...values.slice(0, 2).map((value) => `${long}=${value}`)]
  }
  for (const shared of ['--server=http://127.0.0.1:2', '--as=nobody', '--context=nosuch'])
    yield [...words, ...all, shared]
  if (!withSharedFlags.has(words.join(' '))) return
  for (const [name, values] of Object.entries(sharedValues)) {
    for (const value of values) yield [...words, ...all, `--${name}=${value}`]
    yield [...words, ...all, `--${name}`]
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
