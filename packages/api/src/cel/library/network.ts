/** Addresses, networks and URLs, as Kubernetes has them. */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { goQuoted } from '../../go-text.ts'
import { CelError } from '../errors.ts'
import { type CallCost, overload, rewritingCost, stringTraversal, traversalCost } from '../functions.ts'
import { CelList, CelMap, type CelValue, Opaque } from '../values.ts'

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
  if (family === 0 || text.includes('%') || /^::ffff:.*\./i.test(text)) return undefined
  return family === 4 ? { text, family } : { text: new URL(`http://[${text}]`).hostname.slice(1, -1), family: 6 }
}

function ip(text: string): AddressValue {
  const address = parseAddress(text)
  if (address === undefined)
    throw new CelError(`IP Address ${JSON.stringify(text)} parse error during conversion from string`)
  return new Opaque('net.IP', address, address.text)
}

function parseNetwork(text: string): Network | undefined {
  const [head = '', bits = '', ...rest] = text.split('/')
  const address = parseAddress(head)
  if (address === undefined || rest.length > 0 || !/^(0|[1-9]\d*)$/.test(bits)) return undefined
  return Number(bits) <= (address.family === 4 ? 32 : 128) ? { address, bits: Number(bits) } : undefined
}

function networkOf(network: Network): NetworkValue {
  return new Opaque('net.CIDR', network, `${network.address.text}/${network.bits}`)
}

function cidr(text: string): NetworkValue {
  const network = parseNetwork(text)
  if (network !== undefined) return networkOf(network)
  throw new CelError(`network address parse error during conversion from string: ${JSON.stringify(text)}`)
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
  isLinkLocalMulticast: listOf('224.0.0.0/24', 'ff02::/16'),
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
  const first = new Opaque('net.IP', inner.value.address, '')
  return inner.value.bits >= outer.value.bits && contains(outer, first)
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

const addressBytesMax = 16
/** Compares two addresses, byte by byte. */
const inNetwork: CallCost = () => Math.ceil(2 * addressBytesMax * stringTraversal)
/** The same, after the network is masked, and its length. */
const networkInNetwork: CallCost = () => inNetwork([], []) + Math.ceil(addressBytesMax * stringTraversal) + 1
/** The same of a text that has to be read first. */
const parsed =
  (cost: CallCost): CallCost =>
  ([, text = 1]) =>
    cost([], []) + Math.ceil(text * stringTraversal)

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
  overload(
    'net.CIDR.ip(): net.IP',
    ({ value }: NetworkValue) => new Opaque('net.IP', value.address, value.address.text),
  ),
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

const urlPattern =
  /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^/?#:[\]]*)(?::(\d*))?)?([^?]*)(?:\?(.*))?$/

/** As Go reads what is asked of a server: with a scheme, or a path from the root. Nothing is made canonical. */
function parseUrl(text: string): UrlParts | undefined {
  const parts = urlPattern.exec(text)
  if (parts === null || text === '' || /[\s\p{Cc}]/u.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) return undefined
  const [, scheme = '', hostname = '', port, path = '', query = ''] = parts
  if (scheme === '' && !text.startsWith('/')) return undefined
  if (hostname.startsWith('[') && isIPv4(hostname.slice(1, -1))) return undefined
  const host = port === undefined ? hostname : `${hostname}:${port}`
  return {
    scheme: scheme.toLowerCase(),
    host,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port ?? '',
    escapedPath: path,
    query,
  }
}

function url(text: string): UrlValue {
  const parts = parseUrl(text)
  if (parts !== undefined) return new Opaque('kubernetes.URL', parts, text)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are looked for
  const problem = /[\x00-\x1f\x7f]/.test(text) ? 'net/url: invalid control character in URL' : 'invalid URI for request'
  throw new CelError(`URL parse error during conversion from string: parse ${goQuoted(text)}: ${problem}`)
}

function queryOf({ value }: UrlValue): CelMap {
  const names = new Map<string, string[]>()
  for (const [name, each] of new URLSearchParams(value.query)) {
    const known = names.get(name)
    if (known === undefined) names.set(name, [each])
    else known.push(each)
  }
  return new CelMap([...names].map(([name, values]): readonly [CelValue, CelValue] => [name, CelList.of(values)]))
}

const urls = [
  overload('isURL(string): bool', (text: string) => parseUrl(text) !== undefined),
  overload('url(string): kubernetes.URL', url, traversalCost),
  overload('kubernetes.URL.getScheme(): string', ({ value }: UrlValue) => value.scheme),
  overload('kubernetes.URL.getHost(): string', ({ value }: UrlValue) => value.host),
  overload('kubernetes.URL.getHostname(): string', ({ value }: UrlValue) => value.hostname),
  overload('kubernetes.URL.getPort(): string', ({ value }: UrlValue) => value.port),
  overload('kubernetes.URL.getEscapedPath(): string', ({ value }: UrlValue) => value.escapedPath),
  overload('kubernetes.URL.getQuery(): map<string, list<string>>', queryOf),
]

export const network = [...addresses, ...urls]
