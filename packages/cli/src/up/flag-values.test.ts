import { evictionDetails, evictionThresholds } from '@coracle/kubelet'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { collect, collectCommas, durationOption, wholeNumber } from '../option-values.ts'
import { flagValuesOf } from './flag-values.ts'
import { valuesInForce } from './values-in-force.ts'

const command = (...args: readonly string[]) =>
  new Command()
    .option('-f, --filename <file>', 'files', collect, [])
    .option('--memory', 'in memory')
    .option('--no-scheduler', 'none')
    .option('--store <url>', 'where')
    .option('--etcd-servers <urls>', 'where', collectCommas)
    .option('--nodes <count>', 'how many', wholeNumber({ min: 0 }))
    .addOption(durationOption('--leader-elect-lease-duration <duration>', 'how long', '15s'))
    .parse(args, { from: 'user' })

it('shows each flag, as Go prints it, and the defaults of those that are not given', () => {
  expect(flagValuesOf(command())).toEqual({
    filename: '[]',
    memory: 'false',
    scheduler: 'true',
    store: '',
    'etcd-servers': '',
    nodes: '',
    'leader-elect-lease-duration': '15s',
  })
  const given = command(
    ...['--no-scheduler', '--memory', '--nodes', '3', '-f', 'a', '-f', 'b', '--leader-elect-lease-duration', '80s'],
    ...['--etcd-servers', 'https://one:1,https://two:2'],
  )
  expect(flagValuesOf(given)).toMatchObject({
    filename: '[a,b]',
    memory: 'true',
    scheduler: 'false',
    'etcd-servers': '[https://one:1,https://two:2]',
    nodes: '3',
    'leader-elect-lease-duration': '1m20s',
  })
})

it('shows what is in force of those that are not given, and the port that the system has chosen', () => {
  const chosen = {
    place: { name: 'coracle', directory: '/home/jane/.coracle' },
    port: 6444,
    nodes: 2,
    runtime: 'cri',
    deadContainers: { ttlMinMs: 0, perContainerMax: 1, max: -1 },
    taskRunTimeMs: 2000,
    nodePrefix: 'node-',
    serviceRanges: ['10.96.0.0/12'],
    containerRuntime: {
      endpoint: 'unix:///run/c.sock',
      imageLimits: { highThresholdPercent: 85, lowThresholdPercent: 80, ageMinMs: 120_000, ageMaxMs: 0 },
      evictionThresholds,
      eviction: evictionDetails,
    },
  }
  const inForce = valuesInForce({}, chosen)
  expect({ ...inForce.defaults, ...inForce.chosen }).toMatchObject({
    name: 'coracle',
    'data-dir': '/home/jane/.coracle',
    port: '6444',
    nodes: '2',
    runtime: 'cri',
    'node-prefix': 'node-',
    'service-cluster-ip-range': '10.96.0.0/12',
    'max-requests-inflight': '400',
    'authorization-mode': '[Node,RBAC]',
    'container-runtime-endpoint': 'unix:///run/c.sock',
    'pod-logs-dir': '/var/log/pods',
    'image-gc-high-threshold': '85',
    'minimum-image-ttl-duration': '2m0s',
    'image-maximum-gc-age': '0s',
    'eviction-max-pod-grace-period': '0',
    'eviction-pressure-transition-period': '5m0s',
    'eviction-hard':
      'memory.available<100Mi,nodefs.available<10%,nodefs.inodesFree<5%,imagefs.available<15%,imagefs.inodesFree<5%',
  })
  const withPort = (...args: readonly string[]) =>
    new Command()
      .option('--port <number>', 'which', Number)
      .option('--nodes <count>', 'how many', Number)
      .option('--store <url>', 'where')
      .parse(args, { from: 'user' })
  expect(flagValuesOf(withPort(), inForce)).toEqual({ port: '6444', nodes: '2', store: '' })
  expect(flagValuesOf(withPort('--port', '0', '--nodes', '2'), inForce)).toEqual({
    port: '6444',
    nodes: '2',
    store: '',
  })
})

it('shows what the server goes by, and not what it has made that of', () => {
  const given = new Command()
    .option('--data-dir <directory>', 'where')
    .option('--service-cluster-ip-range <range>', 'which')
    .option('--container-runtime-endpoint <socket>', 'where')
    .option('--pod-logs-dir <directory>', 'where')
    .option('--max-requests-inflight <count>', 'how many', Number)
    .parse(
      [
        ...['--data-dir', 'here', '--service-cluster-ip-range', '10.0.0.0/16', '--max-requests-inflight', '7'],
        ...['--container-runtime-endpoint', '/run/c.sock', '--pod-logs-dir', 'logs'],
      ],
      { from: 'user' },
    )
  const inForce = valuesInForce(
    {},
    {
      place: { name: 'coracle', directory: '/home/jane/here' },
      port: 6443,
      nodes: 1,
      runtime: 'cri',
      deadContainers: { ttlMinMs: 0, perContainerMax: 1, max: -1 },
      taskRunTimeMs: 2000,
      serviceRanges: ['10.96.0.0/12'],
      containerRuntime: {
        endpoint: 'unix:///run/c.sock',
        podLogsDirectory: '/home/jane/logs',
        imageLimits: { highThresholdPercent: 85, lowThresholdPercent: 80, ageMinMs: 120_000, ageMaxMs: 0 },
        evictionThresholds,
        eviction: evictionDetails,
      },
    },
  )
  expect(flagValuesOf(given, inForce)).toEqual({
    'data-dir': '/home/jane/here',
    'service-cluster-ip-range': '10.96.0.0/12',
    'container-runtime-endpoint': 'unix:///run/c.sock',
    'pod-logs-dir': '/home/jane/logs',
    'max-requests-inflight': '7',
  })
})

it('shows how long simulated tasks take, where containers are simulated', () => {
  const chosen = {
    place: { name: 'coracle', directory: '/home/jane/.coracle' },
    port: 6443,
    nodes: 1,
    deadContainers: { ttlMinMs: 0, perContainerMax: 1, max: -1 },
    taskRunTimeMs: 2000,
  }
  const runTime = (more: object) =>
    valuesInForce({}, { ...chosen, runtime: 'simulated', ...more }).defaults?.['run-time']
  expect([runTime({}), runTime({ storedNodes: true }), runTime({ runtime: 'process' })]).toEqual([
    '2s',
    'forever',
    undefined,
  ])
})

it('tells no password', () => {
  expect(flagValuesOf(command('--store', 'etcd://me:secret@one:1/x')).store).toBe('CLASSIFIED')
  expect(flagValuesOf(command('--etcd-servers', 'https://one:1,https://me:secret@two:2'))['etcd-servers']).toBe(
    'CLASSIFIED',
  )
})
