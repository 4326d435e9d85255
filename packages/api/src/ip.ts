/** IP addresses and ranges of them, as numbers. */
import { isIP } from 'node:net'

/** An address; `value` is its bits as a number. */
export interface IpAddress {
  readonly family: 4 | 6
  readonly value: bigint
}

/** The addresses that share the first `prefixLength` bits of `base`, whose other bits are 0. */
export interface IpRange {
  readonly family: 4 | 6
  readonly base: bigint
  readonly prefixLength: number
}

const bitsOf = (family: 4 | 6): number => (family === 4 ? 32 : 128)

/** Reads an address such as 10.0.0.1 or fd00::1; undefined for what is none. Zones are none. */
export function parseIp(text: string): IpAddress | undefined {
  const family = isIP(text)
  if (family === 4) return { family, value: numberOf(text.split('.').map(Number), 8n) }
  if (family !== 6 || text.includes('%')) return undefined
  return { family, value: numberOf(groupsOf(text), 16n) }
}

/** Whether an address, as it is usually written, is one of the host that uses it: another one on each. */
export const isLoopback = (address: string): boolean => address === '::1' || address.startsWith('127.')

const numberOf = (parts: readonly number[], bits: bigint): bigint =>
  parts.reduce((value, part) => (value << bits) | BigInt(part), 0n)

/** The eight groups of an IPv6 address. The last two may be written as an IPv4 address. */
function groupsOf(text: string): readonly number[] {
  const halves = text.split('::').map((half) => (half === '' ? [] : half.split(':').flatMap(groupsIn)))
  const [head = [], tail = []] = halves
  return halves.length === 1 ? head : [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

function groupsIn(part: string): readonly number[] {
  if (!part.includes('.')) return [Number.parseInt(part, 16)]
  const [a = 0, b = 0, c = 0, d = 0] = part.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}

/** The usual text of an address: for IPv6 the one of RFC 5952. */
export function formatIp({ family, value }: IpAddress): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** Reads a range such as 10.96.0.0/12; undefined for what is none. Bits of the address beyond the prefix are ignored. */
export function parseCidr(text: string): IpRange | undefined {
  const [, address = '', digits = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const ip = parseIp(address)
  const prefixLength = Number(digits)
  if (ip === undefined || prefixLength > bitsOf(ip.family)) return undefined
  const hostBits = BigInt(bitsOf(ip.family) - prefixLength)
  return { family: ip.family, base: (ip.value >> hostBits) << hostBits, prefixLength }
}

/** The usual text of a range. */
export const formatCidr = ({ family, base, prefixLength }: IpRange): string =>
  `${formatIp({ family, value: base })}/${prefixLength}`

/** How many addresses a range has. */
export const sizeOfRange = ({ family, prefixLength }: IpRange): bigint => 1n << BigInt(bitsOf(family) - prefixLength)

/** Whether an address is in a range. */
export function rangeContains(range: IpRange, { family, value }: IpAddress): boolean {
  return range.family === family && value >= range.base && value < range.base + sizeOfRange(range)
}

/** Whether all addresses of a range are in another. */
export const rangeContainsRange = (outer: IpRange, { family, base, prefixLength }: IpRange): boolean =>
  prefixLength >= outer.prefixLength && rangeContains(outer, { family, value: base })
