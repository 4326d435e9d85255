import type { CompactedError, Revision, StoreEvent, StoreWatch, WatchOptions } from './store.ts'

/** One watch. It gets each event of its prefix once: whatever is at or before `position` has been delivered or not asked for. */
export class Watcher implements StoreWatch {
  readonly prefix: string
  readonly #options: WatchOptions
  readonly #hub: WatchHub
  /** Everything up to this revision is settled for this watch. */
  position: Revision
  /** Whether the hub's new events reach it. A watch that still replays history is not live. */
  live = false

  constructor(hub: WatchHub, prefix: string, options: WatchOptions) {
    this.#hub = hub
    this.prefix = prefix
    this.#options = options
    this.position = options.after
  }

  get open(): boolean {
    return this.#hub.has(this)
  }

  close(): void {
    this.#hub.remove(this)
  }

  /** Delivers those of `events` the watch has not had. `events` are whole revisions, the last of them `last`. */
  deliver(events: readonly StoreEvent[], last: Revision): void {
    if (last <= this.position) return
    const after = this.position
    this.position = last
    const wanted = events.filter(({ key, revision }) => revision > after && key.startsWith(this.prefix))
    try {
      if (wanted.length > 0) this.#options.onEvents(wanted)
      // A watch that was closed by what it got is told nothing more.
      if (wanted.at(-1)?.revision !== last && this.open) this.#options.onProgress?.(last)
    } catch (error) {
      // A defect of that watcher alone: it goes, and the process hears of it, but neither the commit nor the
      // other watches may suffer.
      this.close()
      queueMicrotask(() => {
        throw error
      })
    }
  }

  /** Nothing to do: a hub tells of every transaction as it is published. */
  requestProgress(): void {}

  /** Ends the watch before a part of history that is no longer kept. */
  gap(error: CompactedError): void {
    if (!this.open) return
    this.close()
    this.#options.onGap(error)
  }

  /** Ends the watch, telling its owner why. */
  end(error: Error): void {
    if (!this.open) return
    this.close()
    this.#options.onEnd(error)
  }
}

/** The watches of a store. */
export class WatchHub {
  readonly #watchers = new Set<Watcher>()

  add(prefix: string, options: WatchOptions): Watcher {
    const watcher = new Watcher(this, prefix, options)
    this.#watchers.add(watcher)
    return watcher
  }

  has(watcher: Watcher): boolean {
    return this.#watchers.has(watcher)
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Delivers the events of whole revisions, the last of them `last`, to every live watch. */
  publish(events: readonly StoreEvent[], last: Revision): void {
    for (const watcher of this.#watchers) {
      if (watcher.live) watcher.deliver(events, last)
    }
  }

  /** Ends every watch. */
  end(error: Error): void {
    for (const watcher of [...this.#watchers]) watcher.end(error)
  }
}
