/** Checks of addresses of the network and of ranges of them, in the words of core/validation. */
import { BlockList, isIP } from 'node:net'
import { type FieldError, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { formatIp, parseCidr, parseIp } from '../ip.ts'
import type { ObjectMeta } from '../meta.ts'
import { checkFormat } from '../string-formats.ts'

/** 4 or 6; 0 for what is no address. */
export const addressFamily = (address: string): 0 | 4 | 6 => isIP(address) as 0 | 4 | 6

/** The same for an address whose numbers may begin with zeros. */
export const looseAddressFamily = (address: string): 0 | 4 | 6 => addressFamily(address.replaceAll(/\b0+(?=\d)/g, ''))

/** 4 or 6; 0 for what is no range of addresses. */
export const cidrFamily = (cidr: string): 0 | 4 | 6 => parseCidr(cidr)?.family ?? 0

/** The same for a range whose numbers may begin with zeros. */
export const looseCidrFamily = (cidr: string): 0 | 4 | 6 => cidrFamily(cidr.replaceAll(/\b0+(?=\d)/g, ''))

export function checkIp(address: string, path: FieldPath): readonly FieldError[] {
  return checkFormat('ip', address).map((problem) => invalidField(path, address, problem))
}

/** An address in the form in which Go writes it. */
export function checkCanonicalIp(address: string, path: FieldPath): readonly FieldError[] {
  const ip = parseIp(address)
  if (ip === undefined) return checkIp(address, path)
  if (ip.family === 6 && ip.value >> 32n === 0xffffn) {
    return [invalidField(path, address, 'must not be an IPv4-mapped IPv6 address')]
  }
  const canonical = formatIp(ip)
  return canonical === address ? [] : [invalidField(path, address, `must be in canonical form ("${canonical}")`)]
}

export function checkCidr(cidr: string, path: FieldPath): readonly FieldError[] {
  if (cidrFamily(cidr) !== 0) return []
  if (looseCidrFamily(cidr) !== 0) return [invalidField(path, cidr, 'must not have leading 0s in IP or prefix length')]
  return [invalidField(path, cidr, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
}

/** A range that is written as such: no address with the length of its network's prefix, and no IPv4 address in the form of an IPv6 one. */
export function checkStrictCidr(cidr: string, path: FieldPath): readonly FieldError[] {
  const range = parseCidr(cidr)
  const ip = parseIp(cidr.slice(0, cidr.indexOf('/')))
  if (range === undefined || ip === undefined) return checkCidr(cidr, path)
  if (ip.family === 6 && ip.value >> 32n === 0xffffn) {
    return [invalidField(path, cidr, 'must not have an IPv4-mapped IPv6 address')]
  }
  return ip.value === range.base ? [] : [invalidField(path, cidr, 'must not have bits set beyond the prefix length')]
}

interface SpecialRange {
  readonly why: string
  readonly range: BlockList
}

function special(why: string, ipv4: readonly [string, number], ipv6: readonly [string, number]): SpecialRange {
  const range = new BlockList()
  range.addSubnet(...ipv4, 'ipv4')
  range.addSubnet(...ipv6, 'ipv6')
  return { why, range }
}

const specialRanges: readonly SpecialRange[] = [
  special('may not be in the loopback range (127.0.0.0/8, ::1/128)', ['127.0.0.0', 8], ['::1', 128]),
  special('may not be in the link-local range (169.254.0.0/16, fe80::/10)', ['169.254.0.0', 16], ['fe80::', 10]),
  special(
    'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)',
    ['224.0.0.0', 24],
    // Upstream's message names a wider range than it looks at.
    ['ff02::', 16],
  ),
]

/** An address that means something else to each machine, so that no other can be reached by it. Of addresses only. */
export function checkNonSpecialIp(address: string, path: FieldPath): readonly FieldError[] {
  const family = addressFamily(address) === 4 ? 'ipv4' : 'ipv6'
  if (/^(?:0\.0\.0\.0|[0:]+)$/.test(address)) {
    return [invalidField(path, address, `may not be unspecified (${address})`)]
  }
  return specialRanges
    .filter(({ range }) => range.check(address, family))
    .map(({ why }) => invalidField(path, address, why))
}

/** An object that says what is behind a service: the name of the service is its own, or in its labels. */
interface SaysWhatIsBehind {
  readonly metadata: ObjectMeta
}

/** Whether it is about the Service by which pods find the API. */
function isOfApiServers({ metadata: { namespace, name, labels } }: SaysWhatIsBehind): boolean {
  return namespace === 'default' && (labels?.['kubernetes.io/service-name'] ?? name) === 'kubernetes'
}

const anyService: SaysWhatIsBehind = { metadata: {} }

/** Whether an address may be behind services in general, see `checkEndpointIp`. */
export const mayBeEndpoint = (address: string): boolean =>
  checkEndpointIp(address, FieldPath.root, anyService).length === 0

/**
 * An address behind a service. Pods that are processes of this host have addresses from 127.1.0.0 to 127.254.255.255, which
 * every other cluster refuses; 127.0.0.0/16 is refused here too, since everybody's own services are there. A server of the API
 * that this host alone reaches is there as well, and such pods reach it.
 */
export function checkEndpointIp(address: string, path: FieldPath, of: SaysWhatIsBehind): readonly FieldError[] {
  const [first, second = ''] = address.split('.')
  const isOfPod = addressFamily(address) === 4 && first === '127' && second !== '0' && second !== '255'
  const isOfServer = isOfApiServers(of) && (address === '::1' || (addressFamily(address) === 4 && first === '127'))
  return isOfPod || isOfServer ? [] : checkNonSpecialIp(address, path)
}
