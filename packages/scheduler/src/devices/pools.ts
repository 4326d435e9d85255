import {
  type Counter,
  type Device,
  type Node,
  type NodeSelector,
  newestGeneration,
  nodeTermMatcher,
  type ResourceSlice,
} from '@coracle/api'
import { deviceKey } from './allocated-devices.ts'

/** A device with where it comes from. */
export interface PooledDevice {
  /** `driver/pool/device`. */
  readonly key: string
  readonly driver: string
  readonly device: Device
  readonly pool: Pool
  /** Where it can be used, as its slice says, or where that leaves it to the device, as the device does. */
  readonly place: DevicePlace
}

export interface DevicePlace {
  readonly nodeName?: string | undefined
  readonly nodeSelector?: NodeSelector | undefined
  readonly allNodes?: boolean | undefined
}

/** The devices of a driver that are offered together, by the slices of the newest generation. */
export interface Pool {
  readonly driver: string
  readonly name: string
  /** Not all of its slices are there: its driver is about to change it. */
  readonly isIncomplete: boolean
  /** Devices of it have conditions that a pod waits for: others are taken first. */
  readonly hasBindingConditions: boolean
  /** Why nothing can be taken from it, whoever offers it: two devices have one name. */
  readonly problem: string | undefined
  readonly devices: readonly PooledDevice[]
  /** What its devices draw from, by the names of sets and counters. */
  readonly counters: ReadonlyMap<string, Readonly<Record<string, Counter>>>
}

/** All pools, in the order of their names; those for whose devices pods have to wait come last. */
function poolsOf(slices: readonly ResourceSlice[]): readonly Pool[] {
  const byPool = new Map<string, ResourceSlice[]>()
  for (const slice of slices) {
    const key = `${slice.spec.driver}/${slice.spec.pool.name}`
    const known = byPool.get(key)
    if (known === undefined) byPool.set(key, [slice])
    else known.push(slice)
  }
  const pools = [...byPool].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => poolOf(each))
  return simplestFirst(pools, ({ hasBindingConditions }) => hasBindingConditions)
}

/** In their order, but for those for which pods have to wait: these come last (structured allocator's GatherPools). */
function simplestFirst<T>(all: readonly T[], hasConditions: (each: T) => boolean): readonly T[] {
  if (!all.some(hasConditions)) return all
  return [...all.filter((each) => !hasConditions(each)), ...all.filter(hasConditions)]
}

const hasConditions = ({ spec: { devices = [] } }: ResourceSlice): boolean =>
  devices.some(({ bindingConditions }) => bindingConditions !== undefined)

function poolOf(all: readonly ResourceSlice[]): Pool {
  const newest = newestGeneration(all)
  const byName = all
    .filter(({ spec }) => spec.pool.generation === newest)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
  const slices = simplestFirst(byName, hasConditions)
  const { driver = '', pool: { name = '' } = {} } = slices[0]?.spec ?? {}
  const devices: PooledDevice[] = []
  const counters = new Map(
    slices.flatMap(({ spec }) => spec.sharedCounters ?? []).map((set) => [set.name, set.counters]),
  )
  const seen = new Set<string>()
  let problem: string | undefined
  const pool: Pool = {
    driver,
    name,
    hasBindingConditions: slices.some(hasConditions),
    isIncomplete: slices.length !== slices[0]?.spec.pool.resourceSliceCount,
    get problem() {
      return problem
    },
    devices,
    counters,
  }
  for (const { spec } of slices) {
    for (const device of spec.devices ?? []) {
      if (seen.has(device.name)) problem = `duplicate device name ${device.name}`
      seen.add(device.name)
      const place = spec.perDeviceNodeSelection === true ? device : spec
      devices.push({ key: deviceKey(driver, name, device.name), driver, device, pool, place })
    }
  }
  return pool
}

/** All devices there are, found by the nodes where they can be used. */
export class DevicePools {
  readonly #byNode = new Map<string, PooledDevice[]>()
  readonly #elsewhere: readonly PooledDevice[]

  constructor(slices: readonly ResourceSlice[]) {
    const all = poolsOf(slices).flatMap(({ devices }) => devices)
    this.#elsewhere = all.filter(({ place }) => place.nodeName === undefined)
    for (const device of all) {
      const { nodeName } = device.place
      if (nodeName === undefined) continue
      const known = this.#byNode.get(nodeName)
      if (known === undefined) this.#byNode.set(nodeName, [device])
      else known.push(device)
    }
  }

  /** Those of the node come first, and those for which pods have to wait last. */
  devicesOn(node: Node): readonly PooledDevice[] {
    const own = this.#byNode.get(node.metadata.name ?? '') ?? []
    if (this.#elsewhere.length === 0) return own
    const all = [...own, ...this.#elsewhere.filter(({ place }) => isUsableOn(place, node))]
    return simplestFirst(all, ({ pool }) => pool.hasBindingConditions)
  }
}

/** Whether a device can be used on the node. */
function isUsableOn({ nodeName, nodeSelector, allNodes }: DevicePlace, node: Node): boolean {
  if (nodeName !== undefined) return nodeName === node.metadata.name
  if (allNodes === true) return true
  return nodeSelector?.nodeSelectorTerms.some((term) => nodeTermMatcher(term)(node)) === true
}
