import { ApiError, type Pod, pods } from '@coracle/api'
import type { Client, Watch } from '@coracle/client'
import { type Environment, sleep } from '@coracle/environment'
import type { PodEvent } from './history.ts'

/** Wait before a watch that has ended is begun again. */
const resumeDelayMs = 500

/**
 * Reads the history of all pods as a client does: a watch that is begun again where it ended. What it has read has to be what was
 * written, each change once and in order, whichever server it reads from and however often that crashes.
 */
export class Reader {
  readonly events: PodEvent[] = []
  readonly #client: Client
  readonly #environment: Environment
  readonly #stopping = new AbortController()
  #watch: Watch<Pod> | undefined
  #running: Promise<void> | undefined
  #after: string

  constructor(client: Client, environment: Environment, after: number) {
    this.#client = client
    this.#environment = environment
    this.#after = String(after)
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the reader is stopped'))
    this.#watch?.close()
    await this.#running
  }

  /** What was read otherwise than it was written; undefined where all is the same. */
  difference(written: readonly PodEvent[]): string | undefined {
    const textOf = (event: PodEvent | undefined) =>
      event === undefined ? 'nothing' : `${event.type} at ${event.revision}`
    const length = Math.max(written.length, this.events.length)
    for (let index = 0; index < length; index++) {
      const [read, expected] = [textOf(this.events[index]), textOf(written[index])]
      if (read !== expected) return `change ${index + 1} of ${length}: read ${read}, written ${expected}`
    }
    return undefined
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        await this.#follow()
      } catch (error) {
        // Whether history was forgotten shows in the end; a server that is down comes back.
        if (error instanceof ApiError && error.code === 410) return
      }
      await sleep(this.#environment.clock, resumeDelayMs, signal).catch(() => {})
    }
  }

  async #follow(): Promise<void> {
    this.#watch = await this.#client.watch(pods, { resourceVersion: this.#after })
    for await (const event of this.#watch) {
      if (event.type === 'ERROR') throw new ApiError(410, 'Expired', 'the history is gone')
      const { resourceVersion = '' } = event.object.metadata
      this.#after = resourceVersion
      if (event.type !== 'BOOKMARK') this.events.push({ type: event.type, revision: Number(resourceVersion) })
    }
  }
}
