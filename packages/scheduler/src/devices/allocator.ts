/**
 * Finds devices for claims on a node: backtracks over the requests until all of them are met at once, as upstream's structured allocator
 * does (KEP-4381). Pure: the same devices, claims and node give the same answer.
 */
import {
  type AllocationResult,
  allocationResultsMax,
  type CapacityRequirements,
  compareQuantity,
  type Device,
  type DeviceAttribute,
  type DeviceClass,
  type DeviceConstraint,
  type DeviceRequest,
  type DeviceRequestAllocationResult,
  type DeviceSelector,
  type ExactDeviceRequest,
  formatQuantity,
  type Node,
  parseQuantity,
  type ResourceClaim,
  splitDeviceAttributeName,
  toleratesDeviceTaint,
} from '@coracle/api'
import type { DeviceUse } from './allocated-devices.ts'
import { nodeSelectorFor } from './allocated-nodes.ts'
import { consumedCapacity } from './consumed-capacity.ts'
import type { PooledDevice } from './pools.ts'

/** Choices that are tried before the search for a node ends: upstream ends it after ten seconds. */
export const choicesMax = 100_000

/** What the search goes by. */
export interface DeviceOffer {
  /** The devices that can be used on a node, those of one pool beside each other. */
  devicesOn(node: Node): readonly PooledDevice[]
  /** What other claims have. */
  readonly use: DeviceUse
  deviceClass(name: string): DeviceClass | undefined
  /** Whether a selector selects the device. */
  selects(expression: string, device: PooledDevice): { readonly matches: boolean } | { readonly error: string }
}

/**
 * What each claim gets, in the order of the claims; or why they cannot all have devices on the node. With `isError` that is because something
 * is wrong with what is asked for: other nodes are no answer then.
 */
export type Allocation =
  | { readonly results: readonly AllocationResult[] }
  | { readonly reason: string; readonly isError?: boolean }

/** Finds devices that can be used on the node, for all of these claims together. */
export function allocate(claims: readonly ResourceClaim[], node: Node, offer: DeviceOffer): Allocation {
  const search = new Search(node, offer)
  try {
    const found = search.meet(claims.map((claim) => new ClaimSearch(claim)))
    return found ? { results: search.results() } : { reason: cannotAllocate }
  } catch (error) {
    if (error instanceof SearchEnd) return { reason: error.message, isError: error instanceof WrongAsked }
    throw error
  }
}

const cannotAllocate = 'cannot allocate all claims'

/** Why there is no point in searching on. */
class SearchEnd extends Error {}

/** What is asked for cannot be judged. */
class WrongAsked extends SearchEnd {}

/** One way to meet a request, or the only one. */
interface Way {
  /** As results call it: `request` or `request/way`. */
  readonly name: string
  readonly asked: ExactDeviceRequest
}

interface Chosen {
  readonly way: Way
  readonly pooled: PooledDevice
  /** How much of it, in nanounits, by capacity; undefined where it is taken as a whole. */
  readonly consumed: ReadonlyMap<string, bigint> | undefined
}

/** What has been chosen for a claim so far. */
class ClaimSearch {
  readonly claim: ResourceClaim
  readonly requests: readonly DeviceRequest[]
  readonly constraints: readonly DeviceConstraint[]
  readonly chosen: Chosen[] = []
  /** The way in which each request is met. */
  readonly ways: Way[] = []
  /** How many devices each request and those after it need at least. */
  readonly leastFrom: number[] = []

  constructor(claim: ResourceClaim) {
    this.claim = claim
    this.requests = claim.spec.devices?.requests ?? []
    this.constraints = claim.spec.devices?.constraints ?? []
  }

  /** How many devices the requests after this one need at least. */
  leastAfter(requestIndex: number): number {
    return this.leastFrom[requestIndex + 1] ?? 0
  }
}

class Search {
  readonly #node: Node
  readonly #offer: DeviceOffer
  readonly #devices: readonly PooledDevice[]
  /** What the search itself has taken, beside what others have. */
  readonly #taken = new Map<string, number>()
  readonly #consumed = new Map<string, Map<string, bigint>>()
  #claims: readonly ClaimSearch[] = []
  #choices = 0
  /** What a request selects hangs on nothing that is chosen. */
  readonly #candidates = new Map<ExactDeviceRequest, readonly PooledDevice[]>()

  constructor(node: Node, offer: DeviceOffer) {
    this.#node = node
    this.#offer = offer
    this.#devices = offer.devicesOn(node)
  }

