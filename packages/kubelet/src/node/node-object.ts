import {
  deepEqual,
  formatTime,
  isExtendedResource,
  type Node,
  type NodeCondition,
  type NodeStatus,
  parseTime,
  type Taint,
} from '@coracle/api'
import type { DeviceCount } from '../devices/node-devices.ts'
import type { RuntimeHandler } from '../runtimes/runtime.ts'
import type { NodeFacts } from './node-facts.ts'

/** The Kubernetes version this node agent behaves like. */
export const kubeletVersion = 'v1.36.0'

/** What this node agent can do and those of earlier versions cannot, in order. */
const declaredFeatures = [
  'InPlacePodLevelResourcesVerticalScaling',
  'InPlacePodVerticalScalingInitContainers',
  'RestartAllContainersOnContainerExits',
] as const

/** A node status without changes is written this often: upstream's nodeStatusReportFrequency. */
export const statusReportMs = 300_000

export interface NodeDescription {
  readonly name: string
  readonly address: string
  /** By which other machines reach it, if they do by another address. */
  readonly externalAddress?: string
  readonly facts: NodeFacts
  /** Such as `process://0.1.0`. */
  readonly runtimeVersion: string
  readonly labels: Readonly<Record<string, string>>
  /** What changes of the node while its agent runs. Absent: nothing does. Never rejects. */
  readonly observe?: () => Promise<NodeObservation>
  /** What it is tainted with when it is first registered. */
  readonly taints?: readonly Taint[]
  /** Where its agent listens for the API server; absent: it does not. */
  readonly port?: number
  /** What the node reports in place of all this: one that another agent has registered stays as it is. */
  readonly status?: NodeStatus
}

/** What a node agent finds out about its node from time to time. */
export interface NodeObservation {
  /** Why it runs no containers, in upstream's words; none where it does. */
  readonly problems: readonly string[]
  readonly images: NonNullable<NodeStatus['images']>
  /** The ways in which it runs containers. Absent, or none: its runtime does not say. */
  readonly handlers?: readonly RuntimeHandler[] | undefined
  /** Conditions that say that it runs out of something. Absent: it does not. */
  readonly pressures?: readonly string[]
  /** Devices that plugins offer, by the names of their resources. Absent: none do. */
  readonly devices?: ReadonlyMap<string, DeviceCount>
}

/** A node as it registers itself. */
export function nodeObject(description: NodeDescription, nowMs: number, seen?: NodeObservation): Node {
  const { name, facts } = description
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: nodeLabels(name, facts, description.labels) },
    spec: description.taints === undefined ? {} : { taints: description.taints },
    status: nodeStatus(description, undefined, nowMs, seen),
  }
}

/** Labels the node agent keeps on its node. */
export function nodeLabels(
  name: string,
  facts: NodeFacts,
  labels: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return {
    'beta.kubernetes.io/arch': facts.architecture,
    'beta.kubernetes.io/os': facts.operatingSystem,
    'kubernetes.io/arch': facts.architecture,
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': facts.operatingSystem,
    ...labels,
  }
}

/** The status the node agent reports. Conditions and other parts that belong to someone else stay as they are. */
export function nodeStatus(
  description: NodeDescription,
  current: NodeStatus | undefined,
  nowMs: number,
  seen?: NodeObservation,
): NodeStatus {
  const { name, address, externalAddress = address, facts, runtimeVersion } = description
  if (description.status !== undefined)
    return { ...description.status, conditions: withHeartbeats(current?.conditions ?? [], nowMs) }
  const told = withExtendedResources(facts.capacity, current?.capacity)
  const devices = [...(seen?.devices ?? [])]
  const numberOf = (part: keyof DeviceCount) =>
    Object.fromEntries(devices.map(([resource, count]) => [resource, String(count[part])]))
  const handlers = seen?.handlers ?? []
  return {
    capacity: { ...told, ...numberOf('capacity') },
    allocatable: { ...told, ...numberOf('allocatable') },
    conditions: nodeConditions(current?.conditions ?? [], seen, nowMs),
    addresses: [
      { type: 'InternalIP', address },
      ...(externalAddress === address ? [] : [{ type: 'ExternalIP', address: externalAddress }]),
      { type: 'Hostname', address: name },
    ],
    ...(description.port === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: description.port } } }),
    nodeInfo: {
      machineID: facts.machineId,
      systemUUID: facts.machineId,
      bootID: facts.bootId,
      kernelVersion: facts.kernelVersion,
      osImage: facts.osImage,
      containerRuntimeVersion: runtimeVersion,
      kubeletVersion,
      kubeProxyVersion: '',
      operatingSystem: facts.operatingSystem,
      architecture: facts.architecture,
      ...(facts.swapBytes === undefined ? {} : { swap: { capacity: facts.swapBytes } }),
    },
    ...(facts.features === undefined ? {} : { features: facts.features }),
    ...(seen === undefined ? {} : { images: seen.images }),
    ...(handlers.length || current?.runtimeHandlers?.length ? { runtimeHandlers: handlers } : {}),
    declaredFeatures,
  }
}

/**
 * What the node has, and the extended resources that others say it has: somebody who writes such a one into the capacity has the node
 * offer it, as a kubelet does.
 */
function withExtendedResources(
  own: NonNullable<NodeStatus['capacity']>,
  told: NodeStatus['capacity'] = {},
): NonNullable<NodeStatus['capacity']> {
  const extended = Object.entries(told).filter(([name]) => isExtendedResource(name) && own[name] === undefined)
  return extended.length === 0 ? own : { ...own, ...Object.fromEntries(extended) }
}

