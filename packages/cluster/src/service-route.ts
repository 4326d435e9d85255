import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Environment } from '@coracle/environment'

const run = promisify(execFile)

/** The range that services get addresses of where nothing else is said. */
export const serviceRangeDefault = '10.96.0.0/12'

/**
 * Makes a range of addresses this host's, so that a proxy can listen at the addresses of services, for the host and for pods that have it as
 * their gateway: a local route, which takes root. Gives the way to take it back. Where it cannot be had that is logged.
 */
export async function routeToHost(range: string, { logger }: Environment): Promise<() => Promise<void>> {
  const route = ['local', range, 'dev', 'lo']
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
