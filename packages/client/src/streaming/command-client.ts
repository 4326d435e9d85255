import type { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { finished, pipeline } from 'node:stream/promises'
import { ApiError, pods, type Status } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { ObjectKey } from '../client.ts'
import type { HttpClient } from '../http-client.ts'
import { objectPath } from '../resource-path.ts'
import { ChannelSocket } from './channel-socket.ts'
import type { CommandStreams } from './command-streams.ts'
import { commandChannels, protocolVersion } from './protocols.ts'
import { terminalSizeText } from './terminal-sizes.ts'

/** Those in which the outcome is a Status; servers older than 1.30 have no v5, and with them an input that ends is not told. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

export interface CommandRequest extends CommandStreams {
  /** Absent: the pod's only container. */
  readonly container?: string
  /** Whether there is a terminal at the other end; then all output is `stdout`'s. */
  readonly tty?: boolean
  /** Ends the connection, and by that the command. */
  readonly signal?: AbortSignal
}

export interface ExecRequest extends CommandRequest {
  readonly command: readonly string[]
}

/**
 * Runs a command in a container of a pod. Resolves with its exit code when all it wrote has been given to the streams, which are
 * left open. Rejects with an ApiError where it could not be run, and with an Error where the connection has broken.
 */
export function execInPod(client: HttpClient, clock: Clock, key: ObjectKey, request: ExecRequest): Promise<number> {
  return connect(client, clock, key, 'exec', request, request.command)
}

/** Connects streams to what a container runs, until it ends. Resolves and rejects as `execInPod`; the exit code is not known. */
export async function attachToPod(
  client: HttpClient,
  clock: Clock,
  key: ObjectKey,
  request: CommandRequest,
): Promise<void> {
  await connect(client, clock, key, 'attach', request, [])
}

async function connect(
  client: HttpClient,
  clock: Clock,
  key: ObjectKey,
  subresource: 'exec' | 'attach',
  request: CommandRequest,
  command: readonly string[],
): Promise<number> {
  const { signal } = request
  signal?.throwIfAborted()
  const path = `${objectPath(pods, key, subresource)}?${queryOf(request, command)}`
  const { socket, protocol } = await client.openWebSocket(path, protocols)
  const leave = () => socket.terminate()
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted === true) leave()
  try {
    const channels = new ChannelSocket(socket, { clock, isBase64: false })
    const outcome = text(channels.readable(commandChannels.error))
    const outputs = [
      take(channels, commandChannels.stdout, request.stdout),
      take(channels, commandChannels.stderr, request.tty === true ? undefined : request.stderr),
    ]
    if (request.stdin !== undefined) void send(channels, request.stdin, protocolVersion(protocol) >= 5)
    if (request.tty === true && request.resizes !== undefined) void sendSizes(channels, request.resizes)
    socket.resume()
    const status = await outcome
    await Promise.all(outputs)
    signal?.throwIfAborted()
    return exitCodeOf(status)
  } finally {
    signal?.removeEventListener('abort', leave)
    request.stdin?.unpipe()
    leave()
  }
}

function queryOf(request: CommandRequest, command: readonly string[]): string {
  const { container, stdin, stdout, stderr, tty = false } = request
  const query = new URLSearchParams(command.map((word): [string, string] => ['command', word]))
  if (container !== undefined) query.set('container', container)
  const wanted = { stdin, stdout, stderr: tty ? undefined : stderr, tty: tty ? true : undefined }
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) query.set(name, 'true')
  return query.toString()
}

async function take(channels: ChannelSocket, channel: number, stream: Writable | undefined): Promise<void> {
  if (stream === undefined) return
  // A reader that has gone takes nothing more; the command's outcome is still of interest.
  await pipeline(channels.readable(channel), stream, { end: false }).catch(() => {})
}

async function send(channels: ChannelSocket, stdin: Readable, canEnd: boolean): Promise<void> {
  const input = channels.writable(commandChannels.stdin)
  stdin.pipe(input)
  await finished(input, { readable: false }).catch(() => {})
  if (canEnd) channels.endChannel(commandChannels.stdin)
}

async function sendSizes(channels: ChannelSocket, sizes: NonNullable<CommandStreams['resizes']>): Promise<void> {
  const resizes = channels.writable(commandChannels.resize)
  for await (const size of sizes) resizes.write(terminalSizeText(size))
}

function exitCodeOf(outcome: string): number {
  if (outcome === '') throw new Error('the connection was lost before the command had ended')
  const status = JSON.parse(outcome) as Status
  if (status.status === 'Success') return 0
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')
  if (status.reason === 'NonZeroExitCode' && cause?.message !== undefined) return Number(cause.message)
  const { code = 500, reason = 'InternalError', message = 'the command could not be run', details } = status
  throw new ApiError(code, reason, message, details)
}
