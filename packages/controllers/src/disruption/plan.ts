import {
  type Condition,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  type PodDisruptionBudgetStatus,
  parseTime,
  pods as podResource,
} from '@coracle/api'
import { type Action, getCondition, type Plan, setCondition } from '@coracle/controller-runtime'
import type { Time } from '@coracle/environment'
import { podKey } from '../pods/pod-key.ts'
import { hasEnded, timeOf } from '../pods/pod-state.ts'
import { selectorText } from '../selector-text.ts'
import { shareOf } from '../share-of.ts'
import { type GuardedPods, isHealthy } from './guarded-pods.ts'

/** How long a pod may take from the grant of its eviction to its deletion, before it counts again. */
export const deletionTimeoutMs = 120_000

/** How long a pod that nobody deletes says that it is about to be disrupted. */
export const staleTargetMs = 120_000

/** How many pods there should be, as the objects that control them say. */
export type ExpectedScale =
  | { readonly count: number }
  /** Nobody can tell, and nothing is evicted meanwhile. */
  | { readonly error: string }

export interface ObservedBudget {
  readonly budget: PodDisruptionBudget
  /** What the pods come to that it guards. */
  readonly guarded: GuardedPods
  /** Those of its pods whose eviction has been granted, as its status names them. */
  readonly granted: readonly Pod[]
  /** Absent where the budget is counted in pods that exist. */
  readonly scale?: ExpectedScale | undefined
}

/** Whether a budget depends on how many pods there should be. */
export function needsScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string'
}

/** Counts what a budget guards, and says how many evictions it allows. Pure. */
export function planDisruptionBudget(observed: ObservedBudget, nowMs: Time): Plan<PodDisruptionBudgetStatus> {
  const { budget, guarded, granted, scale } = observed
  const actions: Action[] = []
  if (guarded.total === 0) actions.push(event('Normal', 'NoPods', 'No matching pods found'))
  if (scale !== undefined && 'error' in scale) {
    const why = `Failed to calculate the number of expected pods: ${scale.error}`
    return {
      actions: [...actions, event('Warning', 'CalculateExpectedPodCountFailed', why)],
      status: failedStatus(budget, scale.error, nowMs),
    }
  }
  if (scale !== undefined && guarded.hasUnmanaged)
    actions.push(event('Warning', 'UnmanagedPods', unmanagedMessage(budget)))
  const { expectedPods, desiredHealthy } = expectationsOf(budget, guarded.total, scale?.count ?? 0)
  const { disrupted, overdue, recheckMs } = disruptedPodsOf(budget, granted, nowMs)
  actions.push(...overdue.map((pod) => notDeleted(budget, pod)))
  const leaving = granted.filter((pod) => isHealthy(pod) && Object.hasOwn(disrupted, pod.metadata.name ?? ''))
  const currentHealthy = guarded.healthy - leaving.length
  const counts = { disrupted, currentHealthy, desiredHealthy, expectedPods }
  const status = statusOf(budget, counts, nowMs)
  return { actions, status, ...(recheckMs === undefined ? {} : { requeueAfterMs: recheckMs - nowMs }) }
}

const unmanagedMessage = ({ spec }: PodDisruptionBudget): string =>
  `Pods selected by this PodDisruptionBudget (selector: ${selectorText(spec?.selector)}) were found to be unmanaged. As a result, ` +
  'the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please ' +
  'set ".spec.minAvailable" field of the PDB to an integer value.'

function event(eventType: 'Normal' | 'Warning', reason: string, message: string, about?: Pod): Action {
  return { type: 'event', eventType, reason, message, because: message, ...(about === undefined ? {} : { about }) }
}

function notDeleted({ metadata }: PodDisruptionBudget, pod: Pod): Action {
  const message = `Pod was expected by PDB ${metadata.namespace}/${metadata.name} to be deleted but it wasn't`
  return event('Warning', 'NotDeleted', message, pod)
}

interface Expectations {
  readonly expectedPods: number
  readonly desiredHealthy: number
}

/** Percentages are rounded up, whichever way they are meant. */
function expectationsOf({ spec }: PodDisruptionBudget, podCount: number, scale: number): Expectations {
  const { maxUnavailable, minAvailable } = spec ?? {}
  if (maxUnavailable !== undefined) {
    return { expectedPods: scale, desiredHealthy: Math.max(0, scale - shareOf(maxUnavailable, scale, 'up')) }
  }
  if (typeof minAvailable === 'string')
    return { expectedPods: scale, desiredHealthy: shareOf(minAvailable, scale, 'up') }
  return { expectedPods: minAvailable === undefined ? 0 : podCount, desiredHealthy: minAvailable ?? 0 }
}

