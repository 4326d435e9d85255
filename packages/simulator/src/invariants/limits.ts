import {
  type Pod,
  type PodDisruptionBudget,
  quotaUsage,
  type ResourceQuota,
  selectorFromLabelSelector,
} from '@coracle/api'
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

const pods = { group: '', plural: 'pods' }

/** How many pods of a namespace count at a time: those that are stuck in their deletion stop to. */
const usedPods = (namespace: string | undefined, view: View, nowMs: number): number =>
  view
    .list<Pod>('Pod')
    .filter(({ metadata }) => metadata.namespace === namespace)
    .filter((pod) => quotaUsage(pods, pod, nowMs).has('pods')).length

/** When a pod comes, no quota that is in force is exceeded, whichever clock tells which pods are stuck. */
function overQuota(change: Change, view: View): string | undefined {
  const { object } = change
  if (object?.kind !== 'Pod' || !isNew(change)) return undefined
  for (const quota of view.list<ResourceQuota>('ResourceQuota')) {
    const hard = quota.status?.hard?.pods
    if (hard === undefined || quota.metadata.namespace !== object.metadata.namespace) continue
    const used = usedPods(quota.metadata.namespace, view, view.nowMs + skewMaxMs)
    if (used > Number(hard)) return `${labelOf(object)} comes: ${used} pods of at most ${hard} (${labelOf(quota)})`
  }
  return undefined
}

function miscountedQuotas(view: View): readonly string[] {
  return view.list<ResourceQuota>('ResourceQuota').flatMap((quota) => {
    const said = quota.status?.used?.pods
    const used = usedPods(quota.metadata.namespace, view, view.nowMs)
    return said === undefined || Number(said) === used
      ? []
      : [`${labelOf(quota)} says ${said} pods, and there are ${used}`]
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
    return said === healthy ? [] : [`${labelOf(budget)} says ${said} healthy pods, and there are ${healthy}`]
  })
}
