import { formatIp } from '@coracle/api'

const ipv4Zone = '.in-addr.arpa'
const ipv6Zone = '.ip6.arpa'

/** The address that a name of the reverse zones is of, as `formatIp` writes it; undefined for other names. */
export function reverseName(name: string): string | undefined {
  if (name.endsWith(ipv4Zone)) {
    const parts = name.slice(0, -ipv4Zone.length).split('.')
    const isAddress = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
    return isAddress ? parts.reverse().join('.') : undefined
  }
  if (!name.endsWith(ipv6Zone)) return undefined
  const digits = name.slice(0, -ipv6Zone.length).split('.')
  if (digits.length !== 32 || !digits.every((digit) => /^[\da-f]$/.test(digit))) return undefined
  return formatIp({ family: 6, value: BigInt(`0x${digits.reverse().join('')}`) })
}
