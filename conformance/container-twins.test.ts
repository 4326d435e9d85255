import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, Kubectl, manifest, pod } from './support/kubectl.ts'
import { coracleFile, eventually, Program } from './support/program.ts'
import { compareScenarios, type Step } from './support/twins.ts'

// Commands that need what really runs, by kubectl and by coracle: logs and what goes wrong on the way to a container.

let program: Program
beforeAll(async () => {
  program = await Program.start({ args: ['--memory', '--runtime', 'process', '--nodes', '2'] })
})
afterAll(() => program[Symbol.asyncDispose]())

/** A container that writes twelve lines and stays. */
const talker = (name: string) => ({
  name,
  image: 'example/shell',
  command: ['sh', '-c', `for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo ${name} $i; done; exec sleep 600`],
})

const podOf = (name: string, labels: object, ...containers: readonly string[]) =>
  pod(name, { labels }, { terminationGracePeriodSeconds: 0, containers: containers.map(talker) })

const probe = { exec: { command: ['true'] }, timeoutSeconds: 30 }

/** Profiles of which copies are compared. */
const copied = ['legacy', 'baseline', 'netadmin']

const files = {
  pods: manifest(podOf('pair', { app: 'pair' }, 'left', 'right'), podOf('lone', { app: 'lone' }, 'only')),
  services: manifest(
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'pair' },
      spec: { selector: { app: 'pair' }, ports: [{ port: 80 }] },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'bare' }, spec: { ports: [{ port: 80 }] } },
  ),
  none: manifest({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'none' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'none' } },
      template: { metadata: { labels: { app: 'none' } }, spec: { containers: [talker('main')] } },
    },
  }),
  probed: manifest(
    pod(
      'probed',
      { labels: { app: 'probed' }, annotations: { note: 'one' } },
      {
        nodeName: '{node}',
        terminationGracePeriodSeconds: 0,
        initContainers: [{ name: 'prepare', image: 'x', command: ['true'] }],
        containers: [
          {
            name: 'main',
            image: 'x',
            command: ['sleep', '600'],
            livenessProbe: probe,
            readinessProbe: probe,
            startupProbe: probe,
            securityContext: { runAsUser: 0, capabilities: { add: ['KILL'] } },
          },
          { name: 'side', image: 'y:1', command: ['sleep', '600'] },
        ],
      },
    ),
  ),
  settings: manifest(configMap('settings', { a: '1' })),
}

const talking: readonly Step[] = [
  ['create -f -', files.pods],
  ['create -f -', files.services],
  ['create -f -', files.none],
  'wait --for=condition=Ready pod/pair pod/lone --timeout=60s',
  // What was written just before may still be on its way into the log.
  { until: 'logs pair -c left', shows: /left 12/ },
  { until: 'logs pair -c right', shows: /right 12/ },
  { until: 'logs lone', shows: /only 12/ },
]

