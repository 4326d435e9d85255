import { ApiError, deepEqual } from '@coracle/api'
import type { ClientCall, Interceptor } from '@coracle/client'
import type { Environment, Time, Timer } from '@coracle/environment'

/** How long a server may take for a call of an agent, watches apart, before it is asked whether it is ready. */
export const callPatienceMs = 10_000
/** How long a server has to say that it is ready. */
export const readinessTimeoutMs = 5_000
/** How many servers are remembered. */
export const knownServersMax = 32

export interface ServerChoiceOptions {
  readonly environment: Environment
  /** Whether a server says that it is ready (`/readyz`). May reject where it does not answer. */
  readonly isReady: (server: string, signal: AbortSignal) => Promise<boolean>
  /** Has all calls from now on go to this server. */
  readonly use: (server: string) => void
}

/**
 * Which of its cluster's servers an agent uses: one for as long as it is ready, and another that is when it is not. It is asked whether it is
 * ready only when calls say so: by failing without an answer, by an answer of 5xx, or by taking too long.
 */
export class ServerChoice implements Interceptor {
  readonly #options: ServerChoiceOptions
  #present: string
  #known: readonly string[] = []
  readonly #stopping = new AbortController()
  #look: Promise<void> | undefined

  constructor(present: string, known: readonly string[], options: ServerChoiceOptions) {
    this.#options = options
    this.#present = present
    this.learn(known)
  }

  /** The servers there are, as `https://10.0.0.1:6443`. Returns whether they are others than before. */
  learn(servers: readonly string[]): boolean {
    const known = [...new Set(servers)].toSorted().slice(0, knownServersMax)
    if (deepEqual(known, this.#known)) return false
    this.#known = known
    return true
  }

  async call<T>({ verb }: ClientCall, proceed: () => Promise<T>): Promise<T> {
    const timer = verb === 'watch' ? undefined : this.#lookAfter(callPatienceMs)
    try {
      return await proceed()
    } catch (error) {
      if (saysUnready(error)) this.#lookAround()
      throw error
    } finally {
      timer?.cancel()
    }
  }

  /** Resolves when a look that is under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the node agent was stopped'))
    await this.#look
  }

  #lookAfter(ms: Time): Timer {
    return this.#options.environment.clock.setTimer(ms, () => this.#lookAround(), { housekeeping: true })
  }

  #lookAround(): void {
    if (this.#stopping.signal.aborted) return
    this.#look ??= this.#lookForAnother().finally(() => {
      this.#look = undefined
    })
  }

  async #lookForAnother(): Promise<void> {
    const others = this.#known.filter((server) => server !== this.#present)
    if (others.length === 0 || (await this.#isReady(this.#present)) || this.#stopping.signal.aborted) return
    const ready = await firstReady(others.map(async (server) => ((await this.#isReady(server)) ? server : undefined)))
    if (ready === undefined || this.#stopping.signal.aborted) return
    const { logger } = this.#options.environment
    logger.warn('the server is gone, and another one takes its place', { server: this.#present, other: ready })
    this.#present = ready
    this.#options.use(ready)
  }

  async #isReady(server: string): Promise<boolean> {
    const { environment, isReady } = this.#options
    const attempt = new AbortController()
    const give = (): void => attempt.abort(new Error('it does not answer'))
    const timer = environment.clock.setTimer(readinessTimeoutMs, give)
    this.#stopping.signal.addEventListener('abort', give, { once: true })
    try {
      return await isReady(server, attempt.signal)
    } catch {
      return false
    } finally {
      timer.cancel()
      this.#stopping.signal.removeEventListener('abort', give)
    }
  }
}

/** Whether an error may come of a server that is not ready: what it refuses for reasons of its own comes of one that is. */
const saysUnready = (error: unknown): boolean => !(error instanceof ApiError) || error.code >= 500

/** The first answer that is a server; undefined where none is. */
async function firstReady(answers: readonly Promise<string | undefined>[]): Promise<string | undefined> {
  const found = answers.map(async (answer) => (await answer) ?? Promise.reject(new Error('it is not ready')))
  return Promise.any(found).catch(() => undefined)
}
