import type { ChildProcess } from 'node:child_process'
import { chownSync, closeSync, mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { constants } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { CommandStreams, TerminalSize } from '@coracle/client/streaming'
import type { Clock } from '@coracle/environment'
import type { Command } from './command.ts'
import { withInputPipe } from './input-pipe.ts'
import { launch } from './launch.ts'
import { makePipes, openForChildToRead, openForChildToWrite, openForLater, type PipeEnds } from './pipes.ts'
import { signalGroup } from './process-identity.ts'
import { asItsUser } from './process-user.ts'
import { onTerminal, parseTerminal, resizeTerminal, type Terminal } from './terminal.ts'

/** How long a command whose client has gone has to end by itself, as one whose terminal is closed. */
export const hangUpGraceMs = 1_000

/** How long a command with a terminal waits for a client to say how large that is; most say it at once. */
export const firstSizeTimeoutMs = 200

export interface ExecParts {
  readonly clock: Clock
  /** Where the pipes to the command are, for as long as it runs. */
  readonly directory: string
}

/**
 * Runs a command with streams, and a terminal where `tty`. Resolves with its exit code when all it wrote has been taken.
 * What it has started and left running goes on, as a part of the container. Aborting the signal rejects, and ends the command:
 * it is told (SIGHUP), and killed a moment later.
 */
export async function execWithStreams(
  command: Command,
  tty: boolean,
  streams: CommandStreams,
  { clock, directory }: ExecParts,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted()
  const own = mkdtempSync(join(directory, 'exec-'))
  try {
    const names = ['stdin', 'stdout', 'stderr', 'terminal'].map((name) => join(own, name))
    await makePipes(names)
    // Who is given a pipe may want to open it again by name.
    if (command.user !== undefined) for (const name of names) chownSync(name, command.user.uid, command.user.gid)
    const sizes = tty && streams.resizes !== undefined ? await beginSizes(streams.resizes, clock) : undefined
    signal.throwIfAborted()
    const piped = streams.stdin === undefined ? command : withInputPipe(command)
    const launched = tty ? onTerminal(command, join(own, 'terminal'), sizes?.first) : asItsUser(piped)
    return await run(launched, streams, names, { clock, sizes, tty }, signal)
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

interface RunParts {
  readonly clock: Clock
  readonly sizes: Sizes | undefined
  readonly tty: boolean
}

/** Sizes of a terminal on their way. */
interface Sizes {
  /** The one it begins with, where that was told in time. */
  readonly first: TerminalSize | undefined
  readonly rest: AsyncIterable<TerminalSize>
}

async function beginSizes(resizes: AsyncIterable<TerminalSize>, clock: Clock): Promise<Sizes> {
  const iterator = resizes[Symbol.asyncIterator]()
  const next = iterator.next()
  next.catch(() => {})
  const late = Promise.withResolvers<undefined>()
  const timer = clock.setTimer(firstSizeTimeoutMs, () => late.resolve(undefined))
  const first = await Promise.race([next, late.promise])
  timer.cancel()
  return { first: first?.value, rest: withFirst(first === undefined ? next : iterator.next(), iterator) }
}

async function* withFirst<T>(first: Promise<IteratorResult<T>>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  for (let result = await first; result.done !== true; result = await rest.next()) yield result.value
}

async function run(
  command: Command,
  { stdin, stdout, stderr }: CommandStreams,
  [stdinPath = '', stdoutPath = '', stderrPath = '', reportPath = '']: readonly string[],
  { clock, sizes, tty }: RunParts,
  signal: AbortSignal,
): Promise<number> {
  const input = stdin === undefined ? undefined : openForChildToRead(stdinPath)
  const output = stdout === undefined ? undefined : openForChildToWrite(stdoutPath)
  const errors = stderr === undefined || tty ? undefined : openForChildToWrite(stderrPath)
  const report = tty ? openForLater(reportPath) : undefined
  const ends = [input, output, errors].filter((each): each is PipeEnds => each !== undefined)
  const closeOwn = () => {
    for (const { own } of ends) own.destroy()
    report?.destroy()
  }
  let child: ChildProcess
  try {
    const stdio = [input, output, tty ? output : errors].map((each) => each?.childFd ?? 'ignore')
    child = launch(command, stdio)
  } catch (error) {
    closeOwn()
    throw error
  } finally {
    for (const { childFd } of ends) closeSync(childFd)
  }
  const exited = exitOf(child)
  const terminal = report === undefined ? undefined : terminalOf(report)
  if (input !== undefined) {
    stdin?.pipe(input.own)
    // It may have come to its end before anybody listened.
    if (stdin?.readableEnded === true) input.own.end()
  }
  const outputs = [
    output && stdout && new Output(output.own, stdout),
    errors && stderr && new Output(errors.own, stderr),
  ]
  if (terminal !== undefined && sizes !== undefined) void follow(terminal, sizes)
  try {
    const code = await untilAborted(exited, signal)
    await Promise.all(outputs.map((each) => each?.drain(clock)))
    return code
  } catch (error) {
    if (signal.aborted) hangUp(child, terminal, clock)
    throw error
  } finally {
    stdin?.unpipe()
    closeOwn()
  }
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, ended) => resolve(ended === null ? (code ?? 0) : 128 + constants.signals[ended]))
  })
}

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Undefined where the command has not come so far. */
function terminalOf(report: Socket): Promise<Terminal | undefined> {
  return new Promise((resolve) => {
    // It is short enough to be written at once.
    report.once('data', (text: Buffer) => resolve(parseTerminal(text.toString())))
    report.once('close', () => resolve(undefined))
  })
}

