import { type Pod, type PodDisruptionBudget, selectorFromLabelSelector } from '@coracle/api'

/**
 * Splits pods into those that may not go, if all before them in the list have gone, for a disruption budget that covers them is used up,
 * and others.
 */
export function splitByBudgets(
  pods: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
): { readonly guarded: readonly Pod[]; readonly others: readonly Pod[] } {
  const left = budgets.map(({ metadata: { namespace }, spec, status }) => {
    const selector = selectorFromLabelSelector(spec?.selector)
    return {
      // Without a selector, or with an empty one, nothing is covered, and no pod without labels (upstream's rules in the scheduler).
      covers: ({ metadata }: Pod) =>
        metadata.namespace === namespace &&
        selector.requirements.length > 0 &&
        Object.keys(metadata.labels ?? {}).length > 0 &&
        selector.matches(metadata.labels) &&
        // Its going is granted and counted already.
        !Object.hasOwn(status?.disruptedPods ?? {}, metadata.name ?? ''),
      allowed: status?.disruptionsAllowed ?? 0,
    }
  })
  const guarded: Pod[] = []
  const others: Pod[] = []
  for (const pod of pods) {
    let mayGo = true
    for (const budget of left) {
      if (!budget.covers(pod)) continue
      budget.allowed--
      if (budget.allowed < 0) mayGo = false
    }
    if (mayGo) others.push(pod)
    else guarded.push(pod)
  }
  return { guarded, others }
}
