import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { configMap, manifest, pod } from './support/kubectl.ts'
import { Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// Input that is nearly right, side by side with kubectl: numbers of other bases and below zero, pairs of a strange form, files beside names.

const files = await mkdtemp(join(tmpdir(), 'odd-input-'))
const variables = async (name: string, text: string | Uint8Array): Promise<string> => {
  await writeFile(join(files, name), text)
  return `create configmap settings --from-env-file=${join(files, name)} --dry-run=client -o yaml`
}
const variableFiles = await Promise.all([
  variables('marked', '\u{feff}a=1\n'),
  variables('marked-later', 'a=1\n\u{feff}b=2\n'),
  variables('binary', Buffer.from([0x61, 0x3d, 0x31, 0x0a, 0xff, 0x3d, 0x31])),
  variables('spaces', ' #c\n  \t\n x=\n  z=2 \nPATH\n'),
  variables('nameless', '=v\n'),
])

let program: Program
afterAll(() => rm(files, { recursive: true }))
beforeAll(async () => {
  program = await Program.start({
    args: ['--memory', '--runtime', 'simulated', '--run-time', 'forever', '--nodes', '2'],
  })
})
afterAll(() => program[Symbol.asyncDispose]())

const main = manifest(pod('main'))

const ports = (kind: string, selector: object) =>
  manifest({
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: {
      replicas: 0,
      selector,
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            { name: 'a', image: 'x', ports: [80, 81].map((containerPort) => ({ containerPort })) },
            {
              name: 'b',
              image: 'x',
              ports: [
                { containerPort: 80, protocol: 'UDP' },
                { containerPort: 82, protocol: 'SCTP' },
              ],
            },
          ],
        },
      },
    },
  })

const workload = manifest({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { initContainers: [{ name: 'first', image: 'x' }], containers: [{ name: 'main', image: 'x' }] },
    },
  },
})

const deployment = ports('Deployment', { matchLabels: { app: 'web' } })
const portless = manifest({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's' },
  spec: { ports: [{ port: 1 }] },
})

