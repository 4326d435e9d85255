/** A store at some distance that fails as told: for tests and simulations of servers that share one. */
import { StoreTimeoutError, StoreUnavailableError } from './errors.ts'
import {
  type CommitResult,
  CompactedError,
  type SoleWriterStore,
  type Store,
  type StoreEvent,
  type StoreWatch,
  type WatchOptions,
} from './store.ts'

export interface FaultyStoreOptions {
  /** Called before each commit with its number, from 1: what fails from there on fails for this one already. */
  readonly onCommit?: (number: number) => void
}

/** One server's way to a store that others reach on their own. What fails, fails for this server alone. */
export interface FaultyStore extends Store {
  /** How many transactions were tried through it. */
  readonly commits: number
  /** Calls fail and nothing is heard, until `restore`. What is under way may take effect; its answer is lost. */
  cut(): void
  /** Calls get through again, and watches get what they missed. */
  restore(): void
  /** The next commits take effect, and nobody here learns of it by their answers. */
  loseAnswers(commits: number): void
  /** News of changes wait until `release`; calls get through. */
  hold(): void
  release(): void
  /** History is compacted before the watches have read it: what waits is lost, and they hear of a gap. */
  loseHistory(): void
}

const place = 'the other side'

/** A way to `real`, which stays its owner's to close. */
export function faultyStore(real: SoleWriterStore, options: FaultyStoreOptions = {}): FaultyStore {
  const watches = new Map<StoreWatch, WatchOptions>()
  /** News that wait; undefined where they are delivered as they come. */
  let waiting: (() => void)[] | undefined
  let isCut = false
  let cuts = 0
  let commits = 0
  let answersToLose = 0

  const deliver = (call: () => void): void => {
    if (waiting === undefined) call()
    else waiting.push(call)
  }
  const through = async <T>(call: () => T | Promise<T>): Promise<T> => {
    if (isCut) throw new StoreUnavailableError(place, 'the network is gone')
    const before = cuts
    const answer = await call()
    if (cuts !== before) throw new StoreTimeoutError(place, 'the network is gone')
    return answer
  }
  const commit = async (transaction: Parameters<Store['commit']>[0]): Promise<CommitResult> => {
    commits += 1
    options.onCommit?.(commits)
    const result = await through(() => real.commit(transaction))
    if (answersToLose === 0) return result
    answersToLose -= 1
    throw new StoreTimeoutError(place, 'the answer is lost')
  }
  const release = (): void => {
    const calls = waiting ?? []
    waiting = undefined
    for (const call of calls) call()
  }

  return {
    shared: true,
    ...(real.keepsLazyValues === undefined ? {} : { keepsLazyValues: real.keepsLazyValues }),
    get commits() {
      return commits
    },
    latest: () => through(() => real.latest()),
    get: (key) => through(() => real.get(key)),
    list: (prefix) => through(() => real.list(prefix)),
    async *pages(prefix, entriesMax) {
      for await (const page of real.pages(prefix, entriesMax)) yield await through(() => page)
    },
    commit,
    watch(prefix, watchOptions) {
      const watch = real.watch(prefix, {
        ...watchOptions,
        onEvents: (events: readonly StoreEvent[]) => deliver(() => watchOptions.onEvents(events)),
        onProgress: (revision) => deliver(() => watchOptions.onProgress?.(revision)),
      })
      watches.set(watch, watchOptions)
      return {
        close() {
          watches.delete(watch)
          watch.close()
        },
        requestProgress: (revision) => watch.requestProgress(revision),
      }
    },
    compact: (revision) => through(() => real.compact(revision)),
    notes: (query) => through(() => real.notes(query)),
    forgetNotes: (revision) => through(() => real.forgetNotes(revision)),
    close: async () => {
      for (const watch of watches.keys()) watch.close()
      watches.clear()
    },
    cut() {
      isCut = true
      cuts += 1
      waiting ??= []
    },
    restore() {
      isCut = false
      release()
    },
    loseAnswers(more) {
      answersToLose += more
    },
    hold() {
      waiting ??= []
    },
    release,
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
