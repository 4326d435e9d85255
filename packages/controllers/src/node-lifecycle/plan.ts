import { formatTime, type Node, type NodeStatus, nodes, type Pod, pods as podResource } from '@coracle/api'
import { type Action, type Condition, getCondition, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podKey } from '../pods/pod-key.ts'
import { hasEnded, isReady } from '../pods/pod-state.ts'
import { evictionTime } from './eviction.ts'
import { taintsFor } from './taints.ts'

/** What is known about a node. */
export interface ObservedNode {
  readonly node: Node
  /** Pods bound to it; looked at only where it is not ready or evicts. */
  readonly pods: readonly Pod[]
  /** Whether nothing has been heard of its agent for too long. */
  readonly isSilent: boolean
  /** Whether pods may be made to leave: not while no node at all is ready, since then it is likely we who are cut off. */
  readonly mayEvict: boolean
}

/**
 * Keeps what the API says about a node true when its agent no longer does (upstream: the node lifecycle and taint eviction
 * controllers): its conditions become Unknown, it is tainted, its pods count as not ready, and leave once they no longer
 * tolerate its taints. Pure.
 */
export function planNode({ node, pods, isSilent, mayEvict }: ObservedNode, nowMs: Time): Plan<NodeStatus> {
  const old: readonly Condition[] = node.status?.conditions ?? []
  const conditions = isSilent ? silencedTypes.reduce((list, type) => silence(node, list, type, nowMs), old) : old
  const taints = taintsFor(node, conditions, mayEvict, nowMs)
  const ready = getCondition(conditions, 'Ready')?.status
  const unready = ready === 'Unknown' ? pods.filter((pod) => isReady(pod) && !hasEnded(pod)) : []
  const due = pods
    .filter((pod) => pod.metadata.deletionTimestamp === undefined)
    .map((pod) => ({ pod, at: evictionTime(pod, taints ?? [], nowMs) }))
  const evicted = due.filter(({ at }) => at !== undefined && at <= nowMs).map(({ pod }) => pod)
  const nextMs = Math.min(
    ...due.map(({ at = Number.POSITIVE_INFINITY }) => (at > nowMs ? at : Number.POSITIVE_INFINITY)),
  )
  return {
    actions: [
      ...(ready === 'Unknown' && getCondition(old, 'Ready')?.status === 'True' ? [notReadyEvent(node)] : []),
      ...(taints === node.spec?.taints ? [] : [retaint(node, taints ?? [])]),
      ...unready.filter((pod) => !evicted.includes(pod)).map((pod) => markNotReady(pod, nowMs)),
      ...evicted.map((pod) => markDisrupted(pod, nowMs)),
      ...evicted.map(evict),
    ],
    ...(conditions === old ? {} : { status: { ...node.status, conditions } as NodeStatus }),
    ...(Number.isFinite(nextMs) ? { requeueAfterMs: nextMs - nowMs } : {}),
  }
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

const notReadyEvent = ({ metadata: { name = '' } }: Node): Action => ({
  type: 'event',
  eventType: 'Normal',
  reason: 'NodeNotReady',
  message: `Node ${name} status is now: NodeNotReady`,
  because: 'the node has stopped reporting',
})

function retaint({ metadata }: Node, taints: NonNullable<NonNullable<Node['spec']>['taints']>): Action {
  const { uid, resourceVersion, name = '' } = metadata
  const body = { metadata: { uid, resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } }
  const because = 'the conditions of the node have changed'
  return { type: 'patch', resource: nodes, key: { name }, patch: { type: 'merge', body }, because }
}

function markNotReady(pod: Pod, nowMs: Time): Action {
  const ready = getCondition(pod.status?.conditions, 'Ready')
  const conditions = setCondition(pod.status?.conditions, { ...ready, type: 'Ready', status: 'False' } as const, nowMs)
  return patchStatus(pod, conditions, 'nobody hears from the node any more')
}

function markDisrupted(pod: Pod, nowMs: Time): Action {
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  } as const
  return patchStatus(pod, setCondition(pod.status?.conditions, target, nowMs), evictionReason)
}

const evictionReason = 'the pod does not tolerate a taint of its node any longer'

function patchStatus(pod: Pod, conditions: readonly Condition[], because: string): Action {
  const { uid, resourceVersion } = pod.metadata
  const patch = { type: 'merge', body: { metadata: { uid, resourceVersion }, status: { conditions } } } as const
  return { type: 'patch', resource: podResource, key: podKey(pod), subresource: 'status', patch, because }
}

function evict(pod: Pod): Action {
  const uid = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }
  const { namespace = '', name = '' } = pod.metadata
  const message = `Marking for deletion Pod ${namespace}/${name}`
  return {
    type: 'delete',
    resource: podResource,
    key: podKey(pod),
    ...uid,
    because: evictionReason,
    events: { succeeded: { reason: 'TaintManagerEviction', message } },
  }
}
