import { isIP } from 'node:net'
import { isLoopback } from '@coracle/api'
import { hostAddress } from './host-address.ts'
import { reachableHosts } from './reachable-hosts.ts'

/**
 * The address by which other machines reach what listens on `host`, as the ports of nodes do: the address itself, or one of this machine where that stands for
 * all. Undefined where none does.
 */
export function externalAddress(host: string): string | undefined {
  const { local, advertised } = reachableHosts(host)
  const address = local === undefined ? advertised : (hostAddress() ?? advertised)
  return isIP(address) === 0 || isLoopback(address) ? undefined : address
}
