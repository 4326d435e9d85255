import type { Clock } from '@coracle/environment'
import { type CommandRequest, runOver, wantedStreams } from './command-client.ts'
import { type OpenedSpdy, openSpdy } from './open-spdy.ts'
import { type PortForward, portForwardOver } from './port-forward-client.ts'
import { portForwardSpdyProtocol } from './protocols.ts'
import { openSpdyStreams, statusProtocol } from './remote-streams.ts'
import { SpdySession } from './spdy/spdy-session.ts'

/**
 * Runs a command, or attaches to one, at an address that a container runtime has given for it (CRI's Exec and Attach). The runtime has been
 * told which streams it has; an address is good for one try. Resolves and rejects as `execInPod`.
 */
export async function runCommandAtUrl(url: string, clock: Clock, request: CommandRequest): Promise<number> {
  request.signal?.throwIfAborted()
  const opened = await openAt(url, clock, statusProtocol)
  return runOver(await openSpdyStreams(opened, clock, wantedStreams(request)), request)
}

/** Opens a way to the ports of a pod at an address that a container runtime has given for it (CRI's PortForward). */
export async function openPortForwardAtUrl(url: string, clock: Clock): Promise<PortForward> {
  const { connection, head } = await openAt(url, clock, portForwardSpdyProtocol)
  return portForwardOver(new SpdySession(connection, { role: 'client', clock }, head))
}

function openAt(url: string, clock: Clock, protocol: string): Promise<OpenedSpdy> {
  const { origin, pathname, search } = new URL(url)
  return openSpdy({ server: origin }, {}, clock, pathname + search, [protocol])
}
