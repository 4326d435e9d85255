import { readFileSync } from 'node:fs'
import { type Container, finderOf, type Pod, quantityValue } from '@coracle/api'
import { metricsContentType, type Time } from '@coracle/environment'
import { linuxResources } from '../isolation/linux-resources.ts'
import { withResourcesOfStatus } from '../pod/given-resources.ts'
import type {
  ContainerStats,
  DiskStats,
  InterfaceStats,
  LinuxResources,
  PodSandboxStats,
  StallTimes,
} from '../runtimes/runtime.ts'
import { type Exchange, send } from './exchange.ts'
import { MetricsText, type Sample } from './metrics-text.ts'
import { type RuntimePod, runtimePods } from './runtime-pods.ts'
import type { ServedNode } from './served-node.ts'
import type { CountedContainer, CountedNode } from './usage-counters.ts'

/**
 * `/metrics/cadvisor`: what containers, pods and the node use, and what containers may use, in the names, labels and types of cAdvisor
 * (google/cadvisor, metrics/prometheus.go) within a kubelet. What a runtime does not tell is left out.
 */
export async function cadvisorMetrics({ node, response, counters, environment }: Exchange): Promise<void> {
  const [counted, pods, sandboxStats] = await Promise.all([
    counters.read(node),
    runtimePods(node),
    node.runtime.podSandboxStats?.() ?? new Map<string, PodSandboxStats>(),
  ])
  const nowMs = environment.clock.now()
  const text = new MetricsText()
  tellVersion(text, node)
  tellSubjects(text, subjectsOf(node, counted, pods, sandboxStats), nowMs)
  tellMachine(text, node)
  send(response, 200, metricsContentType, text.toString())
}

/** Who a line is about, as every metric of a container tells it: '' is what it has not. */
type SubjectLabels = Readonly<Record<'container' | 'id' | 'image' | 'name' | 'namespace' | 'pod', string>>

/** The node as a whole, a pod, its sandbox, or a container. */
interface Subject {
  readonly labels: SubjectLabels
  readonly stats: Partial<ContainerStats>
  readonly startedAtMs?: number | undefined
  readonly resources?: LinuxResources | undefined
  readonly interfaces?: readonly InterfaceStats[]
}

function subjectsOf(
  node: ServedNode,
  { containers, host }: CountedNode,
  pods: readonly RuntimePod[],
  sandboxStats: ReadonlyMap<string, PodSandboxStats>,
): readonly Subject[] {
  const root = { labels: { container: '', id: '/', image: '', name: '', namespace: '', pod: '' }, stats: host }
  const ready = pods.flatMap(({ pod, sandboxes }) =>
    sandboxes.filter((sandbox) => sandbox.ready).map((sandbox) => ({ pod, sandbox })),
  )
  const ofPods = ready.flatMap(({ pod, sandbox }): readonly Subject[] => {
    const { interfaces, ...stats } = sandboxStats.get(sandbox.id) ?? {}
    const startedAtMs = sandbox.createdAtMs
    const whole = { labels: labelsOf(pod, {}), stats, startedAtMs }
    const network = { labels: labelsOf(pod, { name: sandbox.id }), stats: {}, startedAtMs }
    return [
      ...(Object.keys(stats).length === 0 ? [] : [whole]),
      ...(interfaces === undefined ? [] : [{ ...network, interfaces }]),
    ]
  })
  const givenTo = givenResources()
  const ofContainers = containers.map((each): Subject => {
    const { pod, run, stats } = each
    const labels = labelsOf(pod, { container: run.name, image: run.image, name: run.id })
    return { labels, stats, startedAtMs: run.startedAtMs, resources: resourcesOf(each, node, givenTo(pod)) }
  })
  return [root, ...ofPods, ...ofContainers]
}

/** `id` is the path that control groups have with a kubelet: by class of service, pod and container. */
function labelsOf(
  { metadata, status }: Pod,
  { container = '', image = '', name = '' }: Partial<SubjectLabels>,
): SubjectLabels {
  const { qosClass = 'BestEffort' } = status ?? {}
  const parts = [
    'kubepods',
    ...(qosClass === 'Guaranteed' ? [] : [qosClass.toLowerCase()]),
    `pod${metadata.uid ?? ''}`,
    ...(name === '' ? [] : [name]),
  ]
  const { namespace = '', name: pod = '' } = metadata
  return { container, id: `/${parts.join('/')}`, image, name, namespace, pod }
}

/** What a container may use: processes of this host may use all that there is. */
function resourcesOf(
  { run }: CountedContainer,
  { runtime, facts }: ServedNode,
  { pod, containerOf }: GivenResources,
): LinuxResources | undefined {
  if (runtime.runsProcesses && runtime.isolates !== true) return undefined
  const container = containerOf(run.name)
  return container === undefined
    ? undefined
    : linuxResources(container, pod, quantityValue(facts.capacity.memory ?? '0'))
}

