import {
  ApiError,
  FieldPath,
  formatCidr,
  formatIp,
  type IpAddress,
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
import { type Family, withIpFamilies } from './ip-families.ts'
import type { SetAside } from './set-aside.ts'

/** No more addresses of a range are kept for services that ask for one. */
const keptAddressesMax = 256

/** As many addresses of a range are handed out at most: enough for any cluster, and exact as a number. */
const addressesMax = 2 ** 32

const specPath = FieldPath.of('spec')
const ipsPath = specPath.field('clusterIPs')

const familyOf = ({ family }: { readonly family: 4 | 6 }): Family => (family === 4 ? 'IPv4' : 'IPv6')

/** The addresses that a service has, in their usual form. */
export function clusterIpsOf({ clusterIPs = [] }: ServiceSpec): readonly string[] {
  return clusterIPs.filter((ip) => ip !== noClusterIp).map(canonicalIp)
}

/** Whether services may have an address of a range: the first one names the network, the last of IPv4 reaches all. */
function isForServices(range: IpRange, address: IpAddress): boolean {
  const last = range.base + sizeOfRange(range) - 1n
  return rangeContains(range, address) && address.value !== range.base && (range.family === 6 || address.value !== last)
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

  /**
   * The service with its addresses and families. Throws an ApiError for what it asks for and cannot have. Without `known` ranges
   * it gets none.
   */
  complete(
    service: Service,
    old: ServiceSpec | undefined,
    known: readonly IpRange[] | undefined,
    setAside: SetAside<string>,
  ): Service {
    if (!needsClusterIp(service.spec)) return service
    const ranges = known ?? []
    // While all ranges are going the cluster has a family all the same: whoever needs an address is told that there is none.
    const families = known?.length === 0 ? (['IPv4'] as const) : [...new Set(ranges.map(familyOf))]
    const settled = withIpFamilies(service, old, families)
    if (isHeadless(settled.spec)) return settled
    const own = new Set(old === undefined ? [] : clusterIpsOf(old))
    const { clusterIPs: given = [], ipFamilies = [] } = settled.spec
    for (const [index, ip] of given.entries()) {
      // What is no address is refused by validation.
      if (!own.has(canonicalIp(ip)) && parseIp(ip) !== undefined) this.#take(service, ip, index, ranges, setAside)
    }
    const missing = (ipFamilies as readonly Family[]).slice(given.length)
    const clusterIPs = [...given, ...missing.map((family) => this.#choose(service, family, ranges, setAside))]
    if (clusterIPs.length === 0) return settled
    return { ...settled, spec: { ...settled.spec, clusterIP: clusterIPs[0], clusterIPs } as ServiceSpec }
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
    if (!family.some((range) => isForServices(range, address))) {
      const valid = family.map(formatCidr).join(', ')
      refuse(`the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${valid}`)
    }
    if (!setAside.take(canonicalIp(ip))) refuse('provided IP is already allocated')
  }

  #choose({ metadata }: Service, family: Family, ranges: readonly IpRange[], setAside: SetAside<string>): string {
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
    const why = `failed to allocate a serviceIP for Service ${JSON.stringify(metadata.name ?? '')}: range is full`
    throw new ApiError(500, 'InternalError', `Internal error occurred: ${why}`)
  }
}
