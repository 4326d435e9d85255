import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import type { Environment } from '@coracle/environment'

const run = promisify(execFile)

/**
 * Makes a range of addresses this host's, so that a proxy can listen at the addresses of services, for the host and for pods that have it as
 * their gateway: a local route, which takes root. Gives the way to take it back. Where it cannot be had that is logged.
 *
 * Each data directory has a route of its own, told apart by its metric: a cluster that ends takes nothing from another one of the same
 * range, and one that was killed finds its route again.
 */
export async function routeToHost(
  range: string,
  dataDirectory: string,
  { logger }: Pick<Environment, 'logger'>,
): Promise<() => Promise<void>> {
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
