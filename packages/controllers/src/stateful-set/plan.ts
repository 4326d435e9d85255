import type { StatefulSet, StatefulSetStatus } from '@coracle/api'
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
import { revisionOf, type Versions } from './versions.ts'

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
  const versions = versionsOf(set, history)
  const health = healthAt(nowMs, set.spec.minReadySeconds)
  if (isGoing) return { actions: [], status: statusOf(set, versions, pods, health) }
  const { actions, outdated } = nextSteps({ set, versions, members: membersOf(set, pods), health, claim })
  const next = nextAvailableAt(set, pods, nowMs)
  return {
    actions: [...history.actions, ...actions, ...trimmed(observed, history, versions)],
    status: statusOf(set, versions, pods, health, outdated),
    // A status names revisions: none that could not be made.
    ...(history.actions.length === 0 ? {} : { isStatusOfSuccess: true }),
    ...(next === undefined ? {} : { requeueAfterMs: next - nowMs }),
  }
}

/** The template that pods last agreed on is known by its revision's name; where that is gone, it is the wanted one. */
function versionsOf(set: StatefulSet, { present, past }: History): Versions {
  const current = past.find(({ metadata }) => metadata.name === set.status?.currentRevision)
  return { current: current ?? present, update: present }
}

/** Another name is tried for the revision next time. */
function collided({ status }: StatefulSet): StatefulSetStatus {
  return { replicas: 0, ...status, collisionCount: (status?.collisionCount ?? 0) + 1 }
}

function trimmed({ set, pods }: ObservedStatefulSet, { past }: History, { current }: Versions): readonly Action[] {
  const inUse = new Set([current.metadata.name, ...pods.map(revisionOf)])
  const unused = past.filter(({ metadata }) => !inUse.has(metadata.name))
  return trimHistory(unused, set.spec.revisionHistoryLimit ?? 10, () => false)
}
