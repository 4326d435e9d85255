import { formatTime, type Node, type NodeStatus, nodes, type Pod, pods as podResource, type Taint } from '@coracle/api'
import { type Action, type Condition, getCondition, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { byName } from '../pods/by-name.ts'
import { podKey } from '../pods/pod-key.ts'
import { hasEnded, isReady, timeOf } from '../pods/pod-state.ts'
import { departureIntervalMs } from './departures.ts'
import { evictionTime } from './eviction.ts'
import { missingFormerLabels } from './former-labels.ts'
import { type EvictionTaint, taintsFor } from './taints.ts'

/** What is known about a node. */
export interface ObservedNode {
  readonly node: Node
  /** Pods bound to it; looked at only where it is not ready or evicts. */
  readonly pods: readonly Pod[]
  /** Whether nothing has been heard of its agent for too long. */
  readonly isSilent: boolean
  /** Whether its pods may be made to leave, should it not be ready. */
  readonly eviction: EvictionTaint
  /** Whether it is seen for the first time. */
  readonly isNew: boolean
  /** When pods were to leave, by UID, as of the last plan. That time stays, whatever else comes to be tolerated. */
  readonly awaited: ReadonlyMap<string, Time>
  /** How many of its pods may be made to leave now. */
  readonly departuresMax: number
}

/** What to do about a node, and which of its pods will have to leave later. */
export interface NodePlan extends Plan<NodeStatus> {
  readonly awaited: ReadonlyMap<string, Time>
  /** How many pods it makes leave. */
  readonly departures: number
}

/**
 * Keeps what the API says about a node true when its agent no longer does (upstream: the node lifecycle and taint eviction
 * controllers): its conditions become Unknown, it is tainted, its pods count as not ready, and leave once they no longer
 * tolerate its taints. Pure.
 */
export function planNode(observed: ObservedNode, nowMs: Time): NodePlan {
  const { node, pods, isSilent, eviction, isNew, awaited, departuresMax } = observed
  const old: readonly Condition[] = node.status?.conditions ?? []
  const conditions = isSilent ? silencedTypes.reduce((list, type) => silence(node, list, type, nowMs), old) : old
  const taints = taintsFor(node, conditions, eviction, nowMs)
  const ready = getCondition(conditions, 'Ready')?.status
  const unready = ready === 'Unknown' ? pods.filter((pod) => isReady(pod) && !hasEnded(pod)) : []
  const due = pods
    .filter((pod) => pod.metadata.deletionTimestamp === undefined)
    .toSorted(byAge)
    .map((pod) => ({ pod, at: sooner(evictionTime(pod, taints ?? [], nowMs), awaited.get(pod.metadata.uid ?? '')) }))
  const leaving = due.filter(({ at }) => at !== undefined && at <= nowMs)
  const evicted = leaving.slice(0, departuresMax).map(({ pod }) => pod)
  const held = leaving.slice(departuresMax)
  const spared = due.filter(({ pod, at }) => at === undefined && awaited.has(pod.metadata.uid ?? ''))
  // What was to leave later has to leave now: that it need not leave later is told first, as upstream does.
  const hurried = evicted.filter((pod) => (awaited.get(pod.metadata.uid ?? '') ?? nowMs) > nowMs)
  const later = due.filter(({ at }) => at !== undefined && at > nowMs)
  const afterHeld = held.length === 0 ? Number.POSITIVE_INFINITY : nowMs + departureIntervalMs
  const nextMs = later.reduce((next, { at = next }) => Math.min(next, at), afterHeld)
  return {
    actions: [
      ...(isNew ? [registeredEvent(node)] : []),
      ...(ready === 'Unknown' && getCondition(old, 'Ready')?.status === 'True' ? [notReadyEvent(node)] : []),
      ...change(node, taints),
      ...unready.filter((pod) => !evicted.includes(pod)).map((pod) => markNotReady(pod, nowMs)),
      ...unready.map(podNotReadyEvent),
      ...[...spared.map(({ pod }) => pod), ...hurried].map(cancelledEvent),
      ...evicted.map((pod) => markDisrupted(pod, nowMs)),
      ...evicted.map(evictionEvent),
      ...evicted.map(evict),
    ],
    awaited: new Map([...held, ...later].map(({ pod, at = nowMs }) => [pod.metadata.uid ?? '', at])),
    departures: evicted.length,
    ...(conditions === old ? {} : { status: { ...node.status, conditions } as NodeStatus }),
    ...(Number.isFinite(nextMs) ? { requeueAfterMs: nextMs - nowMs } : {}),
  }
}

/** A pod that need not leave is not awaited any more. */
const sooner = (at: Time | undefined, awaited: Time | undefined): Time | undefined =>
  at === undefined ? undefined : Math.min(at, awaited ?? at)

/** Older pods first: those that come again as soon as they are gone keep nobody waiting. */
function byAge(a: Pod, b: Pod): number {
  return (timeOf(a.metadata.creationTimestamp) ?? 0) - (timeOf(b.metadata.creationTimestamp) ?? 0) || byName(a, b)
}

/** What the agent of a node reports. NetworkUnavailable is others' to say. */
const silencedTypes = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'] as const

function silence(node: Node, conditions: readonly Condition[], type: string, nowMs: Time): readonly Condition[] {
  const said = getCondition(conditions, type)
  if (said?.status === 'Unknown') return conditions
  if (said !== undefined) {
    const message = 'Kubelet stopped posting node status.'
    return setCondition(conditions, { ...said, status: 'Unknown', reason: 'NodeStatusUnknown', message }, nowMs)
  }
  const never = {
    type,
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
  }
  const lastHeartbeatTime = node.metadata.creationTimestamp
  return [...conditions, { ...never, lastHeartbeatTime, lastTransitionTime: formatTime(nowMs) } as Condition]
}

const registeredEvent = ({ metadata: { name = '' } }: Node): Action => ({
  type: 'event',
  eventType: 'Normal',
  reason: 'RegisteredNode',
  message: `Node ${name} event: Registered Node ${name} in Controller`,
  because: 'the node is new here',
})

const notReadyEvent = ({ metadata: { name = '' } }: Node): Action => ({
  type: 'event',
  eventType: 'Normal',
  reason: 'NodeNotReady',
  message: `Node ${name} status is now: NodeNotReady`,
  because: 'the node has stopped reporting',
})

const podNotReadyEvent = (pod: Pod): Action => ({
  type: 'event',
  about: pod,
  eventType: 'Warning',
  reason: 'NodeNotReady',
  message: 'Node is not ready',
  because: lostReason,
})

const evictionEvent = (pod: Pod): Action => taintEvent(pod, 'Marking for deletion', evictionReason)

const cancelledEvent = (pod: Pod): Action =>
  taintEvent(pod, 'Cancelling deletion of', 'the pod need not leave its node any longer')

function taintEvent(pod: Pod, what: string, because: string): Action {
  const { namespace = '', name = '' } = pod.metadata
  const message = `${what} Pod ${namespace}/${name}`
  const reason = 'TaintManagerEviction'
  return { type: 'event', about: pod, eventType: 'Normal', reason, message, component: evictionComponent, because }
}

/** Upstream has a controller of its own for this since 1.29. */
const evictionComponent = 'taint-eviction-controller'

const lostReason = 'nobody hears from the node any more'

/** Gives the node these taints, and its labels under their former names. */
function change(node: Node, taints: readonly Taint[] | undefined): readonly Action[] {
  const labels = missingFormerLabels(node)
  const isRelabelled = Object.keys(labels).length > 0
  const isRetainted = taints !== node.spec?.taints
  if (!isRelabelled && !isRetainted) return []
  const { uid, resourceVersion, name = '' } = node.metadata
  const body = {
    metadata: { uid, resourceVersion, ...(isRelabelled ? { labels } : {}) },
    ...(isRetainted ? { spec: { taints: taints === undefined || taints.length === 0 ? null : taints } } : {}),
  }
  const because = isRetainted
    ? 'the conditions of the node have changed'
    : 'the node lacks labels under their former names'
  return [{ type: 'patch', resource: nodes, key: { name }, patch: { type: 'merge', body }, because }]
}

function markNotReady(pod: Pod, nowMs: Time): Action {
  const ready = getCondition(pod.status?.conditions, 'Ready')
  const observedGeneration = pod.metadata.generation
  const wanted = { ...ready, type: 'Ready', status: 'False', observedGeneration } as const
  return patchCondition(pod, wanted, nowMs, lostReason)
}

function markDisrupted(pod: Pod, nowMs: Time): Action {
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    observedGeneration: pod.metadata.generation,
  } as const
  return patchCondition(pod, target, nowMs, evictionReason)
}

const evictionReason = 'the pod does not tolerate a taint of its node any longer'

/** Says one condition, whatever else was said of the pod meanwhile: one that is just starting keeps no other on the node. */
function patchCondition(pod: Pod, wanted: Condition, nowMs: Time, because: string): Action {
  const condition = getCondition(setCondition(pod.status?.conditions, wanted, nowMs), wanted.type)
  const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } }
  const patch = { type: 'strategic', body } as const
  return { type: 'patch', resource: podResource, key: podKey(pod), subresource: 'status', patch, because }
}

function evict(pod: Pod): Action {
  const uid = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }
  return { type: 'delete', resource: podResource, key: podKey(pod), ...uid, because: evictionReason }
}