  meet(claims: readonly ClaimSearch[]): boolean {
    this.#claims = claims
    for (const each of claims) this.#countLeast(each)
    return this.#meetFrom(0, 0)
  }

  results(): readonly AllocationResult[] {
    return this.#claims.map((each) => resultOf(each, this.#node, this.#offer))
  }

  /** Meets this request of this claim, and all that follow. */
  #meetFrom(claimIndex: number, requestIndex: number): boolean {
    const search = this.#claims[claimIndex]
    if (search === undefined) return true
    const request = search.requests[requestIndex]
    if (request === undefined) return this.#meetFrom(claimIndex + 1, 0)
    const next = () => this.#meetFrom(claimIndex, requestIndex + 1)
    return waysOf(request).some((way) => {
      search.ways.push(way)
      if (this.#meetWay(search, way, search.leastAfter(requestIndex), next)) return true
      search.ways.pop()
      return false
    })
  }

  /** Notes how many devices the requests of a claim need at least, which ends the search where that is more than a claim may have. */
  #countLeast(search: ClaimSearch): void {
    for (const [index, request] of [...search.requests.entries()].toReversed()) {
      const least = Math.min(...waysOf(request).map((way) => this.#wantedOf(way, search)))
      search.leastFrom[index] = least + search.leastAfter(index)
    }
    const [least = 0] = search.leastFrom
    if (least <= allocationResultsMax) return
    const { namespace, name } = search.claim.metadata
    throw new SearchEnd(
      `claim ${namespace}/${name}: number of requested devices ${least} exceeds the claim limit of ${allocationResultsMax}`,
    )
  }

  /** Meets a request in this way, and all that follow, of which those of the same claim need `following` devices at least. */
  #meetWay(search: ClaimSearch, way: Way, following: number, next: () => boolean): boolean {
    const wanted = this.#wantedOf(way, search)
    // Devices are chosen only where that many can be: else every choice of them would be tried in vain.
    if (search.chosen.length + wanted + following > allocationResultsMax) return false
    const candidates = this.#candidatesOf(way, search)
    if (way.asked.allocationMode === 'All') return this.#takeAll(search, way, candidates, 0, next)
    return this.#take(search, way, candidates, 0, wanted, next)
  }

