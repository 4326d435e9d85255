import { isIP, isIPv4, isIPv6 } from 'node:net'
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os'

/** What a server is reached by. */
export interface ReachableHosts {
  /** The host to connect to on this machine; undefined when it is the one that is listened on. */
  readonly local: string | undefined
  /** The address that other machines are told, or pods on this one where no other machine reaches it. */
  readonly advertised: string
  /** Names and addresses that the server's certificate has to cover. */
  readonly all: readonly string[]
}

/** A certificate has room for so many; a machine with more addresses is reached by the first. */
const addressesMax = 64

const loopback = '127.0.0.1'

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>

/**
 * What a server is reached by that listens on `host`. One that listens on all addresses, as `0.0.0.0` and `::` are written, is
 * reached by each of this machine, and here by loopback: that stays the same from network to network.
 */
export function reachableHosts(
  host: string,
  interfaces: Interfaces = networkInterfaces(),
  machineName = hostname(),
): ReachableHosts {
  const canonical = canonicalHost(host)
  if (canonical !== '0.0.0.0' && canonical !== '::') {
    const advertised = isIP(canonical) === 0 || canonical.includes('%') ? loopback : canonical
    return { local: undefined, advertised, all: [host] }
  }
  // Who listens on :: has the addresses of IPv4 too.
  const addresses = Object.values(interfaces)
    .flatMap((list = []) => list)
    .filter(({ internal, family }) => !internal && (family === 'IPv4' || canonical === '::'))
    .map(({ address }) => address)
    .filter((address) => !isLinkLocal(address))
  return {
    local: canonical === '::' ? '[::1]' : loopback,
    advertised: addresses.find(isIPv4) ?? addresses[0] ?? loopback,
    all: [...(isDnsName(machineName) ? [machineName] : []), ...new Set(addresses)].slice(0, addressesMax),
  }
}

/** Addresses have many spellings: `0` is 0.0.0.0, and `0:0::0` is `::`. */
function canonicalHost(host: string): string {
  const url = URL.parse(`https://${host.includes(':') && isIPv6(host) ? `[${host}]` : host}`)
  return url === null ? host : url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Good on one link alone, and only with the name of an interface of this machine. */
const isLinkLocal = (address: string): boolean => isIPv6(address) && /^fe[89ab]/i.test(address)

const isDnsName = (name: string): boolean =>
  name.length <= 253 &&
  !isIPv4(name) &&
  /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?(\.[a-z\d]([a-z\d-]{0,61}[a-z\d])?)*$/i.test(name)
