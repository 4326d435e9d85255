import { countIndexes, hasIndex, type IndexInterval, type JobSpec, parseIndexes } from '@coracle/api'

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

/** How many indexes are in both. */
function overlap(wanted: readonly IndexInterval[], succeeded: readonly IndexInterval[]): number {
  let count = 0
  for (const [first, last] of wanted) {
    for (let index = first; index <= last; index += 1) if (hasIndex(succeeded, index)) count += 1
  }
  return count
}