async function follow(terminal: Promise<Terminal | undefined>, { rest }: Sizes): Promise<void> {
  const found = await terminal
  try {
    for await (const size of rest) if (found !== undefined) await resizeTerminal(found, size)
  } catch {
    // The client has gone.
  }
}

function hangUp(child: ChildProcess, terminal: Promise<Terminal | undefined> | undefined, clock: Clock): void {
  const signalAll = (signal: NodeJS.Signals, found: Terminal | undefined) => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) signalGroup(child.pid, signal)
    if (found !== undefined) signalGroup(found.pid, signal)
  }
  signalAll('SIGHUP', undefined)
  const killLater = (found: Terminal | undefined) => {
    if (found !== undefined) signalGroup(found.pid, 'SIGHUP')
    clock.setTimer(hangUpGraceMs, () => signalAll('SIGKILL', found))
  }
  if (terminal === undefined) killLater(undefined)
  else void terminal.then(killLater)
}

/** An output of a command on its way to the client, as fast as that takes it. */
class Output {
  readonly #from: Socket
  readonly #to: Writable
  readonly #ended: Promise<void>
  #onRoom: (() => void) | undefined
  #isBlocked = false
  #isEnded = false
  #pieces = 0

  constructor(from: Socket, to: Writable) {
    this.#from = from
    this.#to = to
    this.#ended = new Promise((resolve) => {
      from.once('close', () => {
        this.#isEnded = true
        resolve()
      })
    })
    from.on('data', (piece: Buffer) => this.#take(piece))
    // Nobody takes it any more; what the command writes is thrown away.
    to.once('close', () => this.#resume())
  }

  /**
   * Resolves when all that a command wrote that has ended has been taken. A process that it left behind may hold the pipe
   * open: what is in the pipe now comes within two turns of the event loop, unless the client has to be waited for.
   */
  async drain(clock: Clock): Promise<void> {
    for (let quiet = 0, seen = this.#pieces; quiet < 3 && !this.#isEnded; ) {
      if (this.#isBlocked) await this.#untilRoom()
      await new Promise<void>((resolve) => clock.defer(resolve))
      quiet = this.#pieces === seen && !this.#isBlocked ? quiet + 1 : 0
      seen = this.#pieces
    }
    if (!this.#isEnded) this.#from.destroy()
    await this.#ended
  }

  #take(piece: Buffer): void {
    this.#pieces += 1
    if (!this.#to.writable || this.#to.write(piece)) return
    this.#isBlocked = true
    this.#from.pause()
    this.#to.once('drain', () => this.#resume())
  }

  #untilRoom(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRoom = resolve
    })
  }

  #resume(): void {
    this.#isBlocked = false
    this.#from.resume()
    this.#onRoom?.()
    this.#onRoom = undefined
  }
}
