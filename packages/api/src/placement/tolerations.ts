import { lookedThroughMax } from '../finder.ts'
import type { Taint } from '../kinds/core/node/node-spec.ts'
import type { Toleration } from '../kinds/core/pod/scheduling.ts'

/** What of a taint it takes to tolerate it. */
export type TaintIdentity = Pick<Taint, 'key' | 'value' | 'effect'>

/** Whether one of the tolerations covers the taint. */
export const isTolerated = (taint: TaintIdentity, tolerations: readonly Toleration[] | undefined): boolean =>
  tolerationOf(taint, tolerations) !== undefined

/** The first of the tolerations that covers the taint. */
export function tolerationOf(
  taint: TaintIdentity,
  tolerations: readonly Toleration[] | undefined,
): Toleration | undefined {
  if (tolerations === undefined) return undefined
  if (tolerations.length <= lookedThroughMax) return tolerations.find((each) => toleratesTaint(each, taint))
  let index = indexes.get(tolerations)
  if (index === undefined) {
    index = indexOf(tolerations)
    indexes.set(tolerations, index)
  }
  let first: number | undefined
  for (const key of ['', taint.key]) {
    for (const value of [undefined, taint.value ?? '']) {
      for (const effect of ['', taint.effect]) {
        const place = index.get(termOf(key, value, effect))
        if (place !== undefined && (first === undefined || place < first)) first = place
      }
    }
  }
  return first === undefined ? undefined : tolerations[first]
}

/** Of lists that are long, what they tolerate, and where that stands first: nobody changes them. */
const indexes = new WeakMap<readonly Toleration[], ReadonlyMap<string, number>>()

function indexOf(tolerations: readonly Toleration[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (const [place, { key = '', operator = '', value = '', effect = '' }] of tolerations.entries()) {
    if (operator !== 'Exists' && operator !== '' && operator !== 'Equal') continue
    const term = termOf(key, operator === 'Exists' ? undefined : value, effect)
    if (!places.has(term)) places.set(term, place)
  }
  return places
}

/** Without a value: whatever it is. */
const termOf = (key: string, value: string | undefined, effect: string): string => JSON.stringify([key, value, effect])

/**
 * Whether the toleration covers the taint: an empty key or effect covers all of them, and a value counts unless the
 * operator is Exists (core/v1 ToleratesTaint).
 */
export function toleratesTaint({ key, operator = '', value = '', effect }: Toleration, taint: TaintIdentity): boolean {
  if (effect && effect !== taint.effect) return false
  if (key && key !== taint.key) return false
  if (operator === 'Exists') return true
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '')
}
