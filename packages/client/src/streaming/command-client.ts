import type { Readable, Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { ApiError, pods, type Status } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { ObjectKey } from '../client.ts'
import type { HttpClient } from '../http-client.ts'
import { objectPath } from '../resource-path.ts'
import type { CommandStreams } from './command-streams.ts'
import { openRemoteStreams, type RemoteStreams, type WantedStreams } from './remote-streams.ts'
import { terminalSizeText } from './terminal-sizes.ts'

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
  return runOver(await openRemoteStreams(client, clock, path, wantedStreams(request)), request)
}

/** The streams that a command has. */
export const wantedStreams = (request: CommandRequest): WantedStreams => ({
  stdin: request.stdin !== undefined,
  stdout: request.stdout !== undefined,
  stderr: request.stderr !== undefined && request.tty !== true,
  resize: request.tty === true && request.resizes !== undefined,
})

/** Connects the streams of a command with those of its caller. Resolves and rejects as `execInPod`. */
export async function runOver(remote: RemoteStreams, request: CommandRequest): Promise<number> {
  const { signal } = request
  const leave = () => remote.close()
  signal?.addEventListener('abort', leave, { once: true })
  if (signal?.aborted === true) leave()
  try {
    const outcome = textOf(remote.readable('error'))
    const outputs = [
      take(remote, 'stdout', request.stdout),
      take(remote, 'stderr', request.tty === true ? undefined : request.stderr),
    ]
    if (request.stdin !== undefined) void send(remote, request.stdin)
    if (request.tty === true && request.resizes !== undefined) void sendSizes(remote, request.resizes)
    remote.start()
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

/** What comes before the end, however that comes about: a connection that is lost tells no more. */
async function textOf(stream: Readable): Promise<string> {
  let text = ''
  try {
    for await (const piece of stream) text += piece
  } catch {
    // Judged by what is missing.
  }
  return text
}

async function take(remote: RemoteStreams, name: 'stdout' | 'stderr', stream: Writable | undefined): Promise<void> {
  if (stream === undefined) return
  // A reader that has gone takes nothing more; the command's outcome is still of interest.
  await pipeline(remote.readable(name), stream, { end: false }).then(
    () => untilTaken(stream),
    () => {},
  )
}

/** Waits for the reader's end to take what still stands in line for it: a stream that is not ended does not tell by itself. */
function untilTaken(stream: Writable): Promise<void> {
  if (stream.writableLength === 0) return Promise.resolve()
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.write('', () => {
      stream.off('close', resolve)
      resolve()
    })
  })
}

async function send(remote: RemoteStreams, stdin: Readable): Promise<void> {
  const input = remote.writable('stdin')
  stdin.pipe(input)
  await finished(input, { readable: false }).catch(() => {})
  remote.endInput()
}

async function sendSizes(remote: RemoteStreams, sizes: NonNullable<CommandStreams['resizes']>): Promise<void> {
  const resizes = remote.writable('resize')
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
