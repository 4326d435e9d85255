import { timeout } from '@coracle/api'
import type { Clock, Timer } from '@coracle/environment'
import type { RegistryWatch, WatchDelivery } from '../registry-contract.ts'
import { type CacheEvent, errorDelivery } from './cache-event.ts'
import type { Selection } from './selection.ts'

/**
 * Most deliveries held for a watcher beyond those it began with. One that falls further behind is ended with an error; what
 * was held is lost to it, and it can watch again from the last it got.
 */
export const heldDeliveriesMax = 10_000

/** How many of the deliveries it begins with a watcher gets per turn of the event loop. */
export const deliveriesPerTurnMax = 1000

/** The bookmarks that a watcher wants beside that which marks the end of the first state: each minute, or one when the cache closes. */
export type WantedBookmarks = 'none' | 'periodic' | 'end'

export interface CacheWatcherOptions {
  readonly selection: Selection
  readonly bookmarks: WantedBookmarks
  /** What the watch begins with, made one by one as it is taken. */
  readonly initial: Iterable<WatchDelivery>
  /** Live events up to this one are part of `initial` already. */
  readonly afterSequence: number
  /** Live events up to this revision are not wanted: the watch asked for what comes after it. */
  readonly afterRevision: number
  /** Whether the watch ends after `initial`. */
  readonly endsAfterInitial: boolean
  readonly onEvent: (delivery: WatchDelivery) => boolean
  readonly onEnd: () => void
}

/** One watch on a cache: what it begins with, then live events, in order and never from within the call that made it. */
export class CacheWatcher implements RegistryWatch {
  readonly selection: Selection
  readonly bookmarks: WantedBookmarks
  readonly #options: CacheWatcherOptions
  readonly #clock: Clock
  readonly #onClosed: (watcher: CacheWatcher) => void
  /** What is still to be delivered of the beginning; undefined once it is through. */
  #initial: Iterator<WatchDelivery> | undefined
  /** Live deliveries that came before the beginning was through, or while paused. */
  #held: WatchDelivery[] = []
  #paused = false
  #pumping = true
  #closed = false
  #timeout: Timer | undefined

  constructor(options: CacheWatcherOptions, clock: Clock, onClosed: (watcher: CacheWatcher) => void) {
    this.selection = options.selection
    this.bookmarks = options.bookmarks
    this.#options = options
    this.#clock = clock
    this.#onClosed = onClosed
    this.#initial = options.initial[Symbol.iterator]()
    // Not in a microtask: whoever awaits the watch should have it in hand before the first delivery.
    clock.defer(() => this.#pump())
  }

  /** Ends the watch `timeoutMs` from now, calling `beforehand` first. */
  endAfter(timeoutMs: number, beforehand: () => void): void {
    const end = () => {
      beforehand()
      this.close()
    }
    // Its reader watches on: an end in passing, not a deadline.
    this.#timeout = this.#clock.setTimer(timeoutMs, end, { housekeeping: true })
  }

  /** Takes an event of the cache and delivers what it means under this watch's selection. */
  notice(event: CacheEvent): void {
    if (event.sequence <= this.#options.afterSequence || event.revision <= this.#options.afterRevision) return
    const delivery = deliveryUnder(this.selection, event)
    if (delivery !== undefined) this.push(delivery)
  }

  push(delivery: WatchDelivery): void {
    if (this.#closed) return
    if (this.#initial === undefined && !this.#paused && !this.#pumping) {
      if (!this.#options.onEvent(delivery)) this.close()
      return
    }
    if (this.#held.length < heldDeliveriesMax) {
      this.#held.push(delivery)
      return
    }
    const { status } = timeout(`the reader of this watch fell more than ${heldDeliveriesMax} events behind`, 1)
    this.#options.onEvent(errorDelivery(status))
    this.close()
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    if (this.#pumping || this.#closed) return
    this.#pumping = true
    this.#clock.defer(() => this.#pump())
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#timeout?.cancel()
    this.#held = []
    this.#initial = undefined
    this.#onClosed(this)
    this.#options.onEnd()
  }

  /** Delivers what is due, some at a time, so that a long beginning neither blocks the process nor floods its reader. */
  #pump(): void {
    for (let count = 0; count < deliveriesPerTurnMax; count += 1) {
      if (this.#closed || this.#paused) {
        this.#pumping = false
        return
      }
      const delivery = this.#next()
      if (delivery === undefined) {
        this.#pumping = false
        if (this.#options.endsAfterInitial) this.close()
        return
      }
      if (!this.#options.onEvent(delivery)) this.close()
    }
    this.#clock.defer(() => this.#pump())
  }

  #next(): WatchDelivery | undefined {
    const initial = this.#initial?.next()
    if (initial?.done === false) return initial.value
    this.#initial = undefined
    return this.#held.shift()
  }
}

/** What a watch under `selection` gets of an event; undefined where nothing it selects was concerned. */
export function deliveryUnder(selection: Selection, event: CacheEvent): WatchDelivery | undefined {
  if (selection.namespace !== '' && !isInNamespace(event.key, selection.namespace)) return undefined
  const { type, stored, previous } = event
  if (selection.unfiltered) return type === 'ADDED' ? event.added : type === 'MODIFIED' ? event.modified : event.deleted
  const before = previous !== undefined && selection.matches(previous.object)
  const after = type !== 'DELETED' && selection.matches(stored.object)
  if (after) return before ? event.modified : event.added
  return before ? event.deleted : undefined
}

/** Whether a cache key lies in a namespace. */
export function isInNamespace(key: string, namespace: string): boolean {
  return key.length > namespace.length && key.charCodeAt(namespace.length) === 47 && key.startsWith(namespace)
}
