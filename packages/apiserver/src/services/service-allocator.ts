import {
  ApiError,
  FieldPath,
  formatCidr,
  formatIp,
  type IpRange,
  invalid,
  invalidField,
  isHeadless,
  type KubernetesObject,
  needsClusterIp,
  needsHealthCheckNodePort,
  needsNodePort,
  noClusterIp,
  parseIp,
  rangeContains,
  type Service,
  type ServicePort,
  type ServiceSpec,
  services,
  sizeOfRange,
} from '@coracle/api'
import type { Random } from '@coracle/environment'
import type { Allocation, Allocator } from '../registry/allocator.ts'
import type { WatchCache } from '../watch-cache/watch-cache.ts'
import { chooseFree, keptBackOf } from './choose.ts'
import { Taken } from './taken.ts'

/** The ports of nodes that services may have. */
export const nodePortsMin = 30_000
export const nodePortsMax = 32_767

/** No more addresses of a range are kept for services that ask for one. */
const keptAddressesMax = 256
const keptPortsMax = 128

/** As many addresses of a range are handed out at most: enough for any cluster, and exact as a number. */
const addressesMax = 2 ** 32

const specPath = FieldPath.of('spec')
const ipsPath = specPath.field('clusterIPs')

type Family = 'IPv4' | 'IPv6'
const familyOf = ({ family }: { readonly family: 4 | 6 }): Family => (family === 4 ? 'IPv4' : 'IPv6')

/** Gives services their addresses and their ports on the nodes. */
export class ServiceAllocator implements Allocator {
  readonly #ranges: () => readonly IpRange[]
  readonly #random: Random
  readonly #cache: WatchCache
  #takenIps: Taken<string> | undefined
  #takenPorts: Taken<number> | undefined

  /** `ranges` are those that addresses come from, the first of which decides the family of most services. */
  constructor(cache: WatchCache, ranges: () => readonly IpRange[], random: Random) {
    this.#cache = cache
    this.#ranges = ranges
    this.#random = random
  }

  allocate(object: KubernetesObject, old: KubernetesObject | undefined): Allocation {
    const service = object as Service
    const before = old as Service | undefined
    if (before !== undefined && before.spec === service.spec) return { object, release: () => {} }
    const ips = new SetAside(this.#ips)
    const ports = new SetAside(this.#ports)
    const release = (): void => {
      ips.release()
      ports.release()
    }
    try {
      const withIps = this.#withClusterIps(service, before?.spec, ips)
      return { object: this.#withNodePorts(withIps, before?.spec, ports), release }
    } catch (error) {
      release()
      throw error
    }
  }

  get #ips(): Taken<string> {
    this.#takenIps ??= new Taken(this.#cache, (object) =>
      ((object as Service).spec.clusterIPs ?? []).filter((ip) => ip !== noClusterIp),
    )
    return this.#takenIps
  }

  get #ports(): Taken<number> {
    this.#takenPorts ??= new Taken(this.#cache, (object) => nodePortsOf((object as Service).spec))
    return this.#takenPorts
  }

  #withClusterIps(service: Service, old: ServiceSpec | undefined, setAside: SetAside<string>): Service {
    const { spec } = service
    if (!needsClusterIp(spec)) return service
    const ranges = this.#ranges()
    if (isHeadless(spec)) return withSpec(service, headlessFamilies(spec, ranges))
    const own = new Set(old?.clusterIPs)
    const given = spec.clusterIPs ?? []
    for (const [index, ip] of given.entries()) {
      // What is no address is refused by validation.
      if (!own.has(ip) && parseIp(ip) !== undefined) this.#take(service, ip, index, ranges, setAside)
    }
    const families = familiesOf(service, given, ranges)
    const missing = families.slice(given.length)
    const clusterIPs = [...given, ...missing.map((family) => this.#choose(family, ranges, setAside))]
    if (clusterIPs.length === 0) return service
    return withSpec(service, {
      clusterIP: clusterIPs[0],
      clusterIPs,
      ipFamilies: families,
      ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack',
    })
  }

  /** Takes the address that a service asks for. */
  #take(service: Service, ip: string, index: number, ranges: readonly IpRange[], setAside: SetAside<string>): void {
    const address = parseIp(ip)
    const refuse = (why: string): never => {
      const detail = `failed to allocate IP ${ip}: ${why}`
      throw invalid(services, service.metadata.name ?? '', [
        invalidField(ipsPath, service.spec.clusterIPs ?? [], detail),
      ])
    }
    if (address === undefined) return
    const family = ranges.filter((range) => range.family === address.family)
    if (family.length === 0 && index > 0) return
    if (!family.some((range) => rangeContains(range, address))) {
      const valid = family.map(formatCidr).join(', ')
      refuse(`the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${valid}`)
    }
    if (!setAside.take(ip)) refuse('provided IP is already allocated')
  }

