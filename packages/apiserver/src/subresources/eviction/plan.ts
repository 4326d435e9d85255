import {
  ApiError,
  forbidden,
  formatTime,
  type Pod,
  type PodCondition,
  type PodDisruptionBudget,
  selectorFromLabelSelector,
  tooManyRequests,
} from '@coracle/api'

/** Evictions that the disruption controller has not seen yet, at most, before a budget grants no more (upstream's). */
export const disruptedPodsMax = 2_000

const refusalMessage = "Cannot evict pod as it would violate the pod's disruption budget."

/** The one budget that guards a pod; undefined where none does. Throws (500) where there are several. */
export function budgetOf(pod: Pod, budgets: readonly PodDisruptionBudget[]): PodDisruptionBudget | undefined {
  const own = budgets.filter((budget) => guards(budget, pod))
  if (own.length <= 1) return own[0]
  const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
  throw new ApiError(500, '', message)
}

/** An absent selector guards nothing; in policy/v1 an empty one guards all. What cannot be read guards nothing. */
function guards({ spec, metadata }: PodDisruptionBudget, pod: Pod): boolean {
  if (metadata.namespace !== pod.metadata.namespace) return false
  try {
    return selectorFromLabelSelector(spec?.selector).matches(pod.metadata.labels)
  } catch {
    return false
  }
}

/** A pod that serves nobody: it has not begun, has ended, or is going already. Budgets do not hold it. */
export function needsNoBudget({ status, metadata }: Pod): boolean {
  const phase = status?.phase
  return metadata.deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending'
}

/**
 * The budget after it has granted the eviction of a pod, or the budget itself where the pod counts for nothing in it: it is
 * not ready, and enough others are. Throws upstream's refusal. Pure.
 */
export function grantEviction(budget: PodDisruptionBudget, pod: Pod, nowMs: number): PodDisruptionBudget {
  if (!isReady(pod) && mayGoUnready(budget)) return budget
  const { metadata, status } = budget
  const name = metadata.name ?? ''
  const { observedGeneration = 0, disruptedPods = {}, desiredHealthy = 0, currentHealthy = 0 } = status ?? {}
  const allowed = status?.disruptionsAllowed ?? 0
  if (observedGeneration < (metadata.generation ?? 0)) throw stillProcessed(name)
  if (allowed < 0) throw refuse(name, 'pdb disruptions allowed is negative')
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    throw refuse(name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller')
  }
  if (allowed === 0) throw violates(0, whyNone(budget))
  const counts = { expectedPods: 0, ...status, desiredHealthy, currentHealthy }
  const granted = {
    ...counts,
    disruptionsAllowed: allowed - 1,
    disruptedPods: { ...disruptedPods, [pod.metadata.name ?? '']: formatTime(nowMs) },
  }
  const conditions = allowed === 1 ? withoutDisruptions(budget, nowMs) : status?.conditions
  return { ...budget, status: { ...granted, ...(conditions === undefined ? {} : { conditions }) } }
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: holds }) => type === 'Ready' && holds === 'True') === true

function mayGoUnready({ spec, status }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow') return true
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {}
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy
}

/** Why a budget allows no eviction, in upstream's words. Where it could not be counted, its numbers are old and say nothing. */
function whyNone({ metadata: { name }, status }: PodDisruptionBudget): string {
  const { desiredHealthy = 0, currentHealthy = 0 } = status ?? {}
  const condition = status?.conditions?.find(({ type }) => type === 'DisruptionAllowed')
  const told = condition?.status === 'False' && condition.message !== '' ? condition : undefined
  const refused = `The disruption budget ${name} does not allow evicting pods currently`
  if (told?.reason === 'SyncFailed') return `${refused} because it failed sync: ${told.message}`
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`
  }
  return told === undefined ? refused : `${refused} (${told.reason}): ${told.message}`
}

const refuse = (name: string, why: string): ApiError =>
  forbidden({ group: 'policy', plural: 'poddisruptionbudget' }, name, why)

const stillProcessed = (name: string): ApiError =>
  violates(10, `The disruption budget ${name} is still being processed by the server.`)

function violates(retryAfterSeconds: number, why: string): ApiError {
  const { status } = tooManyRequests(refusalMessage, retryAfterSeconds)
  const causes = [{ reason: 'DisruptionBudget', message: why }]
  return new ApiError(429, 'TooManyRequests', refusalMessage, { ...status.details, causes })
}

/** The conditions of a budget that has granted the last eviction it could. */
function withoutDisruptions({ status }: PodDisruptionBudget, nowMs: number) {
  const conditions = status?.conditions ?? []
  const old = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const exhausted = {
    type: 'DisruptionAllowed',
    status: 'False',
    ...(status?.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration }),
    lastTransitionTime: old?.status === 'False' ? old.lastTransitionTime : formatTime(nowMs),
    reason: 'InsufficientPods',
    message: '',
  }
  return old === undefined ? [...conditions, exhausted] : conditions.map((each) => (each === old ? exhausted : each))
}

/** The pod with the condition that says why it goes. */
export function asEvicted(pod: Pod, nowMs: number): Pod {
  const conditions = pod.status?.conditions ?? []
  const old = conditions.find(({ type }) => type === 'DisruptionTarget')
  const target: PodCondition = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: old?.status === 'True' ? (old.lastTransitionTime ?? formatTime(nowMs)) : formatTime(nowMs),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  }
  const changed = old === undefined ? [...conditions, target] : conditions.map((each) => (each === old ? target : each))
  return { ...pod, status: { ...pod.status, conditions: changed } }
}