const scenarios: Readonly<Record<string, readonly Step[]>> = {
  'logs finds containers, and shows as much of their logs as is wanted': [
    ...talking,
    'logs lone',
    'logs pair',
    'logs pair -c right --tail=1',
    'logs pair middle',
    { inAnyOrder: 'logs pair --all-containers --tail=2' },
    { inAnyOrder: 'logs pair --all-containers --tail=1 --prefix' },
    'logs pair --all-containers -c left',
    'logs -l app=pair --tail=-1',
    'logs -l app=none',
    'logs service/pair --tail=1',
    'logs service/pair --tail=1 --all-pods',
    { inAnyOrder: 'logs service/pair --tail=1 --all-pods --all-containers' },
    'logs pod/lone --tail=1 --all-pods',
    'logs service/bare',
    'logs deployment/none --pod-running-timeout=10ms',
    'logs cm/kube-root-ca.crt',
    'logs lone --limit-bytes=9',
    'logs lone --limit-bytes=-1',
    'logs lone --tail=-2',
    'logs lone --since=-3s',
    'logs lone --since=300ms',
    'logs lone --since=1s --since-time=2020-01-01T00:00:00Z',
    'logs lone --since-time=2999-01-01T00:00:00Z',
    'logs lone --insecure-skip-tls-verify-backend --tail=1',
    'logs lone --previous',
    { inAnyOrder: 'logs pair -p --all-containers --ignore-errors' },
    'logs -l app=pair -f --all-containers --max-log-requests=1',
    'logs lone -l app=lone',
  ],
  'what goes wrong on the way to a container or a port': [
    ...talking,
    'exec lone -- echo hello',
    'exec pair -- echo hello',
    'exec -t lone -- echo hello',
    'exec pair -c middle -- echo hello',
    'exec service/bare -- true',
    'exec deployment/none --pod-running-timeout=10ms -- true',
    'exec cm/kube-root-ca.crt -- true',
    'exec lone',
    'attach pair -c middle',
    'attach deployment/none --pod-running-timeout=10ms',
    'port-forward lone',
    'port-forward deployment/none 80 --pod-running-timeout=10ms',
    'port-forward service/bare 80',
    'port-forward service/pair 81',
    'port-forward lone 70000:80',
    'port-forward lone :70000',
    'port-forward lone 80 --address=nowhere',
    'cp nowhere lone:/tmp/x',
    'cp lone:/a other:/b',
  ],
  'debug makes the same containers, copies and pods on nodes': [
    ['create -f -', files.probed],
    'wait --for=condition=Ready pod/probed --timeout=60s',
    // Each profile in some way; all of them in all ways are beside the code.
    ...['general', 'restricted', 'sysadmin'].map(
      (profile): Step => `debug probed --image=busybox -c ${profile} --profile=${profile} -- sleep 600`,
    ),
    ...copied.map((profile): Step => `debug probed --image=busybox -c more --copy-to=${profile} --profile=${profile}`),
    ...['legacy', 'baseline', 'netadmin'].map(
      (profile): Step => `debug node/{node} --image=busybox -c ${profile} --profile=${profile} -q -- sleep 600`,
    ),
    'debug probed --image=busybox -c target --target=main --env=A=1 --image-pull-policy=Always --profile=general -- sleep 600',
    'debug probed --image=busybox -c arguments --arguments-only --profile=general -- a b',
    'debug probed --copy-to=images --set-image=*=z,side=q --profile=general',
    'debug probed --copy-to=command -c main --profile=general -- sh -c true',
    'debug probed --copy-to=kept -c main --image=other --same-node --share-processes=false --keep-labels --keep-annotations --keep-liveness --keep-readiness --keep-startup --keep-init-containers=false --profile=general',
    // Its node becomes a part of the spec of each copy.
    `wait --for=condition=PodScheduled pod ${copied.join(' ')} images command kept --timeout=60s`,
    'get pod probed -o jsonpath={.spec.ephemeralContainers}{.metadata.generation}',
    `get pod ${copied.join(' ')} images command kept -o 'jsonpath={range .items[*]}{.spec}{.metadata.labels}{.metadata.annotations}{"\\n"}{end}'`,
    {
      inAnyOrder: `get pods -l app.kubernetes.io/managed-by=kubectl-debug -o 'jsonpath={range .items[*]}{.spec}{"\\n"}{end}'`,
    },
    'delete pod kept --now',
    'debug probed --copy-to=kept --replace --set-image=*=z --profile=general',
    'get pod probed',
  ],
  'debug shows what its container writes, and says what is wrong': [
    ['create -f -', files.pods],
    'wait --for=condition=Ready pod/lone --timeout=60s',
    "debug lone --image=x -c talker --profile=general --attach -q -- sh -c 'sleep 1; echo hello'",
    // That its status tells of the end comes after the end.
    {
      until: 'get pod lone -o jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}',
      shows: /^0$/,
    },
    'get pod lone -o jsonpath={.status.phase}',
    'logs lone -c talker',
    // Who sends nothing more has left, and what the container writes then is for the next.
    ["debug lone --image=x -c reader -i --profile=general -- sh -c 'read line; test $line = hello'", 'hello\n'],
    {
      until: 'get pod lone -o jsonpath={.status.ephemeralContainerStatuses[1].state.terminated.exitCode}',
      shows: /^0$/,
    },
    'debug lone',
    'debug lone --copy-to=x -c none --profile=general -- sh',
    'debug lone --replace --image=x',
    'debug lone --image=Bad/X',
    'debug lone --image=x --target=only --copy-to=y',
    'debug lone --image=x -t',
    'debug lone --image=x --profile=none',
    'debug lone --attach --copy-to=y --set-image=*=b',
    'debug lone --image=x -c only --profile=general',
    'debug lone --image=x -c other --target=none --profile=general',
    'debug cm/kube-root-ca.crt --image=x --profile=general',
  ],
  'top shows what is used': [
    ['create -f -', files.pods],
    'wait --for=condition=Ready pod/pair pod/lone --timeout=60s',
    // What is used is known some time after a start, and of each node by itself.
    { until: 'top pod', shows: /lone .*\n.*pair / },
    { until: 'top node {node}', shows: /NODE / },
    ...['', '--sum', '--containers', '--containers --sum', '--show-swap'].map(
      (flags): Step => ({ usage: `top pod ${flags}` }),
    ),
    { usage: 'top pod lone --containers --show-swap' },
    ...['', '--show-swap', '--show-capacity --no-headers'].map(
      (flags): Step => ({ usage: `top node {node} ${flags}` }),
    ),
    'top pod --sort-by=size',
    'top pod a b',
    'top pod a -l x=y',
    'top pod -l app=none',
    'top node --sort-by=size',
    'top node -l no=such',
  ],
  'wait looks once, waits for what is selected, and reads paths': [
    ['create -f -', files.pods],
    'wait --for=condition=Ready pod pair lone --timeout=60s',
    'wait --for=condition=Ready pod --all --timeout=-1s',
    'wait --for=condition=Ready pod/lone --timeout=0',
    'wait --for=delete pod/lone --timeout=0',
    'wait --for=create pod/nobody --timeout=0',
    'wait --for=jsonpath={.status.phase}=Done pod/lone --timeout=0',
    'wait --for=create pod -l app=pair --timeout=60s',
    'wait --for=create pod -l app=none --timeout=10ms',
    'wait --for=delete pod -l app=none',
    ['wait -f - --for=delete', files.settings],
    'wait --for=Ready pod/lone',
    'wait --for=jsonpath=.status.phase=Running pod/lone --timeout=60s',
    'wait --for=jsonpath={.status.conditions[?(@.type=="Ready")].status}=True pod/lone --timeout=60s',
    'wait --for=jsonpath={.status.conditions[*].type} pod/lone --timeout=1s',
    'wait --for=jsonpath={.a}=b=c pod/lone',
    'wait --for=jsonpath={.status.phase}= pod/lone',
    'wait --for=jsonpath={.spec.nodeName pod/lone',
    'wait pod --for=condition=Ready --field-selector=metadata.name=lone',
  ],
}