/** A pod with what it has been given, and its containers by name. */
interface GivenResources {
  readonly pod: Pod
  readonly containerOf: (name: string) => Container | undefined
}

/** Finds that of each pod once. */
function givenResources(): (pod: Pod) => GivenResources {
  const known = new Map<Pod, GivenResources>()
  return (pod) => {
    let given = known.get(pod)
    if (given === undefined) {
      const withGiven = withResourcesOfStatus(pod)
      const { containers, initContainers = [] } = withGiven.spec
      given = { pod: withGiven, containerOf: finderOf([...containers, ...initContainers], ({ name }) => name) }
      known.set(pod, given)
    }
    return given
  }
}

type Value = (subject: Subject) => number | undefined

const seconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000

/** What is told only of those that have a quota, as cAdvisor does. */
const ofQuota = ({ resources }: Subject, value: number | undefined): number | undefined =>
  resources?.cpuQuota ? value : undefined

const stalledSeconds = (stall: StallTimes | undefined): number | undefined => stall && stall.totalNs / 1e9

/** What is read anew each time: name, type, help, value, and labels beside those of the subject. */
type Reading = readonly [string, 'counter' | 'gauge', string, Value, Readonly<Record<string, string>>?]

const readings: readonly Reading[] = [
  [
    'container_cpu_usage_seconds_total',
    'counter',
    'CPU time used so far, in seconds.',
    ({ stats }) => seconds(stats.cpuMs),
    { cpu: 'total' },
  ],
  [
    'container_cpu_user_seconds_total',
    'counter',
    'CPU time used so far in user mode, in seconds.',
    ({ stats }) => seconds(stats.cpuUserMs),
  ],
  [
    'container_cpu_system_seconds_total',
    'counter',
    'CPU time used so far in the kernel, in seconds.',
    ({ stats }) => seconds(stats.cpuSystemMs),
  ],
  [
    'container_memory_working_set_bytes',
    'gauge',
    'Memory in use that cannot be taken back at once, in bytes.',
    ({ stats }) => stats.memoryBytes,
  ],
  [
    'container_memory_usage_bytes',
    'gauge',
    'All memory in use, in bytes, whenever it was last touched.',
    ({ stats }) => stats.memoryUsageBytes,
  ],
  ['container_memory_rss', 'gauge', 'Memory that no file holds, in bytes.', ({ stats }) => stats.memoryRssBytes],
  ['container_memory_swap', 'gauge', 'Swap in use, in bytes.', ({ stats }) => stats.memorySwapBytes],
  [
    'container_memory_cache',
    'gauge',
    'Memory that holds what is in files, in bytes.',
    ({ stats }) => stats.memoryCacheBytes,
  ],
  [
    'container_memory_mapped_file',
    'gauge',
    'Memory that holds what is in mapped files, in bytes.',
    ({ stats }) => stats.memoryMappedBytes,
  ],
  [
    'container_memory_total_active_file_bytes',
    'gauge',
    'Memory that holds what is in files that were read lately, in bytes.',
    ({ stats }) => stats.memoryActiveFileBytes,
  ],
  [
    'container_memory_total_inactive_file_bytes',
    'gauge',
    'Memory that holds what is in files that were not, in bytes.',
    ({ stats }) => stats.memoryInactiveFileBytes,
  ],
  [
    'container_memory_kernel_usage',
    'gauge',
    'Memory that the kernel holds for it, in bytes.',
    ({ stats }) => stats.memoryKernelBytes,
  ],
  [
    'container_memory_max_usage_bytes',
    'gauge',
    'The most memory that was ever in use, in bytes.',
    ({ stats }) => stats.memoryPeakBytes,
  ],
  [
    'container_memory_failcnt',
    'counter',
    'How often so far it wanted more memory than it may have.',
    ({ stats }) => stats.memoryLimitHits,
  ],
  [
    'container_oom_events_total',
    'counter',
    'Processes ended so far by the kernel for want of memory.',
    ({ stats }) => stats.oomKills,
  ],
  [
    'container_cpu_cfs_periods_total',
    'counter',
    'Periods so far over which its CPU quota counted.',
    (subject) => ofQuota(subject, subject.stats.cpuPeriods),
  ],
  [
    'container_cpu_cfs_throttled_periods_total',
    'counter',
    'Periods so far in which its CPU quota was used up.',
    (subject) => ofQuota(subject, subject.stats.cpuThrottledPeriods),
  ],
  [
    'container_cpu_cfs_throttled_seconds_total',
    'counter',
    'Time so far that it waited for its next period with its CPU quota used up, in seconds.',
    (subject) => ofQuota(subject, seconds(subject.stats.cpuThrottledMs)),
  ],
  ['container_processes', 'gauge', 'Processes that run in it.', ({ stats }) => stats.processes],
  ['container_threads', 'gauge', 'Threads that run in it.', ({ stats }) => stats.threads],
  ...(['cpu', 'memory', 'io'] as const).flatMap((resource): readonly Reading[] => [
    [
      `container_pressure_${resource}_stalled_seconds_total`,
      'counter',
      `Time so far in which none of its tasks went on for want of ${resource}, in seconds.`,
      ({ stats }) => stalledSeconds(stats.pressure?.[resource]?.full),
    ],
    [
      `container_pressure_${resource}_waiting_seconds_total`,
      'counter',
      `Time so far in which tasks of it waited for ${resource}, in seconds.`,
      ({ stats }) => stalledSeconds(stats.pressure?.[resource]?.some),
    ],
  ]),
]

