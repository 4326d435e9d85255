import { type AllocationResult, type DeviceRequestAllocationResult, parseQuantity } from '@coracle/api'

/** What of the devices there are is in somebody's hands. */
export interface DeviceUse {
  /** Whether a claim has the device, or a part of it. */
  isTaken(device: string): boolean
  /** How much of a capacity of a device that several claims may have is theirs, in nanounits. */
  consumed(device: string, capacity: string): bigint
}

/** `driver/pool/device`. */
export const deviceKey = (driver: string, pool: string, device: string): string => `${driver}/${pool}/${device}`

/** The devices of all claims: kept up to date claim by claim, so that one more costs the same however many there are. */
export class AllocatedDevices implements DeviceUse {
  readonly #byClaim = new Map<string, AllocationResult>()
  readonly #holders = new Map<string, number>()
  readonly #consumed = new Map<string, Map<string, bigint>>()

  isTaken(device: string): boolean {
    return this.#holders.has(device)
  }

  consumed(device: string, capacity: string): bigint {
    return this.#consumed.get(device)?.get(capacity) ?? 0n
  }

  /** From here on the claim of this uid has what is given, and nothing else. */
  set(uid: string, allocation: AllocationResult | undefined): void {
    const before = this.#byClaim.get(uid)
    if (before === allocation) return
    for (const result of resultsOf(before)) this.#count(result, -1)
    for (const result of resultsOf(allocation)) this.#count(result, 1)
    if (allocation === undefined) this.#byClaim.delete(uid)
    else this.#byClaim.set(uid, allocation)
  }

  #count(
    { driver, pool, device, adminAccess, consumedCapacity = {} }: DeviceRequestAllocationResult,
    by: 1 | -1,
  ): void {
    // Whoever only looks after a device has nothing of it.
    if (adminAccess === true) return
    const key = deviceKey(driver, pool, device)
    const holders = (this.#holders.get(key) ?? 0) + by
    if (holders === 0) this.#holders.delete(key)
    else this.#holders.set(key, holders)
    const amounts = this.#consumed.get(key) ?? new Map<string, bigint>()
    for (const [name, amount] of Object.entries(consumedCapacity)) {
      amounts.set(name, (amounts.get(name) ?? 0n) + BigInt(by) * parseQuantity(amount).nanos)
    }
    if (holders === 0 || amounts.size === 0) this.#consumed.delete(key)
    else this.#consumed.set(key, amounts)
  }
}

const resultsOf = (allocation: AllocationResult | undefined): readonly DeviceRequestAllocationResult[] =>
  allocation?.devices?.results ?? []
