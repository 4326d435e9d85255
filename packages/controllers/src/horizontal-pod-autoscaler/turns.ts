import { fnv1a, type Time } from '@coracle/environment'

/** How often an autoscaler looks at its metrics. */
export const syncPeriodMs = 15_000

/**
 * When an autoscaler is in turn after some moment: every 15 seconds, at moments that follow from its uid. So they are spread, and stay the
 * same where another server takes over, or this one begins anew.
 */
export function nextLookMs(uid: string, afterMs: Time): Time {
  const sinceTurnMs = (afterMs + (fnv1a(uid) % syncPeriodMs)) % syncPeriodMs
  return afterMs + syncPeriodMs - sinceTurnMs
}