describe('coracle beside kubectl, where something runs', () => {
  compareScenarios(() => program, scenarios)
})

it('events -w shows what happens, in both', async () => {
  const kubectl = await Kubectl.inNewNamespace(program, 'followed')
  const args = ['events', '-w', '--for=pod/lone', '--types=Normal', '--no-headers']
  await using theirs = await kubectl.start(args)
  const { child, lines: ours } = startCoracle(['-n', 'followed', ...args])
  try {
    await kubectl.create('pods', podOf('lone', { app: 'lone' }, 'only'))
    const plain = (lines: readonly string[]): readonly string[] =>
      lines
        .map((line) =>
          line
            .replace(/^\S+ +/, '')
            .replace(/ {2,}/g, '  ')
            .trimEnd(),
        )
        .toSorted()
    // Several components tell of them, in no order among each other.
    await eventually('four events, in both', async () => [ours, theirs.lines].every((lines) => lines.length === 4))
    expect(plain(ours)).toEqual(plain(theirs.lines))
    expect(plain(ours)).toEqual(
      ['Created', 'Pulled', 'Scheduled', 'Started'].map((reason) => expect.stringContaining(`  ${reason}  `)),
    )
  } finally {
    child.kill()
  }
})

function startCoracle(args: readonly string[]) {
  const child = spawn(process.execPath, [coracleFile, '--kubeconfig', program.kubeconfig, ...args])
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  return { child, lines }
}
