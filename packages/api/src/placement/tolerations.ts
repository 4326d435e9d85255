import { lookedThroughMax } from '../finder.ts'
import type { Taint } from '../kinds/core/node/node-spec.ts'
import type { Toleration } from '../kinds/core/pod/scheduling.ts'

/** What of a taint it takes to tolerate it. */
export type TaintIdentity = Pick<Taint, 'key' | 'value' | 'effect'>

/** Whether one of the tolerations covers the taint. */
export function isTolerated(taint: TaintIdentity, tolerations: readonly Toleration[] | undefined): boolean {
  if (tolerations === undefined) return false
  if (tolerations.length <= lookedThroughMax) return tolerations.some((each) => toleratesTaint(each, taint))
  let index = indexes.get(tolerations)
  if (index === undefined) {
    index = indexOf(tolerations)
    indexes.set(tolerations, index)
  }
  const values = [undefined, taint.value ?? '']
  return ['', taint.key].some((key) =>
    values.some((value) => ['', taint.effect].some((effect) => index.has(termOf(key, value, effect)))),
  )
}

/** Of lists that are long, what they tolerate: nobody changes them. */
const indexes = new WeakMap<readonly Toleration[], ReadonlySet<string>>()

function indexOf(tolerations: readonly Toleration[]): ReadonlySet<string> {
  const terms = new Set<string>()
  for (const { key = '', operator = '', value = '', effect = '' } of tolerations) {
    if (operator === 'Exists') terms.add(termOf(key, undefined, effect))
    else if (operator === '' || operator === 'Equal') terms.add(termOf(key, value, effect))
  }
  return terms
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
