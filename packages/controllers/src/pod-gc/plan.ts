import { type Pod, type PodCondition, type PodStatus, pods as podResource } from '@coracle/api'
import { type Action, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podKey } from '../pods/pod-key.ts'
import { hasEnded, timeOf } from '../pods/pod-state.ts'

/** Pods that have ended and are kept, at most (upstream's terminated-pod-gc-threshold). */
export const endedPodsMax = 12_500

/** Ends a pod whose node is gone: nobody is left who would say how it is, or confirm that it has stopped. Pure. */
export function planOrphanedPod(pod: Pod, nowMs: Time): Plan<PodStatus> {
  const because = `node ${pod.spec.nodeName ?? ''} no longer exists`
  const failed = hasEnded(pod) ? [] : [fail(pod, because, nowMs)]
  return { actions: [...failed, remove(pod, because)] }
}

/** Deletes without grace a pod that nobody will end: the node is out of service, or there never was one. Pure. */
export function planAbandonedPod(pod: Pod, because: string): Plan<PodStatus> {
  const failed = hasEnded(pod) ? [] : [patchStatus(pod, { phase: 'Failed' }, because)]
  return { actions: [...failed, remove(pod, because)] }
}

/** Deletes one of too many pods that have ended. Pure. */
export function planEndedPod(pod: Pod): Plan<PodStatus> {
  return { actions: [remove(pod, `more than ${endedPodsMax} pods have ended`)] }
}

/** Of pods that have ended those that are too many: evicted ones first, then the oldest. */
export function excessEndedPods(ended: readonly Pod[], max: number = endedPodsMax): readonly Pod[] {
  if (ended.length <= max) return []
  return [...ended].sort(compareEnded).slice(0, ended.length - max)
}

function compareEnded(a: Pod, b: Pod): number {
  if (isEvicted(a) !== isEvicted(b)) return isEvicted(a) ? -1 : 1
  const difference = (timeOf(a.metadata.creationTimestamp) ?? 0) - (timeOf(b.metadata.creationTimestamp) ?? 0)
  if (difference !== 0) return difference
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}

const isEvicted = ({ status }: Pod): boolean => status?.phase === 'Failed' && status.reason === 'Evicted'

function fail(pod: Pod, because: string, nowMs: Time): Action {
  const target: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    observedGeneration: pod.metadata.generation,
  }
  const conditions = setCondition(pod.status?.conditions, target, nowMs)
  return patchStatus(pod, { phase: 'Failed', conditions }, because)
}

function patchStatus(pod: Pod, changed: Partial<PodStatus>, because: string): Action {
  const { uid, resourceVersion, generation } = pod.metadata
  const status = { ...changed, ...(generation === undefined ? {} : { observedGeneration: generation }) }
  const patch = { type: 'merge', body: { metadata: { uid, resourceVersion }, status } } as const
  return { type: 'patch', resource: podResource, key: podKey(pod), subresource: 'status', patch, because }
}

function remove(pod: Pod, because: string): Action {
  const uid = pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }
  return { type: 'delete', resource: podResource, key: podKey(pod), ...uid, gracePeriodSeconds: 0, because }
}
