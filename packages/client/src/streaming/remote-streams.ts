import type { Readable, Writable } from 'node:stream'
import type { Clock } from '@coracle/environment'
import type { HttpClient } from '../http-client.ts'
import { ChannelSocket } from './channel-socket.ts'
import type { OpenedSpdy } from './open-spdy.ts'
import { commandChannels, streamHeaders } from './protocols.ts'
import { SpdySession } from './spdy/spdy-session.ts'
import type { SpdyStream } from './spdy/spdy-stream.ts'
import { mayConnectOtherwise } from './upgrade-error.ts'

/** The first in which the outcome is a Status; servers have it since 1.4. */
export const statusProtocol = 'v4.channel.k8s.io'
/** The first over WebSockets in which an input can end; servers have it since 1.30. */
const endsInputProtocol = 'v5.channel.k8s.io'

/** The streams of a command that runs elsewhere, whatever carries them. */
export interface RemoteStreams {
  readable(name: 'stdout' | 'stderr' | 'error'): Readable
  writable(name: 'stdin' | 'resize'): Writable
  /** Says that nothing more comes on `stdin`. */
  endInput(): void
  /** What comes is delivered from here on. */
  start(): void
  /** Ends the connection at once. */
  close(): void
}

/** Which streams a command has. */
export interface WantedStreams {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly resize: boolean
}

/**
 * Opens the streams of a command: over a WebSocket, or over SPDY where that is not to be had, or cannot tell
 * that an input has ended.
 */
export async function openRemoteStreams(
  client: HttpClient,
  clock: Clock,
  path: string,
  wanted: WantedStreams,
): Promise<RemoteStreams> {
  try {
    return await overWebSocket(client, clock, path, wanted)
  } catch (error) {
    if (!mayConnectOtherwise(error)) throw error
    return overSpdy(client, clock, path, wanted)
  }
}

async function overWebSocket(
  client: HttpClient,
  clock: Clock,
  path: string,
  { stdin }: WantedStreams,
): Promise<RemoteStreams> {
  const protocols = stdin ? [endsInputProtocol] : [endsInputProtocol, statusProtocol]
  const { socket } = await client.openWebSocket(path, protocols)
  const channels = new ChannelSocket(socket, { clock, isBase64: false })
  return {
    readable: (name) => channels.readable(commandChannels[name]),
    writable: (name) => channels.writable(commandChannels[name]),
    endInput: () => channels.endChannel(commandChannels.stdin),
    start: () => socket.resume(),
    close: () => socket.terminate(),
  }
}

async function overSpdy(client: HttpClient, clock: Clock, path: string, wanted: WantedStreams): Promise<RemoteStreams> {
  return openSpdyStreams(await client.openSpdy(path, [statusProtocol]), clock, wanted)
}

/** Opens the streams of a command on a connection for SPDY, on which `statusProtocol` is spoken. */
export async function openSpdyStreams(
  { connection, head }: OpenedSpdy,
  clock: Clock,
  wanted: WantedStreams,
): Promise<RemoteStreams> {
  const session = new SpdySession(connection, { role: 'client', clock }, head)
  const streams = new Map<string, SpdyStream>()
  const names = (['stdin', 'stdout', 'stderr'] as const).filter((name) => wanted[name])
  const all = ['error', ...names, ...(wanted.resize ? ['resize'] : [])]
  try {
    for (const type of all) streams.set(type, await session.openStream(new Map([[streamHeaders.type, type]])))
  } catch (error) {
    connection.destroy()
    throw error
  }
  const streamOf = (name: string): SpdyStream => {
    const stream = streams.get(name)
    if (stream === undefined) throw new Error(`the connection has no stream ${name}`)
    return stream
  }
  return {
    readable: streamOf,
    writable: streamOf,
    // The stream ends with what is piped into it.
    endInput: () => {},
    start: () => {
      // Nothing comes on these.
      for (const name of ['stdin', 'resize']) streams.get(name)?.resume()
    },
    close: () => connection.destroy(),
  }
}
