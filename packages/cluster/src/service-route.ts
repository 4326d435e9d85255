import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { BlockList, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { promisify } from 'node:util'
import type { Environment } from '@coracle/environment'

const run = promisify(execFile)

/**
 * Makes a range of addresses this host's, so that a proxy can listen at the addresses of services, for the host and for pods that have it as
 * their gateway: a local route, which takes root. Gives the way to take it back. Where it cannot be had that is logged, and so is a range
 * with an address of this host in it: its neighbours would not be reached any more.
 *
 * Each data directory has a route of its own, told apart by its metric: a cluster that ends takes nothing from another one of the same
 * range, and one that was killed finds its route again.
 */
export async function routeToHost(
  range: string,
  dataDirectory: string,
  { logger }: Pick<Environment, 'logger'>,
): Promise<() => Promise<void>> {
  const own = ownAddressIn(range)
  if (own !== undefined) {
    logger.warn('addresses of services are not reached: their range has an address of this host in it', { range, own })
    return async () => {}
  }
  const route = ['local', range, 'dev', 'lo', 'metric', String(metricOf(dataDirectory))]
  try {
    await run('ip', ['route', 'replace', ...route])
  } catch (error) {
    logger.warn('addresses of services are not reached: no local route could be made to them', { range, error })
    return async () => {}
  }
  return async () => {
    await run('ip', ['route', 'delete', ...route]).catch(() => {})
  }
}

/** A number of 32 bits above zero, the same for the same directory. */
const metricOf = (directory: string): number => createHash('sha256').update(directory).digest().readUInt32BE() || 1

/** An address that a network interface of this host has in the range, if any. What is no range has none. */
function ownAddressIn(range: string): string | undefined {
  const [network = '', prefix = ''] = range.split('/')
  const block = new BlockList()
  try {
    block.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4')
  } catch {
    return undefined
  }
  const all = Object.values(networkInterfaces()).flatMap((addresses = []) => addresses)
  return all.find(({ address, family }) => block.check(address, family === 'IPv6' ? 'ipv6' : 'ipv4'))?.address
}
