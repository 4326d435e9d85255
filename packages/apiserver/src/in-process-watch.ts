import type { KubernetesObject } from '@coracle/api'
import type { Watch, WatchEvent } from '@coracle/client'
import type { RegistryWatch, WatchDelivery } from './registry-contract.ts'

/** Most events held for a reader in process. What comes beyond waits in the registry, within its own limit. */
export const watchBufferMax = 10_000

/**
 * A registry's watch as something to iterate. When the buffer is full the registry is asked to wait: what the watch begins
 * with waits there without limit, live events up to a limit.
 *
 * Bookmarks are for whoever watches on from where a watch has ended. In process nothing but an end breaks a watch off, and one comes
 * with that (`RegistryWatchOptions.bookmarksOnlyEnd`): nobody is woken each minute.
 */
export class InProcessWatch<T extends KubernetesObject> implements Watch<T> {
  #events: WatchEvent<T>[] = []
  /** Index of the next event to hand out: taking from the front of a list would move all the others. */
  #next = 0
  #ended = false
  #paused = false
  #source: RegistryWatch | undefined
  #wake: (() => void) | undefined

  readonly onEvent = ({ event }: Pick<WatchDelivery, 'event'>): boolean => {
    this.#events.push(event as WatchEvent<T>)
    this.#wake?.()
    if (this.#held < watchBufferMax || this.#paused) return true
    this.#paused = true
    this.#source?.pause()
    return true
  }

  readonly onEnd = (): void => {
    if (this.#ended) return
    this.#ended = true
    this.#wake?.()
  }

  attach(source: RegistryWatch): void {
    this.#source = source
    if (this.#paused) source.pause()
  }

  close(): void {
    this.#paused = false
    this.#events = []
    this.#next = 0
    this.#source?.close()
    this.onEnd()
  }

  /** All events that are there, each time, and a wait where there are none. */
  batches(): AsyncIterable<readonly WatchEvent<T>[]> {
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#nextBatch(), return: () => this.#return() }) }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent<T>, void, undefined> {
    try {
      for (;;) {
        const event = this.#take()
        if (event !== undefined) yield event
        else if (this.#ended) return
        else await this.#wakened()
      }
    } finally {
      this.close()
    }
  }

  async #nextBatch(): Promise<IteratorResult<readonly WatchEvent<T>[]>> {
    for (;;) {
      const batch = this.#takeAll()
      if (batch.length > 0) return { done: false, value: batch }
      if (this.#ended) return this.#return()
      await this.#wakened()
    }
  }

  async #return(): Promise<IteratorResult<readonly WatchEvent<T>[]>> {
    this.close()
    return { done: true, value: undefined }
  }

  /** Resolves with the next event, or at the end. */
  async #wakened(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#wake = undefined
  }

  get #held(): number {
    return this.#events.length - this.#next
  }

  #take(): WatchEvent<T> | undefined {
    const event = this.#events[this.#next]
    if (event !== undefined) {
      this.#next += 1
      return event
    }
    this.#makeRoom()
    return undefined
  }

  #takeAll(): readonly WatchEvent<T>[] {
    const batch = this.#next === 0 ? this.#events : this.#events.slice(this.#next)
    this.#makeRoom()
    return batch
  }

  /** All events have been taken: the registry may go on. */
  #makeRoom(): void {
    this.#events = []
    this.#next = 0
    if (!this.#paused || this.#ended) return
    this.#paused = false
    this.#source?.resume()
  }
}
