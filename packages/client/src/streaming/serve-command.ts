import type { Duplex, Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { ApiError, internalError, type Status } from '@coracle/api'
import type { Clock, Timer } from '@coracle/environment'
import type { WebSocket } from 'ws'
import { ChannelSocket } from './channel-socket.ts'
import type { CommandStreams } from './command-streams.ts'
import { IdleTimer } from './idle-timer.ts'
import { commandChannels, isBase64Protocol, protocolVersion, streamHeaders } from './protocols.ts'
import { SpdySession } from './spdy/spdy-session.ts'
import type { SpdyStream } from './spdy/spdy-stream.ts'
import type { CommandOptions, StreamingService } from './streaming-service.ts'
import { readTerminalSizes } from './terminal-sizes.ts'

type CommandService = Extract<StreamingService, { readonly kind: 'command' }>

export interface SpdyParts {
  readonly clock: Clock
  readonly connection: Duplex
  readonly head: Buffer
  readonly signal: AbortSignal
  readonly idleTimeoutMs: number
}

export interface WebSocketParts {
  readonly clock: Clock
  readonly socket: WebSocket
  readonly protocol: string
  readonly signal: AbortSignal
  readonly idleTimeoutMs: number
}

/** How long a client has to open the streams that it asked for (upstream's StreamCreationTimeout). */
export const streamCreationTimeoutMs = 30_000
/**
 * How long a command with an input goes on when its client has gone: there are clients that send it all and leave, such as Ansible's
 * `k8s_cp`. With upstream's server it goes on for as long as it likes.
 */
export const inputGraceMs = 30_000
/** What may wait of the outcome's message; more is cut off. */
const messageLengthMax = 32 * 1024

/** Runs a command with the channels of a WebSocket. */
export async function runOverChannels({ options, run }: CommandService, parts: WebSocketParts): Promise<void> {
  const { clock, socket, protocol, signal } = parts
  const idle = new IdleTimer(clock, parts.idleTimeoutMs, () => socket.close())
  const isBase64 = isBase64Protocol(protocol)
  const channels = new ChannelSocket(socket, { clock, isBase64, onActivity: () => idle.note() })
  const { stdin, stdout, stderr, tty } = wanted(options)
  const version = protocolVersion(protocol)
  const streams: CommandStreams = {
    ...(stdin ? { stdin: channels.readable(commandChannels.stdin) } : {}),
    ...(stdout ? { stdout: channels.writable(commandChannels.stdout) } : {}),
    ...(stderr ? { stderr: channels.writable(commandChannels.stderr) } : {}),
    ...(tty && version >= 3 ? { resizes: readTerminalSizes(channels.readable(commandChannels.resize)) } : {}),
  }
  const error = channels.writable(commandChannels.error)
  const patience = patienceFor(options, clock, signal, () => socket.readyState !== socket.OPEN)
  // Tells clients that the connection is there before there is anything to say.
  channels.announce(stdout ? commandChannels.stdout : stderr ? commandChannels.stderr : commandChannels.error)
  try {
    await carryOut(run(streams, patience.signal), streams, error, version)
  } finally {
    patience.end()
    idle.cancel()
    socket.resume()
    socket.close(1000)
  }
}

/** Runs a command with the streams that a client opens in a SPDY session. */
export async function runOverSpdy({ options, run }: CommandService, protocol: string, parts: SpdyParts): Promise<void> {
  const { clock, signal } = parts
  const version = protocolVersion(protocol)
  const types = typesOf(options, version)
  const opened = new Map<string, SpdyStream>()
  const complete = Promise.withResolvers<void>()
  const session = new SpdySession(
    parts.connection,
    {
      role: 'server',
      clock,
      accepts: (headers) => {
        const type = headers.get(streamHeaders.type) ?? ''
        return types.includes(type) && !opened.has(type)
      },
      onStream: (stream) => {
        opened.set(stream.headers.get(streamHeaders.type) ?? '', stream)
        if (opened.size === types.length) complete.resolve()
      },
      onActivity: () => idle.note(),
    },
    parts.head,
  )
  const idle = new IdleTimer(clock, parts.idleTimeoutMs, () => session.close())
  const late: Timer = clock.setTimer(streamCreationTimeoutMs, () =>
    complete.reject(new Error('the streams did not come')),
  )
  void session.closed.then(() => complete.reject(new Error('the client has gone')))
  const patience = patienceFor(options, clock, signal, () => parts.connection.destroyed)
  try {
    await complete.promise
    const { stdin, stdout, stderr, resize, error } = Object.fromEntries(opened)
    if (error === undefined) return
    const streams: CommandStreams = {
      ...(stdin === undefined ? {} : { stdin }),
      ...(stdout === undefined ? {} : { stdout }),
      ...(stderr === undefined ? {} : { stderr }),
      ...(resize === undefined ? {} : { resizes: readTerminalSizes(resize) }),
    }
    // Nothing comes on these.
    for (const stream of [stdout, stderr, error]) stream?.resume()
    await carryOut(run(streams, patience.signal), streams, error, version)
    // Clients take the end of their input's way back for that of the command.
    stdin?.end()
  } finally {
    patience.end()
    late.cancel()
    idle.cancel()
    session.close()
  }
}

/** When a command is ended. */
interface Patience {
  readonly signal: AbortSignal
  /** The command has ended by itself. */
  end(): void
}

/** A command that reads an input may read it to its end, which is where the client left; one with a terminal is hung up at once. */
function patienceFor(
  { stdin, tty }: CommandOptions,
  clock: Clock,
  signal: AbortSignal,
  hasClientGone: () => boolean,
): Patience {
  if (!stdin || tty) return { signal, end: () => {} }
  const over = new AbortController()
  let timer: Timer | undefined
  const onAbort = () => {
    if (hasClientGone()) timer = clock.setTimer(inputGraceMs, () => over.abort(signal.reason))
    else over.abort(signal.reason)
  }
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  return {
    signal: over.signal,
    end() {
      signal.removeEventListener('abort', onAbort)
      timer?.cancel()
    },
  }
}

/** A terminal has one output. */
const wanted = (options: CommandOptions): CommandOptions => ({
  ...options,
  stderr: options.stderr && !options.tty,
})

function typesOf(options: CommandOptions, version: number): readonly string[] {
  const { stdin, stdout, stderr, tty } = wanted(options)
  return [
    'error',
    ...(stdin ? ['stdin'] : []),
    ...(stdout ? ['stdout'] : []),
    ...(stderr ? ['stderr'] : []),
    ...(tty && version >= 3 ? ['resize'] : []),
  ]
}

/** Waits for a command, lets go of its streams, and tells how it has ended. */
async function carryOut(
  running: Promise<number>,
  { stdin, stdout, stderr }: CommandStreams,
  error: Writable,
  version: number,
): Promise<void> {
  const status = await running.then(exitStatus, failureStatus)
  // What still comes is for nobody, and must not hold up the rest of the connection.
  discard(stdin)
  await Promise.all([ended(stdout), ended(stderr)])
  const text = outcomeText(status, version)
  if (text !== '') error.write(text)
  await ended(error)
}

function discard(stream: Readable | undefined): void {
  stream?.unpipe()
  stream?.removeAllListeners('data').removeAllListeners('readable')
  if (stream !== undefined && !stream.destroyed) stream.resume()
}

/** Ends a stream, and waits until it has been sent or nobody takes it any more. */
async function ended(stream: Writable | undefined): Promise<void> {
  if (stream === undefined) return
  stream.end()
  await finished(stream, { readable: false }).catch(() => {})
}

/** Before v4 only failures are told, in words. */
function outcomeText(status: Status, version: number): string {
  if (version >= 4) return JSON.stringify(status)
  return status.status === 'Success' ? '' : (status.message ?? '')
}

function exitStatus(code: number): Status {
  const common = { kind: 'Status', apiVersion: 'v1', metadata: {} } as const
  if (code === 0) return { ...common, status: 'Success' }
  return {
    ...common,
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}

function failureStatus(error: unknown): Status {
  if (error instanceof ApiError) return error.status
  const message = error instanceof Error ? error.message : String(error)
  return internalError(`error executing command in container: ${message.slice(0, messageLengthMax)}`).status
}