/** What stays as it is while a container runs. */
const properties: readonly (readonly [string, string, Value])[] = [
  [
    'container_start_time_seconds',
    'When it started, in seconds since the Unix epoch.',
    ({ startedAtMs }) => seconds(startedAtMs),
  ],
  [
    'container_spec_cpu_period',
    'Over how many microseconds its CPU quota counts.',
    ({ resources }) => resources?.cpuPeriod,
  ],
  [
    'container_spec_cpu_quota',
    'How many microseconds of CPU it may use in a period.',
    ({ resources }) => resources?.cpuQuota || undefined,
  ],
  ['container_spec_cpu_shares', 'Its weight where CPU is scarce.', ({ resources }) => resources?.cpuShares],
  [
    'container_spec_memory_limit_bytes',
    'How much memory it may use, in bytes.',
    ({ resources }) => resources?.memoryLimitBytes,
  ],
]

const traffic: readonly (readonly [string, string, (each: InterfaceStats) => number | undefined])[] = [
  ['receive_bytes', 'Bytes received so far.', ({ received }) => received.bytes],
  ['receive_packets', 'Packets received so far.', ({ received }) => received.packets],
  ['receive_packets_dropped', 'Packets so far that came and were dropped.', ({ received }) => received.dropped],
  ['receive_errors', 'Errors so far in receiving.', ({ received }) => received.errors],
  ['transmit_bytes', 'Bytes sent so far.', ({ sent }) => sent.bytes],
  ['transmit_packets', 'Packets sent so far.', ({ sent }) => sent.packets],
  ['transmit_packets_dropped', 'Packets so far that were to be sent and were dropped.', ({ sent }) => sent.dropped],
  ['transmit_errors', 'Errors so far in sending.', ({ sent }) => sent.errors],
]

function tellSubjects(text: MetricsText, subjects: readonly Subject[], nowMs: Time): void {
  const samplesOf = (value: Value, more?: Readonly<Record<string, string>>): readonly Sample[] =>
    subjects.flatMap((subject) => {
      const found = value(subject)
      return found === undefined ? [] : [{ labels: { ...more, ...subject.labels }, value: found }]
    })
  const read = (samples: readonly Sample[]) => samples.map((each) => ({ ...each, atMs: nowMs }))
  text.metric(
    'container_last_seen',
    'gauge',
    'When it was last looked at, in seconds since the Unix epoch.',
    read(samplesOf(() => Math.floor(nowMs / 1000))),
  )
  for (const [name, type, help, value, labels] of readings) {
    text.metric(name, type, help, read(samplesOf(value, labels)))
  }
  tellPageFaults(text, subjects, nowMs)
  for (const [name, help, value] of properties) text.metric(name, 'gauge', help, samplesOf(value))
  tellFileSystems(text, subjects, nowMs)
  tellDisks(text, subjects, nowMs)
  for (const [name, help, value] of traffic) {
    text.metric(
      `container_network_${name}_total`,
      'counter',
      help,
      subjects.flatMap(({ labels, interfaces = [] }) =>
        interfaces.flatMap((each) => {
          const found = value(each)
          return found === undefined ? [] : [{ labels: { interface: each.name, ...labels }, value: found, atMs: nowMs }]
        }),
      ),
    )
  }
  text.metric('container_scrape_error', 'gauge', 'Whether asking for what containers use failed.', [
    { labels: {}, value: 0 },
  ])
}

