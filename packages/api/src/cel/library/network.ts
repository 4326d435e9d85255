/** Addresses, networks and URLs, as Kubernetes has them. */
import { BlockList, isIP } from 'node:net'
import { goQuoted } from '../../go-text.ts'
import { GoUrlError, parseGoRequestUri, parseGoUrl } from '../../go-url.ts'
import { CelError } from '../errors.ts'
import { type CallCost, overload, rewritingCost, stringTraversal, traversalCost } from '../functions.ts'
import { CelList, CelMap, type CelValue, Opaque } from '../values.ts'
import { addressProblem, prefixProblem } from './address-problems.ts'

interface Address {
  readonly text: string
  readonly family: 4 | 6
}
interface Network {
  readonly address: Address
  readonly bits: number
}
type AddressValue = Opaque<Address>
type NetworkValue = Opaque<Network>

/** Zones, and IPv4 in IPv6, are no addresses here. */
function parseAddress(text: string): Address | undefined {
  const family = isIP(text)
  if (family === 0 || text.includes('%')) return undefined
  if (family === 4) return { text, family }
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
  return isMapped(canonical) ? undefined : { text: canonical, family: 6 }
}

/** Whether a canonical text is of an IPv4 address as IPv6 has it. */
const isMapped = (text: string): boolean => /^::ffff:[0-9a-f]+:[0-9a-f]+$/.test(text)

function ip(text: string): AddressValue {
  const problem = addressProblem(text)
  if (problem !== undefined) {
    throw new CelError(`IP Address ${goQuoted(text)} parse error during conversion from string: ${problem}`)
  }
  const address = parseAddress(text)
  if (address !== undefined) return addressOf(address)
  if (text.includes('%')) throw new CelError(`IP address ${goQuoted(text)} with zone value is not allowed`)
  throw new CelError(`IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`)
}

function parseNetwork(text: string): Network | undefined {
  const [head = '', bits = '', ...rest] = text.split('/')
  const address = parseAddress(head)
  if (address === undefined || rest.length > 0 || !/^(0|[1-9]\d*)$/.test(bits)) return undefined
  return Number(bits) <= (address.family === 4 ? 32 : 128) ? { address, bits: Number(bits) } : undefined
}

/** Its size is that of its bytes. */
const addressOf = (address: Address): AddressValue =>
  new Opaque('net.IP', address, address.text, address.family === 4 ? 4 : 16)

/** Its size is that of the bytes that its length covers. */
const networkOf = (network: Network): NetworkValue =>
  new Opaque('net.CIDR', network, `${network.address.text}/${network.bits}`, Math.ceil(network.bits / 8))

function cidr(text: string): NetworkValue {
  const network = parseNetwork(text)
  if (network !== undefined) return networkOf(network)
  const problem =
    prefixProblem(text) === undefined
      ? `IPv4-mapped IPv6 address ${goQuoted(text)} is not allowed`
      : `network address parse error during conversion from string: ${prefixProblem(text)}`
  throw new CelError(`network address parse error during conversion from string: ${problem}`)
}

function listOf(...networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of networks) {
    const network = parseNetwork(text)
    if (network !== undefined) list.addSubnet(network.address.text, network.bits, familyName(network.address))
  }
  return list
}

const familyName = ({ family }: Address): 'ipv4' | 'ipv6' => (family === 4 ? 'ipv4' : 'ipv6')
const isIn =
  (list: BlockList) =>
  ({ value }: AddressValue) =>
    list.check(value.text, familyName(value))

const kinds = {
  isLoopback: listOf('127.0.0.0/8', '::1/128'),
  // Whatever the flags are that IPv6 has before the scope.
  isLinkLocalMulticast: listOf(
    '224.0.0.0/24',
    ...Array.from({ length: 16 }, (_, flags) => `ff${flags.toString(16)}2::/16`),
  ),
  isLinkLocalUnicast: listOf('169.254.0.0/16', 'fe80::/10'),
}
const multicast = listOf('224.0.0.0/4', 'ff00::/8')

