import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import type { CommandStreams, TerminalSize } from '@coracle/client/streaming'
import type { Clock } from '@coracle/environment'
import { type CriCommand, CriError, type CriRequest, criCodes } from '../cri/calls.ts'
import type { InspectedContainer, InspectedExec } from './answers.ts'
import type { Engine } from './engine.ts'
import { FrameReader } from './log-frames.ts'

/** How much of each output of a command is kept, where it is kept. */
const outputBytesMax = 64 * 1024
/** How often it is asked whether a command has ended whose output has, and how often at most. */
const endLookMs = 20
const endLooksMax = 250
/** Keys that nobody presses: engines take ^P^Q for the wish to leave. */
const detachKeys = 'ctrl-@,ctrl-^,ctrl-@'

/** Runs a command in a container, or attaches to its own process, with streams. Resolves with the exit code; 0 where attached. */
export async function runWithStreams(
  engine: Engine,
  clock: Clock,
  { containerId, command, tty }: CriCommand,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted()
  if (command === undefined) {
    await attach(engine, containerId, tty, streams, signal)
    return 0
  }
  const { Id: execId } = await engine.call<{ readonly Id: string }>({
    method: 'POST',
    path: `/containers/${containerId}/exec`,
    body: {
      Cmd: command,
      Tty: tty,
      AttachStdin: streams.stdin !== undefined,
      AttachStdout: streams.stdout !== undefined,
      AttachStderr: streams.stderr !== undefined && !tty,
      DetachKeys: detachKeys,
    },
    signal,
  })
  try {
    const socket = await engine.hijack({ path: `/exec/${execId}/start`, body: { Detach: false, Tty: tty }, signal })
    await connect(socket, tty, streams, (size) => resize(engine, `/exec/${execId}`, size), signal)
    return await exitCodeOf(engine, clock, execId)
  } catch (error) {
    if (signal.aborted) await endCommand(engine, execId)
    throw error
  }
}

async function attach(
  engine: Engine,
  containerId: string,
  tty: boolean,
  streams: CommandStreams,
  signal: AbortSignal,
): Promise<void> {
  const { State } = await engine.call<InspectedContainer>({ path: `/containers/${containerId}/json`, signal })
  if (!State.Running) throw new Error(`container ${containerId} is not running`)
  const socket = await engine.hijack({
    path: `/containers/${containerId}/attach`,
    query: {
      stream: true,
      stdin: streams.stdin !== undefined,
      stdout: streams.stdout !== undefined,
      stderr: streams.stderr !== undefined && !tty,
      detachKeys,
    },
    signal,
  })
  await connect(socket, tty, streams, (size) => resize(engine, `/containers/${containerId}`, size), signal)
}

/** Resolves when the engine's side has ended and all of it has been written. */
async function connect(
  socket: Socket,
  tty: boolean,
  { stdin, stdout, stderr, resizes }: CommandStreams,
  resizeTo: (size: TerminalSize) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const leave = () => socket.destroy()
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  socket.on('error', () => {})
  const end = () => socket.end()
  if (stdin !== undefined) {
    stdin.pipe(socket)
    if (stdin.readableEnded) end()
  }
  if (tty && resizes !== undefined) void followSizes(resizes, resizeTo)
  const frames = new FrameReader()
  try {
    for await (const bytes of socket) {
      if (tty) await write(stdout, bytes)
      else for (const piece of frames.read(bytes)) await write(piece.stream === 'stdout' ? stdout : stderr, piece.bytes)
    }
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', leave)
    stdin?.unpipe(socket)
    socket.destroy()
  }
}

/** Resolves when the one who reads is ready for more, or has gone. */
function write(stream: Writable | undefined, bytes: Buffer): Promise<void> {
  if (stream === undefined || stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      stream.off('close', done)
      resolve()
    }
    stream.once('close', done)
    stream.write(bytes, done)
  })
}

async function followSizes(resizes: AsyncIterable<TerminalSize>, resizeTo: (size: TerminalSize) => Promise<void>) {
  try {
    for await (const size of resizes) await resizeTo(size)
  } catch {
    // The client has gone.
  }
}

/** A command that has ended, or has yet to begin, has no size: that is no failure. */
async function resize(engine: Engine, path: string, { width, height }: TerminalSize): Promise<void> {
  await engine.call({ method: 'POST', path: `${path}/resize`, query: { w: width, h: height } }).catch(() => {})
}

/** The exit code of a command whose output has ended, or is about to be known. */
async function exitCodeOf(engine: Engine, clock: Clock, execId: string): Promise<number> {
  for (let look = 0; look < endLooksMax; look += 1) {
    const { Running, ExitCode } = await engine.call<InspectedExec>({ path: `/exec/${execId}/json` })
    if (!Running) return ExitCode ?? 0
    await new Promise<void>((resolve) => void clock.setTimer(endLookMs, resolve))
  }
  throw new CriError(criCodes.unknown, 'the command has closed its output, and does not end')
}

/** CRI's ExecSync: runs a command, keeps what it says, and ends it where it takes too long. */
export async function runSync(
  engine: Engine,
  clock: Clock,
  { containerId, cmd, timeout }: CriRequest<'execSync'>,
  caller: AbortSignal | undefined,
) {
  const abort = new AbortController()
  const leave = () => abort.abort(caller?.reason)
  caller?.addEventListener('abort', leave, { once: true })
  const late = new CriError(criCodes.deadlineExceeded, `failed to exec in container: timeout ${timeout}s exceeded`)
  const timer = timeout > 0 ? clock.setTimer(timeout * 1000, () => abort.abort(late)) : undefined
  const [stdout, stderr] = [new KeptOutput(), new KeptOutput()]
  try {
    const command = { containerId, command: cmd, tty: false }
    const exitCode = await runWithStreams(engine, clock, command, { stdout, stderr }, abort.signal)
    return { exitCode, stdout: stdout.kept, stderr: stderr.kept }
  } finally {
    timer?.cancel()
    caller?.removeEventListener('abort', leave)
  }
}

/** Keeps the beginning of what is written to it. */
class KeptOutput extends Writable {
  #pieces: Buffer[] = []
  #size = 0

  get kept(): Buffer {
    return Buffer.concat(this.#pieces).subarray(0, outputBytesMax)
  }

  override _write(bytes: Buffer, _: BufferEncoding, done: () => void): void {
    if (this.#size < outputBytesMax) this.#pieces.push(bytes)
    this.#size += bytes.length
    done()
  }
}

/**
 * Kills a command that runs on: engines have no call for that. Its process is known by its number on this host, and by the control group of its
 * container, so that nobody else's is killed where the engine is elsewhere.
 */
async function endCommand(engine: Engine, execId: string): Promise<void> {
  try {
    const { Running, Pid, ContainerID } = await engine.call<InspectedExec>({ path: `/exec/${execId}/json` })
    if (!Running || Pid <= 1) return
    const groups = await readFile(`/proc/${Pid}/cgroup`, 'utf8')
    if (groups.includes(ContainerID)) process.kill(Pid, 'SIGKILL')
  } catch {
    // It has ended, or is not this host's to end.
  }
}