interface Verdict {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** Upstream's order: Ready comes last. */
const verdicts: readonly Verdict[] = [
  {
    type: 'MemoryPressure',
    status: 'False',
    reason: 'KubeletHasSufficientMemory',
    message: 'kubelet has sufficient memory available',
  },
  {
    type: 'DiskPressure',
    status: 'False',
    reason: 'KubeletHasNoDiskPressure',
    message: 'kubelet has no disk pressure',
  },
  {
    type: 'PIDPressure',
    status: 'False',
    reason: 'KubeletHasSufficientPID',
    message: 'kubelet has sufficient PID available',
  },
  { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
]

/** What is said instead of a node that runs out of something. */
const lacking: Readonly<Record<string, Verdict>> = {
  MemoryPressure: {
    type: 'MemoryPressure',
    status: 'True',
    reason: 'KubeletHasInsufficientMemory',
    message: 'kubelet has insufficient memory available',
  },
  DiskPressure: {
    type: 'DiskPressure',
    status: 'True',
    reason: 'KubeletHasDiskPressure',
    message: 'kubelet has disk pressure',
  },
  PIDPressure: {
    type: 'PIDPressure',
    status: 'True',
    reason: 'KubeletHasInsufficientPID',
    message: 'kubelet has insufficient PID available',
  },
}

function nodeConditions(
  current: readonly NodeCondition[],
  { problems, pressures = [] }: Omit<NodeObservation, 'images'> = { problems: [] },
  nowMs: number,
): readonly NodeCondition[] {
  const now = formatTime(nowMs)
  const foreign = current.filter(({ type }) => !verdicts.some((verdict) => verdict.type === type))
  const own = verdicts.map((usual): NodeCondition => {
    const isReadiness = usual.type === 'Ready' && problems.length > 0
    const verdict = isReadiness ? notReady(problems) : (pressures.includes(usual.type) && lacking[usual.type]) || usual
    const before = current.find(({ type }) => type === verdict.type)
    const transition = before?.status === verdict.status ? before.lastTransitionTime : undefined
    return { ...verdict, lastHeartbeatTime: now, lastTransitionTime: transition ?? now }
  })
  return [...foreign, ...own]
}

/** As Go writes several errors as one. */
const notReady = (problems: readonly string[]): Verdict => ({
  type: 'Ready',
  status: 'False',
  reason: 'KubeletNotReady',
  message: problems.length === 1 ? String(problems[0]) : `[${problems.join(', ')}]`,
})

/** The node's own conditions as they are, with this time. */
function withHeartbeats(current: readonly NodeCondition[], nowMs: number): readonly NodeCondition[] {
  const lastHeartbeatTime = formatTime(nowMs)
  return current.map((condition) =>
    verdicts.some(({ type }) => type === condition.type) ? { ...condition, lastHeartbeatTime } : condition,
  )
}

/** A node that another agent has registered, to be kept alive as it is. */
export function describeNode({ metadata, status = {} }: Node): NodeDescription {
  const { name = '' } = metadata
  const { nodeInfo, addresses = [], allocatable, capacity } = status
  const addressOf = (wanted: string) => addresses.find(({ type }) => type === wanted)?.address
  return {
    name,
    address: addressOf('InternalIP') ?? addressOf('ExternalIP') ?? '127.0.0.1',
    facts: {
      hostname: addressOf('Hostname') ?? name,
      operatingSystem: nodeInfo?.operatingSystem ?? 'linux',
      architecture: nodeInfo?.architecture ?? 'amd64',
      kernelVersion: nodeInfo?.kernelVersion ?? '',
      osImage: nodeInfo?.osImage ?? '',
      machineId: nodeInfo?.machineID ?? '',
      bootId: nodeInfo?.bootID ?? '',
      capacity: allocatable ?? capacity ?? {},
    },
    runtimeVersion: nodeInfo?.containerRuntimeVersion ?? '',
    labels: {},
    status,
  }
}

/** Whether `next` says more than that time has passed, or it is time to say that. */
export function isWorthReporting(current: NodeStatus | undefined, next: NodeStatus, nowMs: number): boolean {
  if (current === undefined) return true
  if (nowMs >= reportAgainMs(current)) return true
  const parts = ['capacity', 'allocatable', 'addresses', 'nodeInfo', 'images', 'runtimeHandlers'] as const
  if (parts.some((part) => !deepEqual(withoutEmpty(current[part]), withoutEmpty(next[part])))) return true
  if (portOf(current) !== portOf(next)) return true
  return !deepEqual(withoutHeartbeats(current.conditions), withoutHeartbeats(next.conditions))
}

/** Where the agent listens; 0: nowhere. */
const portOf = ({ daemonEndpoints }: NodeStatus): number => daemonEndpoints?.kubeletEndpoint?.Port ?? 0

/** When a status is to be reported again, even if nothing has changed: at once where it never was. */
export function reportAgainMs({ conditions = [] }: NodeStatus): number {
  const heartbeat = conditions.find(({ type }) => type === 'Ready')?.lastHeartbeatTime
  return heartbeat === undefined ? 0 : parseTime(heartbeat) + statusReportMs
}

function withoutHeartbeats(conditions: readonly NodeCondition[] | undefined): readonly NodeCondition[] {
  return (conditions ?? []).map(({ lastHeartbeatTime: _, ...rest }) => rest)
}

/** Empty texts may or may not survive storage. */
function withoutEmpty(part: unknown): unknown {
  if (Array.isArray(part) && part.length === 0) return undefined
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== ''))
}
