import { parseTime, type ResourceClaim } from '@coracle/api'

/** How long a pod may wait for its devices to be ready before others are looked for (upstream's bindingTimeout). */
export const deviceBindingMaxMs = 600_000

/** Whether the devices of a claim are as far as they say they have to be before a pod is bound, or why they will not get there. */
export type Readiness = 'ready' | 'pending' | { readonly failure: string }

/** How far the devices of a claim are, by what their drivers tell in its status (KEP-5007). */
export function readinessOf({ metadata, status }: ResourceClaim): Readiness {
  // A cache may not show yet what the claim has got.
  if (status?.allocation === undefined) return 'pending'
  for (const result of status.allocation.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [] } = result
    if (bindingConditions.length === 0) continue
    const { driver, pool, device } = result
    const told = status.devices?.find((each) => each.driver === driver && each.pool === pool && each.device === device)
    const isTrue = (type: string) => told?.conditions?.find((each) => each.type === type && each.status === 'True')
    const failed = bindingFailureConditions.map(isTrue).find((each) => each !== undefined)
    if (failed !== undefined) {
      const { reason, message } = failed
      const what = `claim=${metadata.name}, reason=${reason}, message=${JSON.stringify(message)}`
      return { failure: `device binding failed: ${what}` }
    }
    if (!bindingConditions.every((type) => isTrue(type) !== undefined)) return 'pending'
  }
  return 'ready'
}

/** Whether a device of the claim says what has to be true of it before a pod is bound. */
export const hasBindingConditions = ({ status }: ResourceClaim): boolean =>
  status?.allocation?.devices?.results?.some(({ bindingConditions = [] }) => bindingConditions.length > 0) === true

/** Whether waiting for the devices of a claim is in vain: one has failed, or they have had their time. */
export function isPastHope(claim: ResourceClaim, nowMs: number): boolean {
  const readiness = readinessOf(claim)
  if (readiness !== 'pending') return readiness !== 'ready'
  const sinceMs = parseTime(claim.status?.allocation?.allocationTimestamp ?? '')
  return nowMs - sinceMs > deviceBindingMaxMs
}