const forwarding = manifest(
  pod(
    'main',
    { labels: { app: 'main' } },
    {
      containers: [
        {
          name: 'main',
          image: 'x',
          ports: [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP', name: 'dns' }],
        },
      ],
    },
  ),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: {
      selector: { app: 'main' },
      ports: [
        { name: 'web', port: 81, targetPort: 'nosuch' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    },
  },
)

const expose = 'expose deployment web --name=other --dry-run=client -o yaml'
const override = (type: string, patch: string) =>
  `expose pod main --port=1 --dry-run=client -o yaml --override-type=${type} ARG:--overrides=${patch}`
const patch = (operation: object): Step => [
  `patch -f - --local -o name --type=json ARG:--patch=${JSON.stringify([operation])}`,
  main,
]

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'numbers that only a server refuses': [
    'create deployment web --image=x --replicas=-1 --dry-run=client -o yaml',
    'create deployment web --image=x --replicas=-1',
    'create deployment web --image=x --replicas=0x10 --dry-run=client -o yaml',
    'create deployment web --image=x --replicas=99999999999',
    'create deployment web --image=x --port=-1 --dry-run=client -o yaml',
    'create deployment web --image=x --port=0 --dry-run=client -o yaml',
    'create deployment web --image=x --port=70000 --dry-run=client -o yaml',
    'create service nodeport web --tcp=80 --node-port=-1 --dry-run=client -o yaml',
    'create service nodeport web --tcp=80 --node-port=-1',
    'create service nodeport web --tcp=80 --node-port=99999999999 --dry-run=client -o yaml',
    'create service clusterip web --tcp=-5 --dry-run=client -o yaml',
    'create service clusterip web --tcp=5:-5 --dry-run=client -o yaml',
  ],
  'ports of Services': [
    ['create -f -', deployment],
    expose,
    `${expose} --port=80,82,83,080`,
    `${expose} --port=82`,
    `${expose} --protocol=UDP`,
    `${expose} --port=99999999999 --target-port=-1`,
    `${expose} --port=99999999999999999999`,
    `${expose} --target-port=99999999999`,
    ['expose -f - --port=80', ports('ReplicaSet', { matchExpressions: [{ key: 'app', operator: 'Exists' }] })],
    [
      'expose -f - --port=80',
      ports('Deployment', { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'app', operator: 'Exists' }] }),
    ],
    [
      'expose -f - --port=80',
      manifest({ apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'r' }, spec: { template: {} } }),
    ],
    ['set selector -f - --local a=b -o yaml', portless],
  ],
  'what a patch makes of what is generated': [
    ['create -f -', manifest(pod('main', { labels: { app: 'main' } }))],
    override('json', '[{"op":"add","path":"/metadata/labels/x","value":"y"}]'),
    override('json', '[{op:"add"}]'),
    override('json', '['),
    override('json', '{"op":"add"}'),
    override('json', 'null'),
    override('json', '7'),
    override('merge', '{'),
    override('merge', '[]'),
    override('merge', '{"spec":{"ports":[{"port":1}]}}'),
    override('merge', '{"apiVersion":"v2"}'),
    override('merge', '{"kind":"Pod"}'),
    override('merge', '{"spec":{"ports":7}}'),
    override('strategic', '{"spec":{"ports":[{"port":2}]}}'),
    override('strategic', '{'),
    override('strategic', '[]'),
    override('strategic', 'null'),
  ],
  'JSON patches that do not apply': [
    patch({ op: 'add' }),
    patch({ op: 'grow', path: '/a' }),
    patch({ op: 'add', path: '/nope/x', value: 1 }),
    patch({ op: 'add', path: '', value: {} }),
    patch({ op: 'add', path: '/spec/containers/7', value: {} }),
    patch({ op: 'add', path: '/spec/containers/x', value: {} }),
    patch({ op: 'replace', path: '/nope/x', value: 1 }),
    patch({ op: 'replace', path: '/spec/containers/7', value: 1 }),
    patch({ op: 'remove', path: '/spec/containers/7' }),
    patch({ op: 'remove', path: '/nope/x' }),
    patch({ op: 'test', path: '/nope/x', value: 1 }),
    patch({ op: 'test', path: '/spec/containers/7', value: 1 }),
    patch({ op: 'move', from: '/nope/x', path: '/x' }),
    patch({ op: 'move', from: '/metadata/nope', path: '/x' }),
    patch({ op: 'move', from: '/metadata', path: '/metadata/name' }),
    patch({ op: 'copy', from: '/spec/containers/7', path: '/x' }),
    patch({ op: 'copy', from: '/metadata', path: '/x/y' }),
    patch({ op: 'copy', from: 1, path: '/x/y' }),
  ],
  'columns that end in the middle': [
    ['create -f -', main],
    'get pod main -o custom-columns=NAME:.metadata.name,SIXTH:.spec.containers[5].name',
    'get pod main -o custom-columns=NAME:.metadata.name,SIXTH:.spec.containers[5].name --no-headers',
  ],
  'ports that are forwarded': [
    ['create -f -', forwarding],
    'wait pod/main --for=condition=Ready --timeout=60s',
    ...['53', '1:dns', 'a:b:c', '70000', '70000:80', 'x:70000', 'x:0', ':', '80:', '80:-1', 'x:nosuch'].map(
      (port) => `port-forward main ${port}`,
    ),
    ...['nosuch', '70000', ':', '53', 'web', '82'].map((port) => `port-forward service/s ${port}`),
    'port-forward main 80 --address=',
    'port-forward main 80 --address=nowhere',
    'port-forward main 80',
  ],
  'rules of Ingresses': [
    'create ingress web --rule=foo/bar=web:http,tls --rule=foo/baz=web:81,tls=y --dry-run=client -o yaml',
    'create ingress web --rule=foo/=web:1,tls=x --rule=bar/=web:2,tls=x --rule=baz/=web:3,tls=y --dry-run=client -o yaml',
    'create ingress web --rule=/a=web:1,tls --rule=/b=web:2,tls=y --dry-run=client -o yaml',
    'create ingress web --rule=foo/=web:80,foo=bar --dry-run=client -o yaml',
    'create ingress web --rule=foo/=web:80,foo --dry-run=client -o yaml',
    'create ingress web --rule=foo/=web:80,tls=a,b --dry-run=client -o yaml',
    'create ingress web --rule=foo/=web:-1 --dry-run=client -o yaml',
    'create ingress web --rule=foo/=web:99999999999 --dry-run=client -o yaml',
    'create ingress web --rule=fo,o/=web:80',
    'create ingress web --rule=foo=web:80 --annotation=x',
    'create ingress web --class= --default-backend=:80 --dry-run=client -o yaml',
    'create ingress web --default-backend=a: --dry-run=client -o yaml',
    'create ingress web --default-backend=a:b:c',
  ],
  'subresources, and containers of two kinds': [
    ['create -f -', workload],
    'get deployment web --subresource=scale -o name',
    'patch deployment web --subresource=scale --type=merge ARG:--patch={"spec":{"replicas":0}}',
    'patch deployment web --subresource=scale --type=merge -o name ARG:--patch={"spec":{"replicas":0}}',
    'scale deployment web --replicas=0',
    'set env deployment/web A=1',
    'set env deployment/web --list',
  ],
  'paths of explain': [
    'explain .spec',
    'explain pod..spec',
    'explain pod.spec..x',
    'explain pod.spec.containers[0]',
    "explain 'pod.spec}{.x'",
    "explain 'pod.spec}'",
  ],
  'files of variables': [
    ...variableFiles,
    `create configmap settings --from-env-file=${files} --dry-run=client -o yaml`,
  ],
  'a pod that nobody can attach to': [
    // Its log is shown in place of what it writes.
    'run lone --image=example/x --attach --rm',
    'run lone --image=example/x --attach --rm --restart=OnFailure --pod-running-timeout=3s',
    'run empty --image=x --env=A= --dry-run=client -o yaml',
  ],
  'numbers that look like flags': [
    'get pods -1',
    'logs p -5',
    'run x --image=y -1',
    'scale deployment web --replicas -1',
  ],
  'as many at a time as there are': [
    ['diff -f - --concurrency=0', manifest(configMap('kube-root-ca.crt', { a: '5' }))],
    ['diff -f - --concurrency=-1', manifest(configMap('kube-root-ca.crt', { a: '5' }))],
  ],
  autoscalers: [
    ['create -f -', deployment],
    'autoscale deployment web --max=2 --min=0 --dry-run=client -o yaml',
    'autoscale deployment web --max=2 --cpu=-0% --dry-run=client -o yaml',
    'autoscale deployment web --max=2 --cpu=2147483648%',
    'autoscale deployment web --max=2 --cpu=1e30',
  ],
  'pairs of a strange form': [
    ['create -f -', manifest(configMap('settings', {}))],
    ['create -f -', main],
    ['set image -f - =x --local', main],
    'set image pod/main =x',
    'set image pod/main main-',
    'set image pod/main main=x main- other-',
    "set image pod/main '*=x:1' '*=x:2' -o name",
    'label cm settings =x-',
    'label cm settings =x',
    'label cm settings a-- x=1',
    'annotate cm settings =x-',
    'annotate cm settings a--',
  ],
}

compareScenarios(() => program, scenarios)
