import type { DaemonSet, DaemonSetStatus, Pod } from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { hasEnded, timeOf } from '../pods/pod-state.ts'
import { claimActions } from '../revisions/claims.ts'
import { type History, historyOf, trimHistory } from '../revisions/history.ts'
import { isPresent, revisionHash, revisionHashLabel } from '../revisions/revision.ts'
import { isEmptySelector } from '../selector-of.ts'
import { type Coverage, coverNodes } from './coverage.ts'
import { nodeOf, type RevisionHashes } from './daemon-pod.ts'
import { isRollingUpdate } from './limits.ts'
import type { ObservedDaemonSet, PodsByNode } from './observed.ts'
import { rollForward } from './rolling-update.ts'
import { statusOf } from './status.ts'

/** What to do about a daemon set. */
export interface DaemonSetPlan extends Plan<DaemonSetStatus> {
  /** Nodes whose failed pod is removed: the next one that fails there is left alone for longer. */
  readonly failedOn: readonly string[]
}

/**
 * Gives every node that fits its pod, and takes former templates' pods off the nodes few at a time
 * (https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/; the rules are upstream's). Pure.
 */
export function planDaemonSet(observed: ObservedDaemonSet, nowMs: Time): DaemonSetPlan {
  const { daemonSet } = observed
  if (isEmptySelector(daemonSet.spec.selector)) return selectingAll
  if (daemonSet.metadata.deletionTimestamp !== undefined) return nothingToDo
  const claims = claimActions(daemonSet, observed)
  if (claims.length > 0) return { ...nothingToDo, actions: claims }
  const history = historyOf(daemonSet, observed.revisions, observed.isRevisionNameTaken)
  if (history.isNameTaken) return { ...nothingToDo, status: collided(daemonSet) }
  const hashes = hashesOf(daemonSet, history)
  const podsByNode = byNode(observed.pods)
  const coverage = coverNodes(observed, podsByNode, hashes.present, nowMs)
  const { status, nextAvailableAt } = statusOf(observed, podsByNode, hashes, nowMs)
  return {
    actions: [
      ...history.actions,
      ...podActions(observed, podsByNode, coverage, hashes, nowMs),
      ...trimmed(observed, history),
    ],
    status,
    failedOn: coverage.failedOn,
    ...requeue(coverage.requeueAfterMs, nextAvailableAt === undefined ? undefined : nextAvailableAt - nowMs),
  }
}

const nothingToDo: DaemonSetPlan = { actions: [], failedOn: [] }

const selectingAll: DaemonSetPlan = {
  ...nothingToDo,
  actions: [
    {
      type: 'event',
      eventType: 'Warning',
      reason: 'SelectingAll',
      message: 'This daemon set is selecting all pods. A non-empty selector is required.',
      because: 'the selector is empty',
    },
  ],
}

function hashesOf(daemonSet: DaemonSet, { present, past }: History): RevisionHashes {
  // A template may be kept twice, where two revisions of it were made or adopted.
  const former = past.filter((revision) => !isPresent(revision, daemonSet))
  return { present: revisionHash(present), former: new Set(former.map(revisionHash)) }
}

/** Another name is tried for the revision next time. */
function collided({ status }: DaemonSet): DaemonSetStatus {
  const present = status as DaemonSetStatus
  return { ...present, collisionCount: (present.collisionCount ?? 0) + 1 }
}

/** First every node gets its pod; a rollout goes on when that is so. */
function podActions(
  observed: ObservedDaemonSet,
  podsByNode: PodsByNode,
  coverage: Coverage,
  hashes: RevisionHashes,
  nowMs: Time,
): readonly Action[] {
  if (coverage.actions.length > 0 || !isRollingUpdate(observed.daemonSet)) return coverage.actions
  return rollForward(observed, podsByNode, hashes, nowMs)
}

function trimmed({ daemonSet, pods }: ObservedDaemonSet, { past }: History): readonly Action[] {
  const inUse = new Set(pods.map(({ metadata }) => metadata.labels?.[revisionHashLabel]))
  return trimHistory(past, daemonSet.spec.revisionHistoryLimit ?? 10, (revision) => inUse.has(revisionHash(revision)))
}

function requeue(...waits: readonly (number | undefined)[]): { readonly requeueAfterMs?: number } {
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? {} : { requeueAfterMs: Math.min(...known) }
}

/**
 * Pods by their node, the older first: a pod that is bound before one that is not, as it may run already. One that has ended and
 * is going is kept by somebody's finalizer alone: its node lacks a pod.
 */
function byNode(pods: readonly Pod[]): PodsByNode {
  const byName = new Map<string, Pod[]>()
  for (const pod of pods) {
    const name = nodeOf(pod)
    if (name === undefined || (hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined)) continue
    const beside = byName.get(name)
    if (beside === undefined) byName.set(name, [pod])
    else beside.push(pod)
  }
  for (const beside of byName.values()) if (beside.length > 1) beside.sort(byAge)
  return byName
}

function byAge(a: Pod, b: Pod): number {
  const [isBoundA, isBoundB] = [a.spec.nodeName ? 0 : 1, b.spec.nodeName ? 0 : 1]
  if (isBoundA !== isBoundB) return isBoundA - isBoundB
  const difference = (timeOf(a.metadata.creationTimestamp) ?? 0) - (timeOf(b.metadata.creationTimestamp) ?? 0)
  if (difference !== 0) return difference
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
