import type { Deployment } from '@coracle/api'
import { availableIn, type Draft, isActive, resized } from './draft.ts'
import { desiredOf, minAvailable } from './limits.ts'
import { newSetSize } from './new-replica-set.ts'
import { allSets, type Rollout, totalReplicas } from './rollout.ts'

/**
 * The next step of a rolling update: the new ReplicaSet grows as far as the surge allows; if it cannot, the old ones shrink as
 * far as enough pods stay available.
 */
export function rollingStep(deployment: Deployment, rollout: Rollout & { readonly newSet: Draft }): Rollout {
  const grown = withNewSetResized(deployment, rollout)
  return grown.newSet.replicas === rollout.newSet.replicas ? withOldSetsShrunk(deployment, rollout) : grown
}

function withNewSetResized(
  deployment: Deployment,
  { newSet, oldSets }: Rollout & { readonly newSet: Draft },
): Rollout & { readonly newSet: Draft } {
  const desired = desiredOf(deployment)
  const size = newSet.replicas > desired ? desired : newSetSize(deployment, newSet.replicas, oldSets)
  return { newSet: size === newSet.replicas ? newSet : resized(newSet, size, deployment), oldSets }
}

function withOldSetsShrunk(deployment: Deployment, rollout: Rollout & { readonly newSet: Draft }): Rollout {
  const { newSet, oldSets } = rollout
  if (!oldSets.some(isActive)) return rollout
  // New pods that are not available yet are not to be counted on, and the surge has been used for them.
  const newUnavailable = newSet.replicas - availableIn(newSet)
  const removable = totalReplicas(allSets(rollout)) - minAvailable(deployment) - newUnavailable
  if (removable <= 0) return rollout
  // Old pods that are not available are no loss, and would only stand in the way of the rollout.
  const cleaned = shrunk(deployment, oldSets, removable, (draft) => draft.replicas - availableIn(draft))
  const available = allSets({ newSet, oldSets: cleaned }).reduce((sum, draft) => sum + availableIn(draft), 0)
  const spare = available - minAvailable(deployment)
  return { newSet, oldSets: shrunk(deployment, cleaned, spare, ({ replicas }) => replicas) }
}

/** Takes up to `count` replicas from ReplicaSets in their order, and from each at most what `removable` says. */
function shrunk(
  deployment: Deployment,
  drafts: readonly Draft[],
  count: number,
  removable: (draft: Draft) => number,
): readonly Draft[] {
  let left = count
  return drafts.map((draft) => {
    const taken = Math.min(left, removable(draft))
    if (taken <= 0) return draft
    left -= taken
    return resized(draft, draft.replicas - taken, deployment)
  })
}
