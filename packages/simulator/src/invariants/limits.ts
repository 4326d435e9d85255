import {
  addQuantities,
  compareQuantity,
  formatQuantity,
  type Pod,
  type PodDisruptionBudget,
  type Quantity,
  quotaUsage,
  type ResourceQuantities,
  type ResourceQuota,
  selectorFromLabelSelector,
} from '@coracle/api'
import { isKind, resourceOf } from '../kinds.ts'
import { skewMaxMs } from '../scenario.ts'
import { type Change, type Invariant, isNew, isReady, labelOf, type View } from '../view.ts'

/** What budgets and quotas promise. */
export const limitInvariants: readonly Invariant[] = [
  { name: 'an eviction is charged to its budget', check: notCharged },
  { name: 'an eviction leaves enough healthy pods', check: tooFewHealthy },
  { name: 'a quota is not exceeded', check: overQuota },
  { name: 'in the end a quota says what is used', finally: miscountedQuotas },
  { name: 'in the end a budget says what is healthy', finally: miscountedBudgets },
]

/** A budget that grants evictions allows so many fewer, and never less than none. */
function notCharged(change: Change): string | undefined {
  const { old, object } = change
  if (object?.kind !== 'PodDisruptionBudget' || isNew(change)) return undefined
  const [before, after] = [old as PodDisruptionBudget, object as PodDisruptionBudget]
  const allowed = after.status?.disruptionsAllowed ?? 0
  if (allowed < 0) return `${labelOf(object)} allows ${allowed} disruptions`
  const names = (each: PodDisruptionBudget) => Object.keys(each.status?.disruptedPods ?? {})
  const granted = names(after).filter((name) => !names(before).includes(name)).length
  if (granted === 0) return undefined
  const allowedBefore = before.status?.disruptionsAllowed ?? 0
  return allowed === allowedBefore - granted
    ? undefined
    : `${labelOf(object)} grants ${granted} evictions, and allows ${allowed} after ${allowedBefore}`
}

const isEvicted = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined &&
  status?.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'EvictionByEvictionAPI') ===
    true

function guardedBy(budget: PodDisruptionBudget, view: View): readonly Pod[] {
  const selector = selectorFromLabelSelector(budget.spec?.selector)
  return view
    .list<Pod>('Pod')
    .filter(({ metadata }) => metadata.namespace === budget.metadata.namespace && selector.matches(metadata.labels))
}

const isHealthy = (pod: Pod): boolean => pod.metadata.deletionTimestamp === undefined && isReady(pod)

/**
 * When an eviction takes a healthy pod, as many others are healthy as its budget wants. Judged where nothing else has befallen its pods
 * in this moment, and who counts them runs: a budget holds back evictions, and nothing else that takes pods.
 */
function tooFewHealthy({ old, object }: Change, view: View): string | undefined {
  if (!view.isCalm || old?.kind !== 'Pod' || object === undefined) return undefined
  const pod = object as Pod
  if (!isEvicted(pod) || old.metadata.deletionTimestamp !== undefined || !isReady(old as Pod)) return undefined
  for (const budget of view.list<PodDisruptionBudget>('PodDisruptionBudget')) {
    const guarded = guardedBy(budget, view)
    if (!guarded.includes(pod)) continue
    const isSettled =
      guarded.every((each) => each === pod || view.recent(each.metadata.uid ?? '').length === 1) &&
      view
        .recent<PodDisruptionBudget>(budget.metadata.uid ?? '')
        .every(({ metadata }) => metadata.generation === budget.metadata.generation)
    const healthy = guarded.filter(isHealthy).length
    const wanted = budget.status?.desiredHealthy ?? 0
    if (isSettled && healthy < wanted)
      return `${labelOf(pod)} is evicted, which leaves ${healthy} healthy pods of ${wanted} (${labelOf(budget)})`
  }
  return undefined
}

/** What counts of a namespace at a time: pods that are stuck in their deletion stop to. */
function usedIn(namespace: string | undefined, view: View, nowMs: number): ResourceQuantities {
  let used: ResourceQuantities = new Map()
  for (const object of view.all()) {
    if (object.metadata.namespace !== namespace || !isKind(object.kind)) continue
    used = addQuantities(used, quotaUsage(resourceOf(object.kind), object, nowMs))
  }
  return used
}

const textOf = (quantity: Quantity | undefined): string => (quantity === undefined ? '0' : formatQuantity(quantity))

const isOver = (used: Quantity | undefined, hard: string): boolean =>
  used !== undefined && compareQuantity(used, hard) > 0

/** When something comes, no quota that is in force is exceeded by it, whichever clock tells which pods are stuck. */
function overQuota(change: Change, view: View): string | undefined {
  const { object } = change
  if (object === undefined || !isKind(object.kind) || !isNew(change) || object.metadata.namespace === undefined)
    return undefined
  for (const quota of view.list<ResourceQuota>('ResourceQuota')) {
    const { hard = {} } = quota.status ?? {}
    if (quota.metadata.namespace !== object.metadata.namespace) continue
    const used = usedIn(quota.metadata.namespace, view, view.nowMs + skewMaxMs)
    const taken = quotaUsage(resourceOf(object.kind), object, view.nowMs)
    const name = Object.keys(hard).find((each) => taken.has(each) && isOver(used.get(each), hard[each] ?? ''))
    if (name !== undefined)
      return `${labelOf(object)} comes: ${textOf(used.get(name))} of at most ${hard[name]} ${name} (${labelOf(quota)})`
  }
  return undefined
}

function miscountedQuotas(view: View): readonly string[] {
  return view.list<ResourceQuota>('ResourceQuota').flatMap((quota) => {
    const used = usedIn(quota.metadata.namespace, view, view.nowMs)
    return Object.entries(quota.status?.used ?? {}).flatMap(([name, said]) => {
      const isSo = compareQuantity(used.get(name) ?? '0', said) === 0
      return isSo ? [] : [`${labelOf(quota)} says ${said} ${name}, and there are ${textOf(used.get(name))}`]
    })
  })
}

/** A budget in shares of something that has no size, such as a DaemonSet, cannot be counted, and says so. */
const isUncountable = ({ status }: PodDisruptionBudget): boolean =>
  status?.conditions?.some(({ reason }) => reason === 'SyncFailed') === true

function miscountedBudgets(view: View): readonly string[] {
  return view.list<PodDisruptionBudget>('PodDisruptionBudget').flatMap((budget) => {
    if (isUncountable(budget)) return []
    const said = budget.status?.currentHealthy ?? 0
    const healthy = guardedBy(budget, view).filter(isHealthy).length
    if (said !== healthy) return [`${labelOf(budget)} says ${said} healthy pods, and there are ${healthy}`]
    const { desiredHealthy = 0, disruptionsAllowed = 0, expectedPods = 0, disruptedPods = {} } = budget.status ?? {}
    const allowed = expectedPods > 0 ? Math.max(0, healthy - desiredHealthy) : 0
    const { minAvailable } = budget.spec ?? {}
    if (typeof minAvailable === 'number' && desiredHealthy !== minAvailable)
      return [`${labelOf(budget)} wants ${desiredHealthy} healthy pods, and was to want ${minAvailable}`]
    if (Object.keys(disruptedPods).length > 0)
      return [`${labelOf(budget)} waits for ${Object.keys(disruptedPods).join(', ')} to go`]
    return disruptionsAllowed === allowed
      ? []
      : [
          `${labelOf(budget)} allows ${disruptionsAllowed} disruptions, and has ${healthy} healthy pods of ${desiredHealthy}`,
        ]
  })
}
