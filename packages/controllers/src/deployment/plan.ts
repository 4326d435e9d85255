import {
  type Deployment,
  type DeploymentStatus,
  deepEqual,
  type ReplicaSet,
  replicaSets,
  revisionAnnotation,
} from '@coracle/api'
import { type Action, adoption, type Plan, release } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import {
  type Conditions,
  progressDeadline,
  progressing,
  progressReasons,
  withCondition,
  withPausing,
} from './conditions.ts'
import { actionsFor, type Draft, draftOf, isActive, resized } from './draft.ts'
import { cleanUp } from './history.ts'
import { desiredOf, isRollingUpdate, progressDeadlineSeconds } from './limits.ts'
import { createdNewSet, newSetName, updatedNewSet } from './new-replica-set.ts'
import { byCreation, newReplicaSet } from './replica-sets.ts'
import { planRollback, rollbackRevision } from './rollback.ts'
import { rollingStep } from './rolling-update.ts'
import { allSets, type Rollout } from './rollout.ts'
import { isBeingScaled, scaledRollout } from './scaling.ts'
import { isComplete, rolloutStatus, statusOf } from './status.ts'

/** A deployment, and what belongs to it. */
export interface ObservedDeployment {
  readonly deployment: Deployment
  /** ReplicaSets that it controls and that match its selector. */
  readonly replicaSets: readonly ReplicaSet[]
  /** ReplicaSets that match and are nobody's. */
  readonly orphans: readonly ReplicaSet[]
  /** ReplicaSets that it controls and that no longer match. */
  readonly mismatched: readonly ReplicaSet[]
  /** Whether a pod of this ReplicaSet may still run. */
  hasPods(set: ReplicaSet): boolean
  /** Whether there is a ReplicaSet of this name, whoever's it is. */
  isNameTaken(name: string): boolean
}

/**
 * Takes a deployment one step further: a ReplicaSet for its present template, grown while the old ones shrink
 * (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/; the rules are upstream's). Pure.
 */
export function planDeployment(observed: ObservedDeployment, nowMs: Time): Plan<DeploymentStatus> {
  const { deployment } = observed
  const said: Conditions = deployment.status?.conditions ?? []
  if (selectsAll(deployment)) return planNothing(deployment)
  if (deployment.metadata.deletionTimestamp !== undefined) {
    return { actions: [], status: statusOf(deployment, rolloutOf(observed), said, nowMs) }
  }
  const claims = claimActions(observed)
  if (claims.length > 0) return { actions: claims }
  const conditions = withPausing(deployment, said, nowMs)
  if (deployment.spec.paused !== true && rollbackRevision(deployment) !== undefined) {
    return { actions: planRollback(deployment, observed.replicaSets) }
  }
  const rollout = updatedRollout(deployment, rolloutOf(observed))
  if (deployment.spec.paused === true || isBeingScaled(deployment, rollout)) {
    return planScaling(deployment, rollout, conditions, nowMs)
  }
  return isRollingUpdate(deployment)
    ? planRollingUpdate(observed, rollout, conditions, nowMs)
    : planRecreate(observed, rollout, conditions, nowMs)
}

/** Whether nothing follows from the status of a plan: it counts what is there. With the next hash another ReplicaSet is made. */
export const isSettled = ({ status }: Deployment, plan: Plan<DeploymentStatus>): boolean =>
  plan.actions.length === 0 && plan.status?.collisionCount === status?.collisionCount

/** The status of a deployment whose ReplicaSet could not be made. */
export function createFailureStatus(deployment: Deployment, error: string, nowMs: Time): DeploymentStatus | undefined {
  if (progressDeadlineSeconds(deployment) === undefined) return undefined
  const message = `Failed to create new replica set "${newSetName(deployment)}": ${error}`
  const statement = progressing('False', progressReasons.createFailed, message)
  return { ...deployment.status, conditions: withCondition(deployment.status?.conditions ?? [], statement, nowMs) }
}

function selectsAll({ spec: { selector } }: Deployment): boolean {
  return deepEqual(selector, {})
}

function planNothing({ metadata, status }: Deployment): Plan<DeploymentStatus> {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.'
  return {
    actions: [{ type: 'event', eventType: 'Warning', reason: 'SelectingAll', message, because: message }],
    status: { ...status, observedGeneration: metadata.generation },
  }
}

/** Whose ReplicaSets are whose is settled first: only then is there something to count. */
function claimActions({ deployment, orphans, mismatched }: ObservedDeployment): readonly Action[] {
  return [
    ...mismatched.map((set) =>
      release(replicaSets, deployment, set, 'the labels of the ReplicaSet no longer match the selector'),
    ),
    ...orphans.map((set) =>
      adoption(replicaSets, deployment, set, 'the ReplicaSet matches the selector and is nobody’s'),
    ),
  ]
}

function rolloutOf({ deployment, replicaSets: sets }: ObservedDeployment): Rollout {
  const newest = newReplicaSet(deployment, sets)
  return {
    newSet: newest === undefined ? undefined : draftOf(newest),
    // In an order that does not depend on when which of them was heard of.
    oldSets: sets
      .filter((set) => set !== newest)
      .toSorted(byCreation)
      .map((set) => draftOf(set)),
  }
}