type DisruptedPods = Readonly<Record<string, string>>

interface Disrupted {
  /** Pods whose deletion is still to be seen. */
  readonly disrupted: DisruptedPods
  /** Those that were to be deleted by now. */
  readonly overdue: readonly Pod[]
  /** When the next of them is overdue. */
  readonly recheckMs: Time | undefined
}

function disruptedPodsOf({ status }: PodDisruptionBudget, pods: readonly Pod[], nowMs: Time): Disrupted {
  const granted = status?.disruptedPods ?? {}
  const disrupted: Record<string, string> = {}
  const overdue: Pod[] = []
  let recheckMs: Time | undefined
  for (const pod of pods) {
    const { name = '', deletionTimestamp } = pod.metadata
    const since = Object.hasOwn(granted, name) ? granted[name] : undefined
    if (since === undefined || deletionTimestamp !== undefined) continue
    const endMs = parseTime(since) + deletionTimeoutMs
    if (endMs <= nowMs) {
      overdue.push(pod)
      continue
    }
    disrupted[name] = since
    recheckMs = Math.min(recheckMs ?? endMs, endMs)
  }
  return { disrupted, overdue, recheckMs }
}

interface Counts extends Expectations {
  readonly disrupted: DisruptedPods
  readonly currentHealthy: number
}

/** A budget that guards nothing yet allows nothing: its first pods may come before they are counted. */
function statusOf(budget: PodDisruptionBudget, counts: Counts, nowMs: Time): PodDisruptionBudgetStatus {
  const { disrupted, currentHealthy, desiredHealthy, expectedPods } = counts
  const { generation: observedGeneration } = budget.metadata
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy)
  const isAllowed = disruptionsAllowed > 0
  const conditions = withAllowed(
    budget,
    {
      status: isAllowed ? 'True' : 'False',
      reason: isAllowed ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration,
    },
    nowMs,
  )
  return {
    observedGeneration,
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    conditions,
  }
}

function failedStatus(budget: PodDisruptionBudget, error: string, nowMs: Time): PodDisruptionBudgetStatus {
  const { observedGeneration } = budget.status ?? {}
  const failure = { status: 'False', reason: 'SyncFailed', message: error, observedGeneration }
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...budget.status,
    disruptionsAllowed: 0,
    conditions: withAllowed(budget, failure, nowMs),
  }
}

function withAllowed(
  { status }: PodDisruptionBudget,
  wanted: Pick<Condition, 'status' | 'reason' | 'message' | 'observedGeneration'>,
  nowMs: Time,
): readonly Condition[] {
  // The time is put in by setCondition; until then it is not known.
  const condition: Condition = { type: 'DisruptionAllowed', lastTransitionTime: '', ...wanted }
  return setCondition(status?.conditions, condition, nowMs)
}

/**
 * From when on a pod that is not going has said for too long that it is about to; undefined where it says no such thing, or where
 * its node ends it: that may take any time.
 */
export function staleTargetAt({ metadata, status }: Pod): Time | undefined {
  const target = getCondition(status?.conditions, 'DisruptionTarget')
  if (target?.status !== 'True' || metadata.deletionTimestamp !== undefined) return undefined
  if (target.reason === 'TerminationByKubelet') return undefined
  return (timeOf(target.lastTransitionTime) ?? 0) + staleTargetMs
}

/** Takes back that a pod is about to be disrupted and why, when nobody has deleted it in time. Pure. */
export function planStaleTarget(pod: Pod, nowMs: Time): Plan<never> {
  const staleMs = hasEnded(pod) ? undefined : staleTargetAt(pod)
  if (staleMs === undefined) return { actions: [] }
  if (staleMs > nowMs) return { actions: [], requeueAfterMs: staleMs - nowMs }
  const { uid, resourceVersion, generation: observedGeneration } = pod.metadata
  const target: PodCondition = { type: 'DisruptionTarget', status: 'False', observedGeneration }
  const conditions = setCondition(pod.status?.conditions, target, nowMs)
  const body = { metadata: { uid, resourceVersion }, status: { conditions } }
  const because = 'the pod was to be disrupted and is still there'
  const patch = { type: 'merge', body } as const
  return {
    actions: [{ type: 'patch', resource: podResource, key: podKey(pod), subresource: 'status', patch, because }],
  }
}