  /** How many devices meet a request in this way. */
  #wantedOf(way: Way, search: ClaimSearch): number {
    const { allocationMode, count = 1 } = way.asked
    return allocationMode === 'All' ? this.#candidatesOf(way, search).length : Number(count)
  }

  /** Devices that selectors select, whether somebody has them or not. */
  #candidatesOf(way: Way, search: ClaimSearch): readonly PooledDevice[] {
    const candidates = this.#candidates.get(way.asked) ?? this.#selectedBy(way, search)
    this.#candidates.set(way.asked, candidates)
    return candidates
  }

  #selectedBy(way: Way, search: ClaimSearch): readonly PooledDevice[] {
    const { asked } = way
    const deviceClass = this.#offer.deviceClass(asked.deviceClassName)
    if (deviceClass === undefined) return []
    const isAll = asked.allocationMode === 'All'
    return this.#devices.filter((device) => {
      if (device.pool.isIncomplete && !isAll) return false
      const { metadata } = search.claim
      const isSelected =
        this.#isSelected(deviceClass.spec.selectors, device, `class ${asked.deviceClassName}`) &&
        this.#isSelected(asked.selectors, device, `claim ${metadata.namespace}/${metadata.name}`)
      if (!isSelected) return false
      if (device.pool.problem !== undefined) {
        throw new SearchEnd(`pool ${device.driver}/${device.pool.name} is invalid: ${device.pool.problem}`)
      }
      if (device.pool.isIncomplete) {
        const who = `claim ${metadata.namespace}/${metadata.name}, request ${way.name}`
        throw new WrongAsked(
          `${who}: asks for all devices, but resource pool ${device.driver}/${device.pool.name} is currently being updated`,
        )
      }
      return hasCapacity(device.device, asked.capacity)
    })
  }

  #isSelected(selectors: readonly DeviceSelector[] | undefined, device: PooledDevice, whose: string): boolean {
    return (selectors ?? []).every(({ cel }, index) => {
      const outcome = this.#offer.selects(cel?.expression ?? 'false', device)
      if ('error' in outcome) throw new WrongAsked(`${whose}: selector #${index}: CEL runtime error: ${outcome.error}`)
      return outcome.matches
    })
  }

  /** Takes `count` of the candidates, from one of them on. */
  #take(
    search: ClaimSearch,
    way: Way,
    candidates: readonly PooledDevice[],
    from: number,
    count: number,
    next: () => boolean,
  ): boolean {
    if (count === 0) return next()
    const isShared = candidates.some(({ device }) => device.allowMultipleAllocations === true)
    if (!isShared && candidates.length - from < count) return false
    for (let index = from; index < candidates.length; index++) {
      const device = candidates[index] as PooledDevice
      // A device that several may have may be had more than once by the same.
      const following = device.device.allowMultipleAllocations === true ? index : index + 1
      const isMet = this.#with(search, way, device, () =>
        this.#take(search, way, candidates, following, count - 1, next),
      )
      if (isMet) return true
    }
    return false
  }

  /** Takes each of the candidates, of which there must be one. */
  #takeAll(
    search: ClaimSearch,
    way: Way,
    candidates: readonly PooledDevice[],
    index: number,
    next: () => boolean,
  ): boolean {
    const device = candidates[index]
    if (device === undefined) return index > 0 && next()
    return this.#with(search, way, device, () => this.#takeAll(search, way, candidates, index + 1, next))
  }

  /** Takes the device, if it is to be had, while `act` goes on with the search; gives it back where that fails. */
  #with(search: ClaimSearch, way: Way, pooled: PooledDevice, act: () => boolean): boolean {
    if (++this.#choices > choicesMax) throw new SearchEnd('timed out trying to allocate devices')
    const isAdmin = way.asked.adminAccess === true
    if (!isTolerated(pooled.device, way.asked) || !meetsConstraints(search, way, pooled)) return false
    const consumed = isAdmin ? undefined : this.#consumption(pooled, way.asked)
    if (consumed === 'none left') return false
    search.chosen.push({ way, pooled, consumed })
    if (!isAdmin) this.#count(pooled, consumed, 1)
    if (act()) return true
    search.chosen.pop()
    if (!isAdmin) this.#count(pooled, consumed, -1)
    return false
  }

  /** How much of the device the request gets; undefined for all of it. */
  #consumption(pooled: PooledDevice, asked: ExactDeviceRequest): Chosen['consumed'] | 'none left' {
    const { key, device } = pooled
    if (device.allowMultipleAllocations !== true) {
      return this.#isTaken(key) || !this.#hasCounters(pooled) ? 'none left' : undefined
    }
    const consumed = consumedCapacity(device, asked.capacity)
    if (consumed === undefined) return 'none left'
    for (const [name, amount] of consumed) {
      const total = parseQuantity(device.capacity?.[name]?.value ?? '0').nanos
      const own = this.#consumed.get(key)?.get(name) ?? 0n
      if (this.#offer.use.consumed(key, name) + own + amount > total) return 'none left'
    }
    // Whoever has a part of it already has drawn from the counters for all.
    return this.#isTaken(key) || this.#hasCounters(pooled) ? consumed : 'none left'
  }

  #isTaken(key: string): boolean {
    return this.#taken.has(key) || this.#offer.use.isTaken(key)
  }

  /** Whether the pool has enough left of what the device would draw from its counters. */
  #hasCounters({ device, pool }: PooledDevice): boolean {
    return (device.consumesCounters ?? []).every(({ counterSet, counters }) => {
      const available = pool.counters.get(counterSet)
      if (available === undefined) return false
      return Object.entries(counters).every(([name, { value }]) => {
        const total = available[name]?.value
        if (total === undefined) return false
        const used = pool.devices.reduce((sum, other) => {
          if (!this.#isTaken(other.key)) return sum
          const drawn = other.device.consumesCounters?.find((each) => each.counterSet === counterSet)?.counters[name]
          return drawn === undefined ? sum : sum + parseQuantity(drawn.value).nanos
        }, 0n)
        return used + parseQuantity(value).nanos <= parseQuantity(total).nanos
      })
    })
  }

  #count({ key }: PooledDevice, consumed: ReadonlyMap<string, bigint> | undefined, by: 1 | -1): void {
    const holders = (this.#taken.get(key) ?? 0) + by
    if (holders === 0) this.#taken.delete(key)
    else this.#taken.set(key, holders)
    if (consumed === undefined) return
    const amounts = this.#consumed.get(key) ?? new Map<string, bigint>()
    for (const [name, amount] of consumed) amounts.set(name, (amounts.get(name) ?? 0n) + BigInt(by) * amount)
    this.#consumed.set(key, amounts)
  }
}

