/** Warnings of addresses that are taken but hardly meant so, in the words of apimachinery's GetWarningsForIP and GetWarningsForCIDR. */
import type { FieldPath } from '../field-path.ts'
import { formatCidr, formatIp, type IpAddress, parseCidr, parseIp } from '../ip.ts'

/** Warns of an address that is not written as usual. */
export function ipWarnings(text: string | undefined, path: FieldPath): readonly string[] {
  // Addresses of IPv4 can only be written in one way.
  const ip = text?.includes(':') === true ? parseIp(text) : undefined
  if (text === undefined || ip === undefined) return []
  const mapped = mappedIpv4(ip)
  if (mapped !== undefined) return [`${path}: non-standard IP address "${text}" is invalid: use "${mapped}"`]
  const usual = formatIp(ip)
  return usual === text ? [] : [`${path}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${usual}")`]
}

/** Warns of a range that is not written as usual, or that seems to be an address with the length of its network's prefix. */
export function cidrWarnings(text: string | undefined, path: FieldPath): readonly string[] {
  if (text === undefined) return []
  const range = parseCidr(text)
  const ip = parseIp(text.slice(0, text.indexOf('/')))
  if (range === undefined || ip === undefined) return []
  const usual = formatCidr(range)
  if (ip.value !== range.base) {
    const single = formatCidr({ ...range, base: ip.value, prefixLength: ip.family === 4 ? 32 : 128 })
    return [`${path}: CIDR value "${text}" is ambiguous in this context (should be "${usual}" or "${single}"?)`]
  }
  if (usual === text) return []
  return [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${usual}")`]
}

/** The IPv4 address that is written as an IPv6 address (::ffff:10.0.0.1). */
function mappedIpv4({ value }: IpAddress): string | undefined {
  return value >> 32n === 0xffffn ? formatIp({ family: 4, value: value & 0xffffffffn }) : undefined
}