function updatedRollout(deployment: Deployment, { newSet, oldSets }: Rollout): Rollout {
  const old = oldSets.map(({ set }) => set)
  return { newSet: newSet === undefined ? undefined : updatedNewSet(deployment, newSet.set, old), oldSets }
}

/** A paused deployment, or one that asks for another number of pods: only sizes change. */
function planScaling(
  deployment: Deployment,
  rollout: Rollout,
  conditions: Conditions,
  nowMs: Time,
): Plan<DeploymentStatus> {
  const scaled = scaledRollout(deployment, rollout)
  const found = withFound(deployment, scaled, conditions, nowMs)
  const because = deployment.spec.paused === true ? 'the deployment is paused' : 'the deployment has been scaled'
  const isAtRest = deployment.spec.paused === true && rollbackRevision(deployment) === undefined
  const cleaned = isAtRest ? cleanUp(deployment, scaled) : []
  return {
    actions: [...draftActions(scaled, because), ...cleaned],
    status: statusOf(deployment, scaled, found, nowMs),
    ...revisionOfDeployment(scaled),
  }
}

function planRollingUpdate(
  observed: ObservedDeployment,
  rollout: Rollout,
  conditions: Conditions,
  nowMs: Time,
): Plan<DeploymentStatus> {
  const { deployment } = observed
  const begun = withNewSet(observed, rollout)
  if (begun === undefined) return planCollision(deployment, conditions)
  return planStep(deployment, rollingStep(deployment, begun), conditions, nowMs)
}

/** All old pods go, and only when the last of them has ended the first new one comes. */
function planRecreate(
  observed: ObservedDeployment,
  rollout: Rollout,
  conditions: Conditions,
  nowMs: Time,
): Plan<DeploymentStatus> {
  const { deployment, hasPods } = observed
  const { newSet, oldSets } = rollout
  if (oldSets.some(isActive)) {
    const emptied = oldSets.map((draft) => (isActive(draft) ? resized(draft, 0, deployment) : draft))
    return planStep(deployment, { newSet, oldSets: emptied }, conditions, nowMs)
  }
  if (oldSets.some(({ set }) => (set.status?.replicas ?? 0) > 0 || hasPods(set))) {
    return planStep(deployment, rollout, conditions, nowMs)
  }
  const begun = withNewSet(observed, rollout)
  if (begun === undefined) return planCollision(deployment, conditions)
  const desired = desiredOf(deployment)
  const grown = begun.newSet.replicas === desired ? begun.newSet : resized(begun.newSet, desired, deployment)
  return planStep(deployment, { newSet: grown, oldSets }, conditions, nowMs)
}

/** The rollout with a ReplicaSet for the present template; undefined where its name is taken by another. */
function withNewSet(
  { deployment, isNameTaken }: ObservedDeployment,
  { newSet, oldSets }: Rollout,
): (Rollout & { readonly newSet: Draft }) | undefined {
  if (newSet !== undefined) return { newSet, oldSets }
  if (isNameTaken(newSetName(deployment))) return undefined
  return { newSet: createdNewSet(deployment, oldSets), oldSets }
}

/** Another template has the same hash: the next attempt makes another one of it. */
function planCollision(deployment: Deployment, conditions: Conditions): Plan<DeploymentStatus> {
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
  return { actions: [], status: { ...deployment.status, conditions, collisionCount } }
}

function planStep(
  deployment: Deployment,
  rollout: Rollout,
  conditions: Conditions,
  nowMs: Time,
): Plan<DeploymentStatus> {
  const found = withFound(deployment, rollout, conditions, nowMs)
  const status = rolloutStatus(deployment, rollout, found, nowMs)
  const isDone = isComplete(deployment, status)
  const deadline = isDone ? undefined : progressDeadline(deployment, status.conditions ?? [])
  return {
    actions: [
      ...draftActions(rollout, 'the deployment is being rolled out'),
      ...(isDone ? cleanUp(deployment, rollout) : []),
    ],
    status,
    ...revisionOfDeployment(rollout),
    // A second more, since times of the API are whole seconds.
    ...(deadline === undefined ? {} : { requeueAfterMs: Math.max(0, deadline - nowMs) + 1000 }),
  }
}

/** Says that the present template has got its ReplicaSet, or had one already. */
function withFound(deployment: Deployment, { newSet }: Rollout, conditions: Conditions, nowMs: Time): Conditions {
  if (newSet === undefined || progressDeadlineSeconds(deployment) === undefined) return conditions
  const { name } = newSet.set.metadata
  if (newSet.isNew) {
    const message = `Created new replica set "${name}"`
    return withCondition(conditions, progressing('True', progressReasons.created, message), nowMs)
  }
  if (conditions.some(({ type }) => type === 'Progressing')) return conditions
  const message = `Found new replica set "${name}"`
  return withCondition(conditions, progressing('True', progressReasons.found, message), nowMs)
}

function draftActions(rollout: Rollout, because: string): readonly Action[] {
  return allSets(rollout).flatMap((draft) => actionsFor(draft, because))
}

/** A deployment shows the revision of its present template. */
function revisionOfDeployment({ newSet }: Rollout): Pick<Plan<DeploymentStatus>, 'annotations'> {
  const revision = newSet?.annotations[revisionAnnotation]
  return revision === undefined ? {} : { annotations: { [revisionAnnotation]: revision } }
}
