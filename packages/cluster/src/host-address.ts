import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'

/**
 * The address by which others reach this host, as upstream's node agent chooses it: that of the interface which the default route leads
 * through. Undefined where there is none.
 */
export function hostAddress(): string | undefined {
  const interfaces = networkInterfaces()
  const name = defaultInterface()
  const found = name === undefined ? undefined : interfaces[name]
  return found?.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}

function defaultInterface(): string | undefined {
  try {
    const routes = readFileSync('/proc/net/route', 'utf8').split('\n').slice(1)
    return routes.map((line) => line.split('\t')).find(([, destination]) => destination === '00000000')?.[0]
  } catch {
    return undefined
  }
}
