import { readFileSync } from 'node:fs'
import { platform } from 'node:process'

/** Whether it can be seen which connections are asked for: Linux tells. */
export const tellsKeptAlive = platform === 'linux'

/** A timer of the kernel that asks the other end whether it is there; others are for what is yet to be sent, or acknowledged. */
const keepAliveTimer = '02'

/**
 * Whether the kernel asks, from time to time, whether the other end of a connection is there: of one over IPv4 from this host to itself, seen from the end at
 * `localPort`. Undefined: there is no such connection.
 */
export function isKeptAlive(localPort: number, remotePort: number): boolean | undefined {
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)
  for (const line of lines) {
    const [, local = '', remote = '', , , timer = ''] = line.trim().split(/\s+/)
    if (portOf(local) === localPort && portOf(remote) === remotePort) return timer.startsWith(`${keepAliveTimer}:`)
  }
  return undefined
}

const portOf = (end: string): number => Number.parseInt(end.split(':')[1] ?? '', 16)
