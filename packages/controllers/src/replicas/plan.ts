import { type KubernetesObject, type OwnerReference, type Pod, pods as podResource } from '@coracle/api'
import { type Action, controllerRef, type Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { byDeletionRank } from '../pods/deletion-ranking.ts'
import { podFromTemplate } from '../pods/pod-from-template.ts'
import { podKey } from '../pods/pod-key.ts'
import { type Candidates, claimPods } from './claims.ts'
import type { DesiredReplicas, ReplicasStatus } from './desired.ts'
import { countReplicas, statusOf } from './status.ts'

/** Pods made or deleted for one owner at a time, at most (upstream's BurstReplicas). The rest follows at once. */
export const burstMax = 500

/** What is known about an object that keeps a number of pods. */
export interface ObservedReplicas extends Candidates {
  readonly owner: KubernetesObject
  readonly desired: DesiredReplicas
  readonly status: ReplicasStatus | undefined
}

/**
 * Brings the number of pods to what is asked for: takes in matching pods that are nobody's, lets go of those that no longer
 * match, makes what is missing or deletes what is too much. Ended and ending pods do not count: they are replaced once, and
 * left to whoever cleans up after them. An owner that is being deleted only counts.
 */
export function planReplicas(observed: ObservedReplicas, nowMs: Time): Plan<ReplicasStatus> {
  const { owner, desired } = observed
  const { pods, adopted, released } = claimPods(owner, desired.selector, observed)
  const counts = countReplicas(pods, desired, nowMs)
  const actions: readonly Action[] = [
    ...released.map((pod) => release(owner, pod)),
    ...adopted.map((pod) => adopt(owner, pod)),
    ...(owner.metadata.deletionTimestamp === undefined ? resize(observed, pods, nowMs) : []),
  ]
  const requeue = counts.nextAvailableAt === undefined ? {} : { requeueAfterMs: counts.nextAvailableAt - nowMs }
  return { actions, status: statusOf(owner, counts, observed.status), ...requeue }
}

function resize(observed: ObservedReplicas, pods: readonly Pod[], nowMs: Time): readonly Action[] {
  const { owner, desired, related = [] } = observed
  const missing = desired.replicas - pods.length
  if (missing === 0) return []
  if (missing < 0) {
    const because = `${pods.length} replicas exist and ${desired.replicas} are wanted`
    // Where all go the order does not matter.
    const inOrder = -missing < pods.length ? byDeletionRank(pods, { related, nowMs }) : pods
    return inOrder.slice(0, Math.min(-missing, burstMax)).map((pod) => remove(pod, because))
  }
  if (desired.template === undefined) return []
  const create = creation(
    podFromTemplate(owner, desired.template),
    `${pods.length} of ${desired.replicas} replicas exist`,
  )
  return Array.from({ length: Math.min(missing, burstMax) }, () => create)
}

/** Every pod of a template is the same request: the server gives each its name. */
const creation = (pod: Pod, because: string): Action => ({
  type: 'create',
  resource: podResource,
  object: pod,
  because,
  events: {
    succeeded: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
    failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
  },
})

const remove = (pod: Pod, because: string): Action => ({
  type: 'delete',
  resource: podResource,
  key: podKey(pod),
  ...(pod.metadata.uid === undefined ? {} : { uid: pod.metadata.uid }),
  because,
  events: {
    succeeded: { reason: 'SuccessfulDelete', message: `Deleted pod: {name}` },
    failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
  },
})

const adopt = (owner: KubernetesObject, pod: Pod): Action => ({
  ...ownersPatch(pod, [...(pod.metadata.ownerReferences ?? []), controllerRef(owner)]),
  because: 'the pod matches the selector and is nobody’s',
})

const release = (owner: KubernetesObject, pod: Pod): Action => ({
  ...ownersPatch(pod, pod.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid) ?? []),
  because: 'the pod’s labels no longer match the selector',
})

/** A merge patch replaces the whole list, so it holds for the version it was made from only. */
function ownersPatch(
  pod: Pod,
  owners: readonly OwnerReference[],
): Omit<Action & { readonly type: 'patch' }, 'because'> {
  const { uid, resourceVersion } = pod.metadata
  const ownerReferences = owners.length === 0 ? null : owners
  const patch = { type: 'merge', body: { metadata: { uid, resourceVersion, ownerReferences } } } as const
  return { type: 'patch', resource: podResource, key: podKey(pod), patch }
}
