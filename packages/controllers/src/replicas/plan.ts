import { type KubernetesObject, type Pod, pods as podResource } from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podClaimActions } from '../pods/claims.ts'
import { byDeletionRank } from '../pods/deletion-ranking.ts'
import { podFromTemplate } from '../pods/pod-from-template.ts'
import { podKey } from '../pods/pod-key.ts'
import { isActive } from '../pods/pod-state.ts'
import type { DesiredReplicas, ReplicasStatus } from './desired.ts'
import type { ObservedOwner } from './observed-pods.ts'
import { statusOf } from './status.ts'
import { countingRule, type ReplicaCounts, ReplicaTally } from './tally.ts'

/** Pods made or deleted for one owner at a time, at most (upstream's BurstReplicas). The rest follows at once. */
export const burstMax = 500

/** What is known about an object that keeps a number of pods. */
export interface ObservedReplicas extends ObservedOwner<KubernetesObject> {
  readonly desired: DesiredReplicas
  readonly status: ReplicasStatus | undefined
}

/**
 * Brings the number of pods to what is asked for: takes in matching pods that are nobody's, lets go of those that no longer
 * match, makes what is missing or deletes what is too much (upstream: ControllerRefManager, manageReplicas). The selector is
 * the bond. Ended and ending pods do not count: they are replaced once, and left to whoever cleans up after them. An owner
 * that is being deleted only counts: the garbage collector takes and gives away its pods.
 */
export function planReplicas(observed: ObservedReplicas, nowMs: Time): Plan<ReplicasStatus> {
  const { owner, desired, mismatched, orphans } = observed
  if (owner.metadata.deletionTimestamp !== undefined) return planned(observed, [], observed.counts, nowMs)
  const counts = withAdopted(observed.counts, orphans, desired, nowMs)
  const actions: readonly Action[] = [
    ...podClaimActions(owner, { orphans, mismatched }),
    ...resize(observed, counts.replicas, nowMs),
  ]
  return planned(observed, actions, counts, nowMs)
}

function planned(
  { owner, status }: ObservedReplicas,
  actions: readonly Action[],
  counts: ReplicaCounts,
  nowMs: Time,
): Plan<ReplicasStatus> {
  const requeue = counts.nextAvailableAt === undefined ? {} : { requeueAfterMs: counts.nextAvailableAt - nowMs }
  return { actions, status: statusOf(owner, counts, status), ...requeue }
}

function withAdopted(
  counts: ReplicaCounts,
  adopted: readonly Pod[],
  desired: DesiredReplicas,
  nowMs: Time,
): ReplicaCounts {
  if (adopted.length === 0) return counts
  const more = new ReplicaTally(countingRule(desired), adopted).counts(nowMs)
  const next = Math.min(counts.nextAvailableAt ?? Infinity, more.nextAvailableAt ?? Infinity)
  return {
    replicas: counts.replicas + more.replicas,
    fullyLabeled: counts.fullyLabeled + more.fullyLabeled,
    ready: counts.ready + more.ready,
    available: counts.available + more.available,
    terminating: counts.terminating,
    nextAvailableAt: Number.isFinite(next) ? next : undefined,
  }
}

function resize(observed: ObservedReplicas, replicas: number, nowMs: Time): readonly Action[] {
  const { owner, desired, orphans } = observed
  const missing = desired.replicas - replicas
  if (missing === 0) return []
  if (missing < 0) {
    const because = `${replicas} replicas exist and ${desired.replicas} are wanted`
    const own = observed.controlled().filter((pod) => isActive(pod) && desired.selector.matches(pod.metadata.labels))
    const pods = [...own, ...orphans]
    // Where all go the order does not matter.
    const inOrder = desired.replicas > 0 ? byDeletionRank(pods, { related: observed.related(), nowMs }) : pods
    return inOrder.slice(0, Math.min(-missing, burstMax)).map((pod) => remove(pod, because))
  }
  if (desired.template === undefined) return []
  const create = creation(podFromTemplate(owner, desired.template), `${replicas} of ${desired.replicas} replicas exist`)
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
