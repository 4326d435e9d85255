import type { ControllerRevision, StatefulSet, StatefulSetStatus } from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { claimActions } from '../revisions/claims.ts'
import { type History, historyOf, trimHistory } from '../revisions/history.ts'
import { isEmptySelector } from '../selector-of.ts'
import { healthAt } from './health.ts'
import { membersOf } from './members.ts'
import type { ObservedStatefulSet } from './observed.ts'
import { nextAvailableAt, statusOf } from './status.ts'
import { nextSteps } from './steps.ts'
import { revisionOf, type Versions, versionsOf } from './versions.ts'

/** The label of a revision that carries its hash. */
export const hashLabel = 'controller.kubernetes.io/hash'

/**
 * Takes a stateful set one step further: numbered pods, each with its name and its claims, which come, change and go in order
 * (https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/; the rules are upstream's). Pure.
 */
export function planStatefulSet(observed: ObservedStatefulSet, nowMs: Time): Plan<StatefulSetStatus> {
  const { set, pods, claim } = observed
  const isGoing = set.metadata.deletionTimestamp !== undefined
  if (isEmptySelector(set.spec.selector)) return { actions: [] }
  const claims = isGoing ? [] : claimActions(set, observed)
  if (claims.length > 0) return { actions: claims }
  const history = historyOf(set, observed.revisions, observed.isRevisionNameTaken, hashLabel)
  if (history.isNameTaken) return { actions: [], status: collided(set) }
  const current = currentOf(set, history)
  const trim = isGoing ? [] : trimmed(observed, history, current)
  const upkeep = isGoing ? [] : [...history.actions, ...trim]
  const versions = versionsOrProblem(set, current, history.present)
  // Upstream keeps its revisions in order all the same, and does nothing else until that one is repaired or gone.
  if (versions instanceof Error) {
    if (upkeep.length === 0) throw versions
    return { actions: upkeep }
  }
  const health = healthAt(nowMs, set.spec.minReadySeconds)
  if (isGoing) return { actions: [], status: statusOf(set, versions, pods, health) }
  const { actions, outdated } = nextSteps({ set, versions, members: membersOf(set, pods), health, claim })
  const next = nextAvailableAt(set, pods, nowMs)
  return {
    actions: [...history.actions, ...actions, ...trim],
    status: statusOf(set, versions, pods, health, outdated),
    // A status names revisions: none that could not be made.
    ...(history.actions.length === 0 ? {} : { isStatusOfSuccess: true }),
    ...(next === undefined ? {} : { requeueAfterMs: next - nowMs }),
  }
}

/** The template that pods last agreed on is known by its revision's name; where that is gone, it is the wanted one. */
const currentOf = ({ status }: StatefulSet, { present, past }: History): ControllerRevision =>
  past.find(({ metadata }) => metadata.name === status?.currentRevision) ?? present

function versionsOrProblem(
  set: StatefulSet,
  current: ControllerRevision,
  update: ControllerRevision,
): Versions | Error {
  try {
    return versionsOf(set, current, update)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Another name is tried for the revision next time. */
function collided({ status }: StatefulSet): StatefulSetStatus {
  return { replicas: 0, ...status, collisionCount: (status?.collisionCount ?? 0) + 1 }
}

function trimmed(
  { set, pods }: ObservedStatefulSet,
  { past }: History,
  current: ControllerRevision,
): readonly Action[] {
  const inUse = new Set([current.metadata.name, ...pods.map(revisionOf)])
  const unused = past.filter(({ metadata }) => !inUse.has(metadata.name))
  return trimHistory(unused, set.spec.revisionHistoryLimit ?? 10, () => false)
}