function waysOf({ name, exactly, firstAvailable = [] }: DeviceRequest): readonly Way[] {
  if (exactly !== undefined) return [{ name, asked: exactly }]
  return firstAvailable.map((asked) => ({ name: `${name}/${asked.name}`, asked }))
}

/** Whether a device that is taken as a whole has as much as is asked for. */
function hasCapacity({ capacity = {} }: Device, asked: CapacityRequirements | undefined): boolean {
  return Object.entries(asked?.requests ?? {}).every(([name, amount]) => {
    const { value } = capacity[name] ?? {}
    return value !== undefined && compareQuantity(value, amount) >= 0
  })
}

function isTolerated({ taints = [] }: Device, { tolerations = [] }: ExactDeviceRequest): boolean {
  return taints.every(
    (taint) => taint.effect === 'None' || tolerations.some((toleration) => toleratesDeviceTaint(toleration, taint)),
  )
}

/** Whether a constraint is about a way to meet a request: it names the request, the way, or nothing. */
const isAbout = ({ requests = [] }: DeviceConstraint, { name }: Way): boolean =>
  requests.length === 0 || requests.includes(name) || requests.includes(name.split('/')[0] ?? '')

function meetsConstraints({ constraints, chosen }: ClaimSearch, way: Way, pooled: PooledDevice): boolean {
  return constraints.every((constraint) => {
    if (!isAbout(constraint, way)) return true
    const { matchAttribute, distinctAttribute } = constraint
    const name = matchAttribute ?? distinctAttribute ?? ''
    const value = attributeText(pooled, name)
    if (value === undefined) return false
    const others = chosen
      .filter((each) => isAbout(constraint, each.way))
      .map((each) => attributeText(each.pooled, name))
    return matchAttribute === undefined ? !others.includes(value) : others.every((other) => other === value)
  })
}

/** An attribute by its name with a domain, as a text in which values of different types differ; undefined where there is none. */
function attributeText({ device, driver }: PooledDevice, wanted: string): string | undefined {
  for (const [name, value] of Object.entries(device.attributes ?? {})) {
    if (splitDeviceAttributeName(name, driver).join('/') === wanted) return valueText(value)
  }
  return undefined
}

const valueText = ({ int, bool, string, version }: DeviceAttribute): string =>
  JSON.stringify([int, bool, string, version])

function resultOf({ claim, chosen, ways }: ClaimSearch, node: Node, offer: DeviceOffer): AllocationResult {
  const results = chosen.map(({ way, pooled, consumed }): DeviceRequestAllocationResult => {
    const { driver, pool, device } = pooled
    const { adminAccess, tolerations } = way.asked
    return {
      request: way.name,
      driver,
      pool: pool.name,
      device: device.name,
      ...(adminAccess === undefined ? {} : { adminAccess }),
      ...(tolerations?.length ? { tolerations } : {}),
      ...(device.bindingConditions?.length ? { bindingConditions: device.bindingConditions } : {}),
      ...(device.bindingFailureConditions?.length ? { bindingFailureConditions: device.bindingFailureConditions } : {}),
      ...(consumed === undefined ? {} : { consumedCapacity: amountsOf(consumed) }),
    }
  })
  const ofClasses = ways.flatMap(({ name, asked }) =>
    (offer.deviceClass(asked.deviceClassName)?.spec.config ?? []).map((config) => ({
      source: 'FromClass' as const,
      requests: [name],
      ...config,
    })),
  )
  const ofClaim = (claim.spec.devices?.config ?? []).flatMap((config) => {
    const isMeant = !config.requests?.length || ways.some((way) => isAbout(config, way))
    return isMeant ? [{ source: 'FromClaim' as const, ...config }] : []
  })
  const config = [...ofClasses, ...ofClaim]
  const nodeSelector = nodeSelectorFor(
    chosen.map(({ pooled }) => pooled),
    node,
  )
  return {
    devices: { ...(results.length === 0 ? {} : { results }), ...(config.length === 0 ? {} : { config }) },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  }
}

const amountsOf = (consumed: ReadonlyMap<string, bigint>): Readonly<Record<string, string>> =>
  Object.fromEntries([...consumed].map(([name, nanos]) => [name, formatQuantity({ nanos, format: 'BinarySI' })]))
