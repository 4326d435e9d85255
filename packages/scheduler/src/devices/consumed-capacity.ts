import { type CapacityRequestPolicy, type CapacityRequirements, type Device, parseQuantity } from '@coracle/api'

const nanosOf = (quantity: string): bigint => parseQuantity(quantity).nanos

/**
 * How much a request takes of each capacity of a device that several may have, in nanounits: what it asks for, rounded up to what the
 * device gives; where it does not say, what the device gives to such, or all of it. Undefined where the device does not give that much.
 */
export function consumedCapacity(
  { capacity = {} }: Device,
  asked: CapacityRequirements | undefined,
): ReadonlyMap<string, bigint> | undefined {
  const requests = asked?.requests ?? {}
  if (Object.keys(requests).some((name) => !Object.hasOwn(capacity, name))) return undefined
  const consumed = new Map<string, bigint>()
  for (const [name, { value, requestPolicy }] of Object.entries(capacity)) {
    const wanted = Object.hasOwn(requests, name) ? requests[name] : undefined
    const given =
      wanted === undefined ? nanosOf(requestPolicy?.default ?? value) : roundedUp(nanosOf(wanted), requestPolicy)
    if (given === undefined || given > nanosOf(value)) return undefined
    consumed.set(name, given)
  }
  return consumed
}

/** The next larger amount that the device gives; undefined where there is none. */
function roundedUp(wanted: bigint, policy: CapacityRequestPolicy | undefined): bigint | undefined {
  if (policy?.validValues?.length) return policy.validValues.map(nanosOf).find((value) => value >= wanted)
  const { min, max, step } = policy?.validRange ?? {}
  if (min === undefined) return wanted
  const least = nanosOf(min)
  const width = step === undefined ? 0n : nanosOf(step)
  const beyond = wanted > least ? wanted - least : 0n
  const rounded = least + (width > 0n ? ((beyond + width - 1n) / width) * width : beyond)
  return max !== undefined && rounded > nanosOf(max) ? undefined : rounded
}