  #choose(family: Family, ranges: readonly IpRange[], setAside: SetAside<string>): string {
    for (const range of ranges.filter((each) => familyOf(each) === family)) {
      const all = Number(sizeOfRange(range) > BigInt(addressesMax) ? BigInt(addressesMax) : sizeOfRange(range))
      // The first address names the network, the second is that of the API; the last of IPv4 reaches all.
      const size = all - 2 - (range.family === 4 ? 1 : 0)
      const addressOf = (value: number): string =>
        formatIp({ family: range.family, value: range.base + 2n + BigInt(value) })
      const isTaken = (value: number): boolean => setAside.isTaken(addressOf(value))
      const kept = keptBackOf(size, keptAddressesMax)
      const value = size > 0 ? chooseFree(size, kept, isTaken, () => this.#random.next()) : undefined
      if (value === undefined) continue
      setAside.take(addressOf(value))
      return addressOf(value)
    }
    throw new ApiError(500, 'InternalError', 'Internal error occurred: failed to allocate a serviceIP: range is full')
  }

  #withNodePorts(service: Service, old: ServiceSpec | undefined, setAside: SetAside<number>): Service {
    const { spec } = service
    const own = new Set(old === undefined ? [] : nodePortsOf(old))
    const take = (port: number, path: FieldPath): void => {
      if (own.has(port)) return
      const refuse = (why: string): never => {
        throw invalid(services, service.metadata.name ?? '', [invalidField(path, port, why)])
      }
      if (port < nodePortsMin || port > nodePortsMax) {
        const range = `${nodePortsMin}-${nodePortsMax}`
        refuse(`provided port is not in the valid range. The range of valid ports is ${range}`)
      }
      if (!setAside.take(port)) refuse('provided port is already allocated')
    }
    const changes: Partial<ServiceSpec> = {}
    if (needsNodePort(spec) && spec.ports !== undefined) {
      const given = new Map<number, string>()
      for (const [index, { nodePort = 0, protocol = 'TCP' }] of spec.ports.entries()) {
        // One port of the nodes may be there for several protocols.
        const isShared = given.has(nodePort) && given.get(nodePort) !== protocol
        if (nodePort === 0 || isShared) continue
        given.set(nodePort, protocol)
        take(nodePort, specPath.field('ports').index(index).field('nodePort'))
      }
      Object.assign(changes, { ports: this.#completePorts(spec.ports, setAside) })
    }
    if (needsHealthCheckNodePort(spec)) {
      const { healthCheckNodePort = 0 } = spec
      if (healthCheckNodePort !== 0) take(healthCheckNodePort, specPath.field('healthCheckNodePort'))
      else Object.assign(changes, { healthCheckNodePort: this.#choosePort(setAside) })
    }
    return Object.keys(changes).length === 0 ? service : withSpec(service, changes)
  }

  /** Ports of one number but different protocols get one port of the nodes. */
  #completePorts(ports: readonly ServicePort[], setAside: SetAside<number>): readonly ServicePort[] {
    const byPort = new Map<number, { readonly nodePort: number; readonly protocols: Set<string> }>()
    for (const { port, nodePort = 0, protocol = 'TCP' } of ports) {
      if (nodePort !== 0 && !byPort.has(port)) byPort.set(port, { nodePort, protocols: new Set([protocol]) })
    }
    return ports.map((each) => {
      if (each.nodePort) return each
      const { port, protocol = 'TCP' } = each
      const shared = byPort.get(port)
      if (shared !== undefined && !shared.protocols.has(protocol)) {
        shared.protocols.add(protocol)
        return { ...each, nodePort: shared.nodePort }
      }
      const nodePort = this.#choosePort(setAside)
      if (shared === undefined) byPort.set(port, { nodePort, protocols: new Set([protocol]) })
      return { ...each, nodePort }
    })
  }

  #choosePort(setAside: SetAside<number>): number {
    const size = nodePortsMax - nodePortsMin + 1
    const isTaken = (value: number): boolean => setAside.isTaken(nodePortsMin + value)
    const value = chooseFree(size, keptBackOf(size, keptPortsMax), isTaken, () => this.#random.next())
    if (value === undefined) {
      throw new ApiError(500, 'InternalError', 'Internal error occurred: failed to allocate a nodePort: range is full')
    }
    setAside.take(nodePortsMin + value)
    return nodePortsMin + value
  }
}

/** What one write has set aside. */
class SetAside<V> {
  readonly #taken: Taken<V>
  readonly #values: V[] = []

  constructor(taken: Taken<V>) {
    this.#taken = taken
  }

  isTaken(value: V): boolean {
    return this.#taken.has(value)
  }

  /** False where somebody has it. */
  take(value: V): boolean {
    if (this.#taken.has(value)) return false
    this.#taken.setAside(value)
    this.#values.push(value)
    return true
  }

  release(): void {
    for (const value of this.#values) this.#taken.free(value)
    this.#values.length = 0
  }
}

const nodePortsOf = ({ ports = [], healthCheckNodePort = 0 }: ServiceSpec): readonly number[] =>
  [...new Set(ports.map(({ nodePort = 0 }) => nodePort)), healthCheckNodePort].filter((port) => port !== 0)

/** The families that a service has addresses of: those it names or has addresses of, then what its policy asks for. */
function familiesOf(service: Service, given: readonly string[], ranges: readonly IpRange[]): readonly Family[] {
  const { ipFamilies = [], ipFamilyPolicy } = service.spec
  const available = [...new Set(ranges.map(familyOf))]
  const named = new Set<Family>(
    ipFamilies.length > 0 ? (ipFamilies as readonly Family[]) : given.flatMap((ip) => parseIp(ip) ?? []).map(familyOf),
  )
  if (named.size === 0 && available[0] !== undefined) named.add(available[0])
  if (ipFamilyPolicy === 'RequireDualStack' && available.length < 2) {
    const why = 'this cluster is not configured for dual-stack services'
    const path = specPath.field('ipFamilyPolicy')
    throw invalid(services, service.metadata.name ?? '', [invalidField(path, ipFamilyPolicy, why)])
  }
  const wantsBoth = ipFamilyPolicy === 'RequireDualStack' || ipFamilyPolicy === 'PreferDualStack'
  if (wantsBoth) for (const family of available) named.add(family)
  const unavailable = [...named].find((family) => !available.includes(family))
  if (unavailable !== undefined && available.length > 0) {
    const why = 'not configured on this cluster'
    const path = specPath.field('ipFamilies').index([...named].indexOf(unavailable))
    throw invalid(services, service.metadata.name ?? '', [invalidField(path, unavailable, why)])
  }
  return [...named]
}

/** A service without an address still has families: those of its endpoints. Without a selector anything may be behind it. */
function headlessFamilies(spec: ServiceSpec, ranges: readonly IpRange[]): Partial<ServiceSpec> {
  const [first] = ranges.map(familyOf)
  const hasSelector = Object.keys(spec.selector ?? {}).length > 0
  const policy = spec.ipFamilyPolicy ?? (hasSelector ? 'SingleStack' : 'RequireDualStack')
  const named = (spec.ipFamilies ?? []) as readonly Family[]
  if (named.length > 0) return { ipFamilies: named, ipFamilyPolicy: policy }
  const main: Family = first ?? 'IPv4'
  const other: Family = main === 'IPv4' ? 'IPv6' : 'IPv4'
  const hasOther = ranges.some((range) => familyOf(range) === other)
  const isDual = policy !== 'SingleStack' && (hasOther || !hasSelector)
  return { ipFamilies: isDual ? [main, other] : [main], ipFamilyPolicy: policy }
}

const withSpec = (service: Service, changes: Partial<ServiceSpec>): Service => ({
  ...service,
  spec: { ...service.spec, ...changes },
})
