import { ApiError, hasReason } from '@coracle/api'
import { type Environment, sleep } from '@coracle/environment'
import type { EventTarget } from './event-recorder.ts'

/** Events that wait to be written, at most; further ones are dropped with a log line. */
export const eventQueueMax = 1000

/** Writes under way at a time. */
const eventWritersMax = 8

/** Tries per event while the server cannot be reached, and the wait between them (client-go's). */
const writeTriesMax = 12
const writeRetryMs = 10_000

/** Something to be written, which may come to say more while it waits. */
export interface WaitingEvent {
  readonly about: EventTarget
  readonly reason: string
  /** Whether it is in the queue or being written. */
  isPending: boolean
}

/** One for all recorders: an error is dear to make, for its stack. */
const stopped = new Error('the event recorder is stopped')

/** Writes events in the background, and gives up rather than get in the way of work. */
export class EventWriter<E extends WaitingEvent> {
  readonly #environment: Environment
  readonly #write: (event: E) => Promise<boolean>
  readonly #queue: E[] = []
  readonly #stopping = new AbortController()
  #writers = 0
  #flushed: (() => void)[] = []

  /** `write` resolves with whether all that is known of the event is written by now. */
  constructor(environment: Environment, write: (event: E) => Promise<boolean>) {
    this.#environment = environment
    this.#write = write
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** Writes an event soon, unless it waits to be written already. */
  enqueue(event: E): void {
    if (event.isPending || this.isStopped) return
    if (this.#queue.length >= eventQueueMax) {
      this.#environment.logger.warn('event dropped: too many wait', {
        reason: event.reason,
        about: event.about.metadata.name,
      })
      return
    }
    event.isPending = true
    this.#queue.push(event)
    if (this.#writers < eventWritersMax) void this.#drain()
  }

  /** Resolves once all that waits is written or given up. */
  flush(): Promise<void> {
    if (this.#writers === 0) return Promise.resolve()
    return new Promise((resolve) => this.#flushed.push(resolve))
  }

  /** Drops what is not written yet. */
  stop(): void {
    this.#queue.length = 0
    this.#stopping.abort(stopped)
  }

  async #drain(): Promise<void> {
    this.#writers++
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift())
      await this.#writeUntilDone(event)
    this.#writers--
    if (this.#writers === 0) for (const flushed of this.#flushed.splice(0)) flushed()
  }

  async #writeUntilDone(event: E): Promise<void> {
    const { clock, random, logger } = this.#environment
    const { signal } = this.#stopping
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        if (await this.#write(event)) break
        tries = 0
      } catch (error) {
        const isFinal = (error instanceof ApiError && !hasReason(error, 'AlreadyExists')) || tries >= writeTriesMax
        if (isFinal) {
          if (!signal.aborted)
            logger.warn('event given up', { reason: event.reason, about: event.about.metadata.name, error })
          break
        }
        // The first wait is drawn so that many components do not return in step.
        await sleep(clock, writeRetryMs * (tries === 1 ? random.next() : 1), signal).catch(() => {})
      }
    }
    event.isPending = false
  }
}