/** A container has no groups below its own: what is counted of it is counted of all that is below as well. */
function tellPageFaults(text: MetricsText, subjects: readonly Subject[], nowMs: Time): void {
  const samples = ['container', 'hierarchy'].flatMap((scope) =>
    subjects.flatMap(({ labels, stats }) =>
      [['pgfault', stats.pageFaults] as const, ['pgmajfault', stats.majorPageFaults] as const].flatMap(
        ([type, value]) =>
          value === undefined ? [] : [{ labels: { failure_type: type, scope, ...labels }, value, atMs: nowMs }],
      ),
    ),
  )
  text.metric('container_memory_failures_total', 'counter', 'Page faults so far, by how grave they were.', samples)
}

const transfers: readonly (readonly [string, string, (each: DiskStats) => number])[] = [
  ['reads_bytes', 'Bytes read from disks so far.', ({ readBytes }) => readBytes],
  ['reads', 'Reads from disks so far.', ({ reads }) => reads],
  ['writes_bytes', 'Bytes written to disks so far.', ({ writtenBytes }) => writtenBytes],
  ['writes', 'Writes to disks so far.', ({ writes }) => writes],
]

function tellDisks(text: MetricsText, subjects: readonly Subject[], nowMs: Time): void {
  const used = new Set(subjects.flatMap(({ stats: { disks = [] } }) => disks.map(({ device }) => device)))
  const names = new Map([...used].map((numbers) => [numbers, diskName(numbers)]))
  for (const [name, help, value] of transfers) {
    const samples = subjects.flatMap(({ labels, stats: { disks = [] } }) =>
      disks.map((disk) => ({
        labels: { device: names.get(disk.device) ?? '', ...labels },
        value: value(disk),
        atMs: nowMs,
      })),
    )
    text.metric(`container_fs_${name}_total`, 'counter', help, samples)
  }
}

/** What the kernel calls a disk of these numbers, as a path; '' where it knows none. */
function diskName(numbers: string): string {
  const name = /^DEVNAME=(.+)$/m.exec(readOrEmpty(`/sys/dev/block/${numbers}/uevent`))?.[1]
  return name === undefined ? '' : `/dev/${name}`
}

function tellFileSystems(text: MetricsText, subjects: readonly Subject[], nowMs: Time): void {
  const withLayers = subjects.flatMap(({ labels, stats: { writableLayer } }) =>
    writableLayer === undefined ? [] : [{ labels, writableLayer }],
  )
  if (withLayers.length === 0) return
  const deviceOf = mountedDevices()
  const samplesOf = (value: (layer: NonNullable<ContainerStats['writableLayer']>) => number | undefined) =>
    withLayers.flatMap(({ labels, writableLayer }) => {
      const found = value(writableLayer)
      const device = deviceOf(writableLayer.mountpoint)
      return found === undefined ? [] : [{ labels: { device, ...labels }, value: found, atMs: nowMs }]
    })
  text.metric(
    'container_fs_usage_bytes',
    'gauge',
    'What it takes of the file system, in bytes.',
    samplesOf(({ usedBytes }) => usedBytes),
  )
}

/** Which device holds a path of this host: '' where that is not known. */
function mountedDevices(): (path: string) => string {
  const mounts = readOrEmpty('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([device, mountpoint]) =>
      device === undefined || mountpoint === undefined ? [] : [{ device, mountpoint }],
    )
  return (path) => {
    let holding: { readonly device: string; readonly mountpoint: string } | undefined
    for (const each of mounts) {
      const isAbove = each.mountpoint === '/' || `${path}/`.startsWith(`${each.mountpoint}/`)
      // Of those at the same place the last hides the others.
      if (isAbove && each.mountpoint.length >= (holding?.mountpoint.length ?? 0)) holding = each
    }
    return holding?.device ?? ''
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function tellVersion(text: MetricsText, { facts: { kernelVersion, osImage } }: ServedNode): void {
  const labels = { cadvisorRevision: '', cadvisorVersion: '', dockerVersion: '', kernelVersion, osVersion: osImage }
  const help = 'The versions of the system, as labels of a 1.'
  text.metric('cadvisor_version_info', 'gauge', help, [{ labels, value: 1 }])
}

function tellMachine(text: MetricsText, { facts: { bootId, machineId, capacity } }: ServedNode): void {
  const labels = { boot_id: bootId, machine_id: machineId, system_uuid: machineId }
  const gauge = (name: string, help: string, value: number) => text.metric(name, 'gauge', help, [{ labels, value }])
  gauge('machine_cpu_cores', 'Logical processors of the machine.', quantityValue(capacity.cpu ?? '0'))
  gauge('machine_memory_bytes', 'Memory of the machine, in bytes.', quantityValue(capacity.memory ?? '0'))
  text.metric('machine_scrape_error', 'gauge', 'Whether asking for what the machine has failed.', [
    { labels: {}, value: 0 },
  ])
}
