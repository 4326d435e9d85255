import {
  ApiError,
  FieldPath,
  formatCidr,
  formatIp,
  type IpRange,
  invalid,
  invalidField,
  isHeadless,
  needsClusterIp,
  noClusterIp,
  parseIp,
  rangeContains,
  type Service,
  type ServiceSpec,
  services,
  sizeOfRange,
} from '@coracle/api'
import type { Random } from '@coracle/environment'
import { chooseFree, keptBackOf } from './choose.ts'
import type { SetAside } from './set-aside.ts'

/** No more addresses of a range are kept for services that ask for one. */
const keptAddressesMax = 256

/** As many addresses of a range are handed out at most: enough for any cluster, and exact as a number. */
const addressesMax = 2 ** 32

const specPath = FieldPath.of('spec')
const ipsPath = specPath.field('clusterIPs')

type Family = 'IPv4' | 'IPv6'
const familyOf = ({ family }: { readonly family: 4 | 6 }): Family => (family === 4 ? 'IPv4' : 'IPv6')

/** The addresses that a service has, in their usual form. */
export function clusterIpsOf({ clusterIPs = [] }: ServiceSpec): readonly string[] {
  return clusterIPs.filter((ip) => ip !== noClusterIp).map(canonicalIp)
}

/** An address of IPv4 has one form alone. */
function canonicalIp(text: string): string {
  const ip = text.includes(':') ? parseIp(text) : undefined
  return ip === undefined ? text : formatIp(ip)
}

/** Gives services their addresses, from ranges of which the first one decides the family of most services. */
export class ClusterIps {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  /** The service with its addresses and families. Throws an ApiError for what it asks for and cannot have. */
  complete(
    service: Service,
    old: ServiceSpec | undefined,
    ranges: readonly IpRange[],
    setAside: SetAside<string>,
  ): Service {
    const { spec } = service
    if (!needsClusterIp(spec)) return service
    if (isHeadless(spec)) return withSpec(service, headlessFamilies(spec, ranges))
    const own = new Set(old === undefined ? [] : clusterIpsOf(old))
    const given = spec.clusterIPs ?? []
    for (const [index, ip] of given.entries()) {
      // What is no address is refused by validation.
      if (!own.has(canonicalIp(ip)) && parseIp(ip) !== undefined) this.#take(service, ip, index, ranges, setAside)
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
    if (!setAside.take(canonicalIp(ip))) refuse('provided IP is already allocated')
  }

  #choose(family: Family, ranges: readonly IpRange[], setAside: SetAside<string>): string {
    for (const range of ranges.filter((each) => familyOf(each) === family)) {
      const all = Number(sizeOfRange(range) > BigInt(addressesMax) ? BigInt(addressesMax) : sizeOfRange(range))
      // The first address names the network, the last of IPv4 reaches all.
      const size = all - 1 - (range.family === 4 ? 1 : 0)
      const addressOf = (value: number): string =>
        formatIp({ family: range.family, value: range.base + 1n + BigInt(value) })
      const isTaken = (value: number): boolean => setAside.isTaken(addressOf(value))
      const kept = keptBackOf(size, keptAddressesMax)
      const value = size > 0 ? chooseFree(size, kept, isTaken, () => this.#random.next()) : undefined
      if (value === undefined) continue
      setAside.take(addressOf(value))
      return addressOf(value)
    }
    throw new ApiError(500, 'InternalError', 'Internal error occurred: failed to allocate a serviceIP: range is full')
  }
}

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
