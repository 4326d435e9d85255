import { formatTime, parseTime } from '../../time.ts'

/**
 * What is noted of tokens that Secrets keep, as clusters made them for each service account before 1.24: who uses them, and which of
 * them nobody does (https://kep.k8s.io/2799). Days are those of UTC.
 */

/** A label of such a Secret: the day on which its token was last used. */
export const tokenLastUsedLabel = 'kubernetes.io/legacy-token-last-used'

/** A label of such a Secret: the day since which its token is refused, because nobody has used it for long. */
export const tokenInvalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'

/** Where it is said since when uses are noted. */
export const tokenTracking = {
  namespace: 'kube-system',
  name: 'kube-apiserver-legacy-service-account-token-tracking',
  key: 'since',
} as const

export const dayMs = 24 * 60 * 60_000

/** The day of a time: `2026-01-31`. */
export const dayOf = (timeMs: number): string => formatTime(timeMs).slice(0, 10)

/** When a day begins; undefined where a text names none. */
export function beginOfDay(text: string): number | undefined {
  const timeMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTime(`${text}T00:00:00Z`) : Number.NaN
  return Number.isNaN(timeMs) || dayOf(timeMs) !== text ? undefined : timeMs
}
