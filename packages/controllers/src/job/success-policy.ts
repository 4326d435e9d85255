import { countIndexes, type IndexInterval, type JobSpec, parseIndexes } from '@coracle/api'

/** What a Job is to say that has succeeded early; undefined where it has not: https://kep.k8s.io/3998. */
export function metSuccessRule(spec: JobSpec, succeeded: readonly IndexInterval[]): string | undefined {
  const completions = spec.completions ?? 0
  if (succeeded.length === 0) return undefined
  for (const [index, rule] of (spec.successPolicy?.rules ?? []).entries()) {
    const wanted = rule.succeededIndexes === undefined ? undefined : parseIndexes(rule.succeededIndexes, completions)
    if (wanted?.length === 0) continue
    const reached = wanted === undefined ? countIndexes(succeeded) : overlap(wanted, succeeded)
    const needed = rule.succeededCount ?? (wanted === undefined ? completions : countIndexes(wanted))
    if (reached >= needed) return `Matched rules at index ${index}`
  }
  return undefined
}

/** How many indexes are in both, each in ascending order: at the cost of their intervals, which may be of billions of indexes. */
function overlap(wanted: readonly IndexInterval[], succeeded: readonly IndexInterval[]): number {
  let count = 0
  let from = 0
  for (const [first, last] of wanted) {
    while ((succeeded[from]?.[1] ?? first) < first) from += 1
    for (let at = from; (succeeded[at]?.[0] ?? Number.POSITIVE_INFINITY) <= last; at += 1) {
      const [start, end] = succeeded[at] as IndexInterval
      count += Math.min(last, end) - Math.max(first, start) + 1
    }
  }
  return count
}
