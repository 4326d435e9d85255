import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { thriftyTools, tools } from './tools.ts'

/** The program's file: a bundle made for the run of the tests (`scripts/bundled-program.ts`), or without one that of the source tree. */
export const coracleFile =
  process.env.CORACLE_TEST_PROGRAM ?? join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'coracle.js')

/** What a finished command left behind. */
export interface Outcome {
  readonly code: number | null
  /** What ended it, where that was a signal: that of `run` itself at the timeout, too. */
  readonly signal?: NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  /** How it is ended at the timeout. */
  readonly killSignal?: NodeJS.Signals
  /** Ends it before: `run` rejects then. */
  readonly signal?: AbortSignal
  /** Called whenever it prints something. */
  readonly onOutput?: () => void
  readonly cwd?: string
  /** Who to run it as: for tests that run as root. */
  readonly uid?: number
  readonly gid?: number
}

/** How long what was told to end may take until it has: less than a test has. */
const endMs = 60_000

/** What a promise resolves with. Rejects with what `late` gives where that takes longer than `limitMs`. */
async function within<T>(limitMs: number, promise: Promise<T>, late: () => Error): Promise<T> {
  const isLate = Promise.withResolvers<never>()
  const timer = setTimeout(() => isLate.reject(late()), limitMs)
  try {
    return await Promise.race([promise, isLate.promise])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs a command to its end, or kills it at the timeout (60 s). Never rejects for an exit code; where it, or what it has started, does not end
 * then either, it is killed for good, and named.
 */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const { input = '', env, timeoutMs = 60_000, onOutput, ...rest } = options
  const child = spawn(command, args, { ...rest, env: { ...process.env, ...env }, timeout: timeoutMs })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    onOutput?.()
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {}) // a command may end without reading its input
  child.stdin.end(input)
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const [code, signal] = await within(timeoutMs + endMs, closed, () => {
    child.kill('SIGKILL')
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
    const line = [command, ...args].join(' ')
    return new Error(`${line} had ${timeoutMs / 1000} s and did not end:\n${stdout}${stderr}`)
  })
  return { code, ...(signal === null ? {} : { signal }), stdout, stderr }
}

/**
 * Environment of TypeScript's compiler: it ends before its garbage is worth collecting, as kubectl does. With `--singleThreaded` it checks a
 * program once, and not in parts that share most of their work: the two take two thirds of its CPU time.
 */
export const thriftyCompiler = { GOGC: 'off' } as const

/** Runs the `coracle` command, wherever it finds its cluster. */
export function runCoracle(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return run(process.execPath, [coracleFile, ...args], { ...options, env: { ...keptCodeOf(args), ...options.env } })
}

/**
 * Environment in which a command keeps its code where no other does. Fewer files of code stay in a directory than the tests have commands: in
 * one for all, each start would compile anew what others have pushed out, and servers would, too.
 */