function isGlobalUnicast(address: AddressValue): boolean {
  const { text } = address.value
  if (text === '0.0.0.0' || text === '::' || text === '255.255.255.255') return false
  return !isIn(multicast)(address) && !isIn(kinds.isLoopback)(address) && !isIn(kinds.isLinkLocalUnicast)(address)
}

function contains({ value: outer }: NetworkValue, { value: address }: AddressValue): boolean {
  if (outer.address.family !== address.family) return false
  return listOf(`${outer.address.text}/${outer.bits}`).check(address.text, familyName(address))
}

function containsNetwork(outer: NetworkValue, inner: NetworkValue): boolean {
  return inner.value.bits >= outer.value.bits && contains(outer, addressOf(inner.value.address))
}

function addressBits({ text, family }: Address): bigint {
  if (family === 4) return text.split('.').reduce((bits, part) => bits * 256n + BigInt(part), 0n)
  const [head = '', tail] = text.split('::')
  const groups = (part: string): readonly string[] => (part === '' ? [] : part.split(':'))
  const [left, right] = [groups(head), groups(tail ?? '')]
  const all =
    tail === undefined ? left : [...left, ...new Array<string>(8 - left.length - right.length).fill('0'), ...right]
  return all.reduce((bits, part) => bits * 65_536n + BigInt(`0x${part}`), 0n)
}

function masked({ value: { address, bits } }: NetworkValue): NetworkValue {
  const width = address.family === 4 ? 32 : 128
  const shift = BigInt(width - bits)
  const kept = (addressBits(address) >> shift) << shift
  const size = address.family === 4 ? 8 : 16
  const parts = Array.from({ length: width / size }, (_, index) => {
    const part = (kept >> BigInt(width - size * (index + 1))) & (2n ** BigInt(size) - 1n)
    return part.toString(address.family === 4 ? 10 : 16)
  })
  const text = parts.join(address.family === 4 ? '.' : ':')
  return networkOf({ address: parseAddress(text) ?? address, bits })
}

/** Compares as many bytes of two addresses as the network's length covers. */
const inNetwork: CallCost = ([network = 1]) => Math.ceil(2 * network * stringTraversal)
/** The same, after the network is masked, and its length. */
const networkInNetwork: CallCost = ([network = 1]) =>
  inNetwork([network], []) + Math.ceil(network * stringTraversal) + 1
/** The same of a text that has to be read first. */
const parsed =
  (cost: CallCost): CallCost =>
  ([network = 1, text = 1]) =>
    cost([network], []) + Math.ceil(text * stringTraversal)

const addresses = [
  overload('isIP(string): bool', (text: string) => parseAddress(text) !== undefined, traversalCost),
  overload('ip(string): net.IP', ip, traversalCost),
  overload('ip.isCanonical(string): bool', (text: string) => ip(text).text === text, rewritingCost),
  overload('net.IP.family(): int', ({ value }: AddressValue) => BigInt(value.family)),
  overload('net.IP.isUnspecified(): bool', ({ text }: AddressValue) => text === '0.0.0.0' || text === '::'),
  overload('net.IP.isGlobalUnicast(): bool', isGlobalUnicast),
  ...Object.entries(kinds).map(([name, list]) => overload(`net.IP.${name}(): bool`, isIn(list))),
  overload('string(net.IP): string', ({ text }: AddressValue) => text),
  overload('isCIDR(string): bool', (text: string) => parseNetwork(text) !== undefined, traversalCost),
  overload('cidr(string): net.CIDR', cidr, traversalCost),
  overload('net.CIDR.containsIP(net.IP): bool', contains, inNetwork),
  overload(
    'net.CIDR.containsIP(string): bool',
    (network: NetworkValue, text: string) => contains(network, ip(text)),
    parsed(inNetwork),
  ),
  overload('net.CIDR.containsCIDR(net.CIDR): bool', containsNetwork, networkInNetwork),
  overload(
    'net.CIDR.containsCIDR(string): bool',
    (network: NetworkValue, text: string) => containsNetwork(network, cidr(text)),
    parsed(networkInNetwork),
  ),
  overload('net.CIDR.ip(): net.IP', ({ value }: NetworkValue) => addressOf(value.address)),
  overload('net.CIDR.masked(): net.CIDR', masked),
  overload('net.CIDR.prefixLength(): int', ({ value }: NetworkValue) => BigInt(value.bits)),
  overload('string(net.CIDR): string', ({ text }: NetworkValue) => text),
]

