import { deepEqual, type Toleration } from '@coracle/api'

/** Whether a list of what may be tolerated covers all of these; an empty one allows everything. */
export const allows = (allowed: readonly Toleration[], tolerations: readonly Toleration[]): boolean =>
  allowed.length === 0 || tolerations.every((each) => allowed.some((wide) => covers(wide, each)))

/** Two lists as one, without what another toleration covers; of equal ones the first stays. */
export function mergedTolerations(first: readonly Toleration[], second: readonly Toleration[]): readonly Toleration[] {
  const all = [...first, ...second]
  const merged: Toleration[] = []
  for (const [index, each] of all.entries()) {
    const isCovered =
      merged.some((kept) => covers(kept, each)) ||
      all.slice(index + 1).some((later) => !deepEqual(later, each) && covers(later, each))
    if (!isCovered) merged.push(each)
  }
  return merged
}

/** Whether one toleration tolerates all that another does. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (deepEqual(wide, narrow)) return true
  const { key = '', operator = '', effect = '', value = '', tolerationSeconds } = wide
  // An empty key with Exists is every key, an empty effect every effect.
  if (key !== (narrow.key ?? '') && (key !== '' || operator !== 'Exists')) return false
  if (effect !== (narrow.effect ?? '') && effect !== '') return false
  if (effect === 'NoExecute' && tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > tolerationSeconds) return false
  }
  if (operator === 'Exists') return true
  if (operator !== '' && operator !== 'Equal') return false
  return narrow.operator === 'Equal' && (narrow.value ?? '') === value
}
