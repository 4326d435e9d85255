import { type AllocationResult, firstAvailableMax, type ResourceClaim } from '@coracle/api'

/** Whether claims leave it to the scheduler in which of several ways a request is met. */
export const havePreferences = (claims: readonly ResourceClaim[]): boolean =>
  claims.some(({ spec }) => spec.devices?.requests?.some(({ firstAvailable = [] }) => firstAvailable.length > 0))

/**
 * How well devices meet what the claims prefer: the earlier a way is listed, the more it counts. `results` are in the order of the claims
 * (upstream's computeScore, https://kep.k8s.io/4816).
 */
export function preferenceScore(claims: readonly ResourceClaim[], results: readonly AllocationResult[]): number {
  let score = 0
  for (const [index, { spec }] of claims.entries()) {
    const met = new Set(results[index]?.devices?.results?.map(({ request }) => request))
    for (const { name, firstAvailable = [] } of spec.devices?.requests ?? []) {
      const rank = firstAvailable.findIndex((way) => met.has(`${name}/${way.name}`))
      if (rank !== -1) score += firstAvailableMax - rank
    }
  }
  return score
}