type UrlValue = Opaque<UrlParts>

interface UrlParts {
  readonly scheme: string
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly escapedPath: string
  readonly query: string
}

/** An absolute URL, whose fragment belongs neither to its path nor to its query. Throws a GoUrlError. */
function parseUrl(text: string): UrlParts {
  const asked = parseGoRequestUri(text)
  const { scheme, host, path, query } = text === '*' ? asked : parseGoUrl(text)
  const [, hostname = host, port = ''] = /^(\[.*\]|[^:]*)(?::(\d*))?$/.exec(host) ?? []
  const bare = hostname.replace(/^\[|\]$/g, '')
  if (hostname.startsWith('[') && isIP(bare.replace(/%25.*$/, '')) !== 6) throw new GoUrlError('invalid host')
  return { scheme, host, hostname: bare.replace('%25', '%'), port, escapedPath: escapedPath(path), query }
}

const escapableBytes = /[^\w.~$&+,/:;=@-]/g

/** A path as it was written, unless it has what Go writes in another way. */
function escapedPath(path: string): string {
  if (/^[\w.~!$&'()*+,/:;=@[\]%-]*$/.test(path)) return path
  const bytes = unescapedBytes(path).toString('latin1')
  return bytes.replace(escapableBytes, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
}

const unescapedBytes = (text: string): Buffer =>
  Buffer.from(
    Buffer.from(text)
      .toString('latin1')
      .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

function isUrl(text: string): boolean {
  try {
    parseUrl(text)
    return true
  } catch {
    return false
  }
}

function url(text: string): UrlValue {
  try {
    return new Opaque('kubernetes.URL', parseUrl(text), text)
  } catch (error) {
    if (!(error instanceof GoUrlError)) throw error
    throw new CelError(`URL parse error during conversion from string: ${error.message}`)
  }
}

function queryOf({ value }: UrlValue): CelMap {
  const names = new Map<string, string[]>()
  for (const pair of value.query.split('&')) {
    // Go passes over what it cannot read.
    if (pair === '' || pair.includes(';') || /%(?![0-9a-fA-F]{2})/.test(pair)) continue
    const [[name = '', each = ''] = []] = new URLSearchParams(pair)
    const known = names.get(name)
    if (known === undefined) names.set(name, [each])
    else known.push(each)
  }
  return new CelMap([...names].map(([name, values]): readonly [CelValue, CelValue] => [name, CelList.of(values)]))
}

const urls = [
  overload('isURL(string): bool', isUrl),
  overload('url(string): kubernetes.URL', url, traversalCost),
  overload('kubernetes.URL.getScheme(): string', ({ value }: UrlValue) => value.scheme),
  overload('kubernetes.URL.getHost(): string', ({ value }: UrlValue) => value.host),
  overload('kubernetes.URL.getHostname(): string', ({ value }: UrlValue) => value.hostname),
  overload('kubernetes.URL.getPort(): string', ({ value }: UrlValue) => value.port),
  overload('kubernetes.URL.getEscapedPath(): string', ({ value }: UrlValue) => value.escapedPath),
  overload('kubernetes.URL.getQuery(): map<string, list<string>>', queryOf),
]

export const network = [...addresses, ...urls]
