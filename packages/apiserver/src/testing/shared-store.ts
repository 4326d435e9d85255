import { CompactedError, type SoleWriterStore, type Store, type StoreWatch, type WatchOptions } from '@coracle/store'

/** A store that others write to as well, as a server at some distance sees it. */
export interface SharedStore extends Store {
  /** How many transactions were tried through it. */
  readonly commits: number
  /** News of changes wait until `release`. */
  hold(): void
  release(): void
  /** History is compacted before the watches have read it: what waits is lost, and they hear of a gap. */
  loseHistory(): void
}

/** One server's way to `real`, which others reach on their own. */
export function sharedStore(real: SoleWriterStore): SharedStore {
  const watches = new Map<StoreWatch, WatchOptions>()
  let waiting: (() => void)[] | undefined
  let commits = 0
  const deliver = (call: () => void) => (waiting === undefined ? call() : void waiting.push(call))
  return {
    shared: true,
    get commits() {
      return commits
    },
    latest: async () => real.latest(),
    get: (key) => real.get(key),
    list: (prefix) => real.list(prefix),
    pages: (prefix, entriesMax) => real.pages(prefix, entriesMax),
    commit(transaction) {
      commits += 1
      return real.commit(transaction)
    },
    watch(prefix, options) {
      const watch = real.watch(prefix, {
        ...options,
        onEvents: (events) => deliver(() => options.onEvents(events)),
        onProgress: (revision) => deliver(() => options.onProgress?.(revision)),
      })
      watches.set(watch, options)
      return watch
    },
    compact: (revision) => real.compact(revision),
    close: () => real.close(),
    hold() {
      waiting ??= []
    },
    release() {
      const calls = waiting ?? []
      waiting = undefined
      for (const call of calls) call()
    },
    loseHistory() {
      waiting = undefined
      void real.compact(real.latest())
      const lost = [...watches]
      watches.clear()
      for (const [watch, { onGap, after }] of lost) {
        watch.close()
        onGap(new CompactedError(after, real.latest()))
      }
    },
  }
}
