import type { Client, DiscoveredResource, HttpClient } from '@coracle/client'
import type { ClusterState } from '@coracle/cluster'
import { readState } from '@coracle/cluster'
import { type Assumptions, Rehearsal } from '@coracle/simulator'
import { CliError } from '../cli-error.ts'
import type { Host, Output } from '../host.ts'
import { type ConnectionFlags, withSessionOverAll } from '../session.ts'

export interface StageOptions {
  readonly seed: number
  readonly assumptions: Assumptions
  readonly timeoutMs: number
}

/**
 * Where a command is played: a host whose server is a copy of the one that the command names. The copy is made when the command
 * first asks for its server, so that one that is mistyped says so at once.
 */
export class Stage implements AsyncDisposable {
  readonly #host: Host
  readonly #options: StageOptions
  readonly #opened = Promise.withResolvers<Opened>()
  /** Opened when the play begins: until then the command waits for its server. */
  readonly #curtain = Promise.withResolvers<void>()
  #opening: Promise<Opened> | undefined
  #rehearsal: Rehearsal | undefined
  /** What the command has printed. */
  readonly output = { stdout: '', stderr: '' }

  constructor(host: Host, options: StageOptions) {
    this.#host = host
    this.#options = options
  }

  /** Resolves when the copy is there, and a command waits to be played on it. */
  get opened(): Promise<Opened> {
    return this.#opened.promise
  }

  /** Lets the command that waits go on. */
  begin(): void {
    this.#curtain.resolve()
  }

  /** The host for the command: its time is the copy's, and what it prints is kept. */
  get host(): Host {
    const actual = this.#host
    const rehearsed = () => this.#rehearsal?.environment
    const kept = (stream: 'stdout' | 'stderr'): Output => ({
      write: (chunk) => {
        this.output[stream] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      },
      drained: () => Promise.resolve(),
      isTerminal: false,
    })
    return {
      ...actual,
      get environment() {
        return rehearsed() ?? actual.environment
      },
      stdout: kept('stdout'),
      stderr: kept('stderr'),
      readStdin: () => (rehearsed() ?? actual.environment).clock.hold(actual.readStdin()),
      connect: (flags) => this.#connect(flags),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rehearsal?.[Symbol.asyncDispose]()
  }

  async #connect(flags: ConnectionFlags): Promise<{ readonly client: HttpClient; readonly namespace: string }> {
    this.#opening ??= this.#open(flags)
    const opened = await this.#opening
    this.#opened.resolve(opened)
    await this.#curtain.promise
    return { client: clientOf(opened.rehearsal.client, opened.resources), namespace: opened.namespace }
  }

  async #open(flags: ConnectionFlags): Promise<Opened> {
    const { state, namespace } = await withSessionOverAll(this.#host, flags, async ({ client, namespace }) => {
      const resources = await client.discover()
      return { namespace, state: await readState({ client, resources }, this.#host.environment) }
    })
    const rehearsal = await Rehearsal.open(state, this.#options)
    this.#rehearsal = rehearsal
    return { state, namespace, rehearsal, resources: await rehearsal.discover() }
  }
}

/** A copy, with what it was made of. */
export interface Opened {
  readonly state: ClusterState
  readonly rehearsal: Rehearsal
  readonly namespace: string
  readonly resources: readonly DiscoveredResource[]
}

/** The copy's client as commands have theirs. What only HTTP has is for commands that show something, which are not played. */
function clientOf(client: Client, resources: readonly DiscoveredResource[]): HttpClient {
  const refuse = async (): Promise<never> => {
    throw new CliError('a copy answers no raw requests: plan plays commands that change something')
  }
  return Object.assign(Object.create(client) as Client, {
    request: refuse,
    rawGet: refuse,
    rawStream: refuse,
    watchTables: refuse,
    openWebSocket: refuse,
    openSpdy: refuse,
    discover: async () => resources,
    close: async () => {},
  })
}