function keptCodeOf([command = '']: readonly string[]): Readonly<Record<string, string>> {
  const isServer = command === 'up' || command === 'agent'
  return isServer ? {} : { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache', command.replaceAll(/\W/g, '_')) }
}

export interface ProgramOptions {
  /** Absent: a new temporary one, removed by `dispose`. */
  readonly dataDir?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Who to run it as: for tests that run as root. */
  readonly uid?: number
  readonly gid?: number
  /** Nothing may stand between the test and the program: its own connections, address or end are what is tested. */
  readonly alone?: true
  /** Limits as the shell's `ulimit` takes them: `-n 256` for 256 open files. */
  readonly limits?: string
  /** As the shell's `umask` takes it. */
  readonly umask?: string
  /** The program's file. Absent: `coracleFile`. */
  readonly file?: string
  /** The program as one executable, in place of a file for Node. */
  readonly executable?: string
}

/** The program ended before it was ready. */
export class ProgramEndedError extends Error {
  override readonly name = 'ProgramEndedError'
  /** What it had printed, a line each. */
  readonly output: readonly string[]

  constructor(how: number | NodeJS.Signals | null, output: readonly string[]) {
    super(`coracle up ended with ${how} before it was ready:\n${output.join('\n')}`)
    this.output = output
  }
}

/** Whether something else can stand for a program: it is given no directory, store or user of its own. */
function isChoosable({ alone, dataDir, args = [], uid, limits, umask }: ProgramOptions): boolean {
  if (alone === true || ['--store', '--etcd-servers', '--listen'].some((flag) => args.includes(flag))) return false
  return dataDir === undefined && uid === undefined && limits === undefined && umask === undefined
}

/** The running program, `coracle up`, as a user starts it. */
export class Program {
  readonly dataDir: string
  readonly #child: ChildProcess
  readonly #ownsDataDir: boolean
  readonly #output: string[]
  /** It has ended, and all it printed is in `#output`. */
  readonly #closed: Promise<unknown>
  #front: { readonly address: string; readonly stop: () => Promise<void> } | undefined
  /** The line it printed when it was ready. */
  readonly readyLine: string

  private constructor(child: ChildProcess, dataDir: string, ownsDataDir: boolean, output: string[], readyLine: string) {
    this.#child = child
    this.#closed = once(child, 'close')
    this.dataDir = dataDir
    this.#ownsDataDir = ownsDataDir
    this.#output = output
    this.readyLine = readyLine
  }

  static #instead: ((options: ProgramOptions) => Promise<Program>) | undefined

  /** Has `start` do something else wherever a test does not care. */
  static startInstead(start: (options: ProgramOptions) => Promise<Program>): void {
    Program.#instead = start
  }

  /** Starts it on a port of its choice and waits until it says that it is ready. */
  static async start(options: ProgramOptions = {}): Promise<Program> {
    if (Program.#instead !== undefined && isChoosable(options)) return Program.#instead(options)
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'coracle-')))
    const args = ['up', '--port', '0', '--data-dir', dataDir, ...(options.args ?? [])]
    const { uid, gid } = options
    const { executable: own, file = coracleFile } = options
    const command = [...(own === undefined ? [process.execPath, file] : [own]), ...args]
    // The shell becomes the program: they have one process id.
    const preparations = [
      ...(options.limits === undefined ? [] : [`ulimit ${options.limits}`]),
      ...(options.umask === undefined ? [] : [`umask ${options.umask}`]),
    ]
    const prepared =
      preparations.length === 0 ? command : ['sh', '-c', `${preparations.join('; ')}; exec "$@"`, 'sh', ...command]
    const [executable = '', ...rest] = prepared
    const child = spawn(executable, rest, {
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output: string[] = []
    const ready = Promise.withResolvers<string>()
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line)
        if (line.includes('https://')) ready.resolve(line)
      })
    }
    child.once('close', (code, signal) => {
      ready.reject(new ProgramEndedError(code ?? signal, output))
    })
    const timer = setTimeout(() => ready.reject(new Error(`not ready within 60 s:\n${output.join('\n')}`)), 60_000)
    try {
      const readyLine = await ready.promise
      return new Program(child, dataDir, options.dataDir === undefined, output, readyLine)
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get kubeconfig(): string {
    return join(this.dataDir, 'kubeconfig')
  }

  /** Lets clients find `address` in its place, and `stop` end what is there when this has ended. */
  standBehind(address: string, stop: () => Promise<void>): void {
    this.#front = { address, stop }
  }

  get address(): string {
    if (this.#front !== undefined) return this.#front.address
    const found = /https:\/\/\S+?:\d+/.exec(this.readyLine)
    if (found === null) throw new Error(`no address in: ${this.readyLine}`)
    return found[0]
  }

  /** What it has printed so far, a line each. */
  get output(): readonly string[] {
    return this.#output
  }

  /** Runs the real kubectl against it, with no flag but `--kubeconfig`; without that where the environment names kubeconfigs. */
  async kubectl(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const { kubectl } = await tools()
    const flags = options.env?.KUBECONFIG === undefined ? ['--kubeconfig', this.kubeconfig] : []
    return run(kubectl, [...flags, ...args], {
      ...options,
      // A home of its own keeps kubectl's discovery cache apart from any other test's.
      env: { ...thriftyTools, HOME: this.dataDir, ...options.env },
    })
  }

  /** As `kubectl`, for commands that must succeed: returns what was printed, throws with it otherwise. */
  async kubectlOk(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const outcome = await this.kubectl(args, options)
    if (outcome.code !== 0) {
      const { code, signal, stdout, stderr } = outcome
      const how = signal === undefined ? `exited with ${code}` : `was ended by ${signal}`
      throw new Error(`kubectl ${args.join(' ')} ${how}\n${stdout}${stderr}`)
    }
    return outcome.stdout
  }

  /** Runs the `coracle` command against it. */
  coracle(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return runCoracle(args, {
      ...options,
      env: { KUBECONFIG: this.kubeconfig, ...options.env },
    })
  }

  /** Ends it with a signal and waits until it is gone. Kills it, and rejects with what it printed, where the signal does not end it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal)
    return within(endMs, this.ended(), () => {
      this.#child.kill('SIGKILL')
      return new Error(`coracle up did not end within ${endMs / 1000} s of ${signal}:\n${this.#output.join('\n')}`)
    })
  }

  /** Waits until it is gone and all it printed is in `output`, and resolves with its exit code. */
  async ended(): Promise<number | null> {
    await this.#closed
    const code = this.#child.exitCode
    const front = this.#front
    this.#front = undefined
    await front?.stop()
    return code
  }

  /** Stops it as Ctrl-C does and removes what it kept, unless the data directory was given. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGINT')
    if (this.#ownsDataDir) await rm(this.dataDir, { recursive: true, force: true })
  }
}

/**
 * Asks until `probe` returns something other than undefined or false; throws `what` after the timeout. Between two times there are 50 ms, or as
 * long as it took to ask: who asks by a process leaves half of a core to those whom the test waits for.
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  let lastError: unknown
  while (Date.now() < deadline) {
    const askedAt = Date.now()
    try {
      const found = await probe()
      if (found !== undefined && found !== false) return found
    } catch (error) {
      lastError = error
    }
    const restMs = Math.max(50, Date.now() - askedAt)
    await new Promise((resolve) => setTimeout(resolve, restMs))
  }
  throw new Error(`timed out waiting: ${what}`, { cause: lastError })
}
