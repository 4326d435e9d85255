import type { Taint } from '../kinds/core/node/node-spec.ts'
import type { Toleration } from '../kinds/core/pod/scheduling.ts'

/** What of a taint it takes to tolerate it. */
export type TaintIdentity = Pick<Taint, 'key' | 'value' | 'effect'>

/** Whether one of the tolerations covers the taint. */
export function isTolerated(taint: TaintIdentity, tolerations: readonly Toleration[] | undefined): boolean {
  return tolerations?.some((toleration) => toleratesTaint(toleration, taint)) === true
}

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
