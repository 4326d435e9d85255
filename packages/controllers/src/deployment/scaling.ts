import type { Deployment } from '@coracle/api'
import { desiredReplicasAnnotation, maxReplicasAnnotation } from './annotations.ts'
import { type Draft, isActive, resized } from './draft.ts'
import { desiredOf, isRollingUpdate, maxReplicas, unlimited } from './limits.ts'
import { byCreation } from './replica-sets.ts'
import { allSets, type Rollout, totalReplicas, withDrafts } from './rollout.ts'

/** Whether the deployment asks for another number of pods than when its ReplicaSets were last resized. */
export function isBeingScaled(deployment: Deployment, rollout: Rollout): boolean {
  return allSets(rollout)
    .filter(isActive)
    .some((draft) => {
      const noted = integerIn(draft, desiredReplicasAnnotation)
      return noted !== undefined && noted !== desiredOf(deployment)
    })
}

/**
 * The rollout at the deployment's size, without going on with it: a change of size must not hasten the replacement of pods
 * whose template may turn out to be bad. All ReplicaSets that have pods keep their share of the whole.
 */
export function scaledRollout(deployment: Deployment, rollout: Rollout): Rollout {
  const only = onlyActiveOrLatest(rollout)
  if (only !== undefined) return replacing(rollout, [resized(only, desiredOf(deployment), deployment)])
  const { newSet, oldSets } = rollout
  if (newSet !== undefined && isSaturated(deployment, newSet)) {
    return replacing(
      rollout,
      oldSets.filter(isActive).map((draft) => resized(draft, 0, deployment)),
    )
  }
  // Where all pods are recreated the sizes stay, but the new one is noted: else the deployment would be scaled for ever (upstream's
  // is), and its old ReplicaSets never emptied.
  return replacing(
    rollout,
    isRollingUpdate(deployment) ? inProportion(deployment, rollout) : ofSameSize(deployment, rollout),
  )
}

/** The one ReplicaSet that has pods, the newest where none has; undefined where several have. */
function onlyActiveOrLatest({ newSet, oldSets }: Rollout): Draft | undefined {
  const active = allSets({ newSet, oldSets }).filter(isActive)
  if (active.length > 0) return active.length === 1 ? active[0] : undefined
  return newSet ?? oldSets.at(-1)
}

/** Whether the new ReplicaSet is as large as the deployment and was made so by it, with all of its pods available. */
function isSaturated(deployment: Deployment, newSet: Draft): boolean {
  const desired = desiredOf(deployment)
  const noted = integerIn(newSet, desiredReplicasAnnotation)
  return newSet.replicas === desired && noted === desired && newSet.set.status?.availableReplicas === desired
}

const ofSameSize = (deployment: Deployment, rollout: Rollout): readonly Draft[] =>
  allSets(rollout)
    .filter(isActive)
    .map((draft) => resized(draft, draft.replicas, deployment))

/** What there may be more, or has to be less, spread over the ReplicaSets by their sizes; the largest gets what is left over. */
function inProportion(deployment: Deployment, rollout: Rollout): readonly Draft[] {
  const active = allSets(rollout).filter(isActive)
  const allowed = desiredOf(deployment) === 0 ? 0 : maxReplicas(deployment)
  const toAdd = allowed - totalReplicas(active)
  // Of the same size the newer grows first, and the older shrinks first.
  const sign = toAdd > 0 ? -1 : 1
  const inOrder = [...active].sort((a, b) => b.replicas - a.replicas || sign * byCreation(a.set, b.set))
  const shares: number[] = []
  let added = 0
  for (const draft of inOrder) {
    const share = toAdd === 0 ? 0 : limited(shareFor(deployment, draft), toAdd - added, toAdd)
    shares.push(share)
    added += share
  }
  return inOrder.map((draft, index) => {
    const leftOver = index === 0 ? toAdd - added : 0
    return resized(draft, Math.max(0, draft.replicas + (shares[index] ?? 0) + leftOver), deployment)
  })
}

/** Not beyond what is left to spread, whichever way it goes. */
function limited(share: number, left: number, toAdd: number): number {
  if (left === 0) return 0
  return toAdd > 0 ? Math.min(share, left) : Math.max(share, left)
}

/** By how much a ReplicaSet grows or shrinks when the whole does. */
function shareFor(deployment: Deployment, draft: Draft): number {
  if (desiredOf(deployment) === 0) return -draft.replicas
  // Where it does not say what its size is a share of, that is taken to be the present number of pods.
  const before = integerIn(draft, maxReplicasAnnotation) || (deployment.status?.replicas ?? 0)
  if (before === 0) return 0
  return roundHalfAway((draft.replicas * maxReplicas(deployment)) / before) - draft.replicas
}

const roundHalfAway = (value: number): number => Math.sign(value) * Math.floor(Math.abs(value) + 0.5)

function integerIn({ annotations }: Draft, name: string): number | undefined {
  const text = annotations[name]
  return text !== undefined && /^\d+$/.test(text) && Number(text) <= unlimited ? Number(text) : undefined
}

function replacing(rollout: Rollout, changed: readonly Draft[]): Rollout {
  const byName = new Map(changed.map((draft) => [draft.set.metadata.name, draft]))
  return withDrafts(rollout, (draft) => byName.get(draft.set.metadata.name) ?? draft)
}
