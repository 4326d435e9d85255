import { timeout } from '@coracle/api'
import { type Environment, sleep } from '@coracle/environment'
import {
  CompactedError,
  type Entry,
  type Listing,
  type Revision,
  type Store,
  StoreClosedError,
  type StoreEvent,
  type StoreWatch,
} from '@coracle/store'
import { fromStore } from '../store-errors.ts'
import { BookmarkRounds } from './bookmark-rounds.ts'
import { futureVersionWaitMs, tooLargeVersion } from './future-version.ts'

/** All keys of the API begin with it. */
export const registryPrefix = '/registry/'

/** How many entries are read from the store at a time. */
export const pageEntriesMax = 1000

/** How many times the same entries are read while others compact what is being read. */
export const readAttemptsMax = 5

/** How long a client waits while the store tells nothing of the history that is read from it, before it has to ask again. */
export const historyWaitMs = 5000

/** How long the feed waits before it tries again to read everything anew. */
export const refillRetryMs = 1000

/** What a feed fills and then keeps up to date: one resource's part of the store. */
export interface FeedSink {
  /** All keys of it begin with this: `/registry/<group>/<plural>/`. */
  readonly prefix: string
  /** Takes in everything there is. Called once, before any event. */
  fill(entries: readonly Entry[], revision: number): void
  /** Takes in everything there is, after events that it will not get. */
  refill(entries: readonly Entry[], revision: number): void
  apply(event: StoreEvent): void
}

/**
 * The one watch on the store behind all watch caches. Since it covers everything the API stores, its revision says up to where
 * every cache is complete, also those whose resource has not changed for long.
 *
 * Where the store has forgotten the changes that come next, because others compacted it while this process could not read,
 * the feed fills every cache anew.
 */
export class StoreFeed {
  /** When watchers are told how far the caches have come. */
  readonly bookmarkRounds: BookmarkRounds
  readonly #store: Store
  readonly #environment: Environment
  readonly #onEnd: (error: Error) => void
  readonly #sinks = new Map<string, AttachedSink>()
  readonly #waiting = new Set<{ readonly revision: number; readonly finish: (reached: boolean) => void }>()
  readonly #closing = new AbortController()
  #watch: StoreWatch | undefined
  #revision = 0
  /** What the watch has delivered: ahead of `#revision` while caches are filled anew. */
  #delivered = 0
  #refill: Promise<void> | undefined

  /** `onEnd` is called when the store has failed or was closed under the feed. */
  constructor(store: Store, environment: Environment, onEnd: (error: Error) => void) {
    this.#store = store
    this.#environment = environment
    this.#onEnd = onEnd
    this.bookmarkRounds = new BookmarkRounds(environment.clock)
  }

  /** Every change up to this revision is in the caches. */
  get revision(): number {
    return this.#revision
  }

  async start(): Promise<void> {
    this.#revision = await this.#store.latest()
    this.#follow(this.#revision)
  }

  /** Fills a sink and keeps it up to date from then on. The feed must have been started. */
  async attach(sink: FeedSink): Promise<void> {
    if (this.#sinks.has(sink.prefix)) throw new Error(`two caches would hold what is stored under ${sink.prefix}`)
    const attached: AttachedSink = { sink, early: undefined, meanwhile: undefined, filledAt: undefined }
    this.#sinks.set(sink.prefix, attached)
    try {
      await this.#fill(attached)
      // A gap meanwhile makes the feed fill it itself.
      await this.#refill
    } catch (error) {
      this.detach(sink)
      throw error
    }
  }

  /**
   * Fills a sink anew, where it makes something else of what is stored than it did. Meanwhile it gets what changes, as ever: what the feed's
   * revision promises is there. Rejects where the store cannot be read; the sink goes on with what it has then.
   */
  async reread(sink: FeedSink): Promise<void> {
    // After a gap the feed fills it, until that succeeds.
    if (this.#refill !== undefined) return this.#refill
    const attached = this.#sinks.get(sink.prefix)
    if (attached?.sink !== sink || attached.early !== undefined) return
    const meanwhile = new Map<string, StoreEvent>()
    attached.meanwhile = meanwhile
    try {
      const read = await this.#read(sink.prefix)
      // It has been filled anew since, after a gap or for somebody else.
      if (attached.meanwhile !== meanwhile) return
      const revision = Math.max(read.revision, this.#revision)
      sink.refill(withChanges(read, meanwhile), revision)
      attached.filledAt = revision
    } finally {
      if (attached.meanwhile === meanwhile) attached.meanwhile = undefined
    }
  }

  /**
   * Brings the caches up to whatever was acknowledged before the call, to whomever; undefined where they are that far, as
   * they always are with a store that nobody else writes to. Rejects with a Timeout (504) where it takes too long.
   */
  catchUp(): Promise<void> | undefined {
    const latest = this.#store.latest()
    return typeof latest === 'number' && latest <= this.#revision ? undefined : this.#catchUp(latest)
  }

  async #catchUp(asked: Revision | Promise<Revision>): Promise<void> {
    let latest: Revision
    try {
      latest = await asked
    } catch (error) {
      throw fromStore(error)
    }
    if (await this.waitFor(latest, futureVersionWaitMs)) return
    throw timeout('this server has not heard of the latest changes in time', 1)
  }

  /**
   * Waits for a version that is still to come, though not for long. Rejects with a Timeout (504), which names the version as it is
   * `asked` for: no number holds all its digits where it has very many.
   */
  async reach(revision: number, asked = String(revision)): Promise<void> {
    if (await this.waitFor(revision, futureVersionWaitMs)) return
    throw tooLargeVersion(Number.isSafeInteger(revision) ? String(revision) : asked.replace(/^0+/, ''), this.#revision)
  }

  /** Leaves a sink as it is from now on. */
  detach(sink: FeedSink): void {
    if (this.#sinks.get(sink.prefix)?.sink === sink) this.#sinks.delete(sink.prefix)
  }

  /** Resolves to true when the caches have reached `revision`, to false after `timeoutMs` without that. */
  waitFor(revision: number, timeoutMs: number): Promise<boolean> {
    if (revision <= this.#revision) return Promise.resolve(true)
    if (this.#closing.signal.aborted) return Promise.resolve(false)
    this.#watch?.requestProgress(revision)
    return new Promise((resolve) => {
      const finish = (reached: boolean) => {
        timer.cancel()
        this.#waiting.delete(waiter)
        resolve(reached)
      }
      const waiter = { revision, finish }
      const timer = this.#environment.clock.setTimer(timeoutMs, () => finish(false))
      this.#waiting.add(waiter)
    })
  }

  /**
   * What has changed under a prefix after a revision, or since the earliest that the store still has, up to `upTo`. Undefined
   * where the store no longer has it. Rejects with a Timeout (504) where the store falls silent: it may have it all the same.
   */
  history(prefix: string, from: number | 'earliest', upTo: number): Promise<History | undefined> {
    return new Promise((resolve, reject) => {
      const events: StoreEvent[] = []
      const after = from === 'earliest' ? 0 : from
      const end = () => {
        timer.cancel()
        watch.close()
      }
      const finish = (history: History | undefined) => {
        end()
        resolve(history)
      }
      const fail = (error: unknown) => {
        end()
        reject(fromStore(error))
      }
      const advance = (revision: number) => {
        if (revision >= upTo) finish({ after, events })
      }
      const waitOn = () =>
        this.#environment.clock.setTimer(historyWaitMs, () =>
          fail(timeout('the store has not told this server in time what has changed', 1)),
        )
      let timer = waitOn()
      const watch = this.#store.watch(registryPrefix, {
        after,
        onEvents: (more) => {
          timer.cancel()
          timer = waitOn()
          for (const event of more) if (event.revision <= upTo && event.key.startsWith(prefix)) events.push(event)
          advance(more.at(-1)?.revision ?? 0)
        },
        onProgress: advance,
        onGap: ({ compacted }) => {
          // Told at once where there is nothing from the beginning.
          if (from === 'earliest' && compacted < upTo) void this.history(prefix, compacted, upTo).then(finish, fail)
          else finish(undefined)
        },
        onEnd: fail,
      })
      watch.requestProgress(upTo)
    })
  }

  close(): void {
    this.#closing.abort()
    this.bookmarkRounds.stop()
    this.#watch?.close()
    this.#watch = undefined
    for (const { finish } of [...this.#waiting]) finish(false)
  }

  #follow(after: number): void {
    this.#delivered = after
    this.#watch = this.#store.watch(registryPrefix, {
      after,
      onEvents: (events) => this.#deliver(events),
      onProgress: (revision) => this.#advance(revision),
      onGap: (error) => this.#onGap(error),
      onEnd: (error) => this.#onEnd(error),
    })
  }

  #deliver(events: readonly StoreEvent[]): void {
    for (const event of events) {
      if (this.#refill === undefined) this.#revision = event.revision
      const attached = this.#sinks.get(prefixOf(event.key))
      if (attached === undefined) continue
      if (attached.early !== undefined) attached.early.push(event)
      else if (event.revision > (attached.filledAt ?? 0)) {
        attached.meanwhile?.set(event.key, event)
        attached.sink.apply(event)
      }
    }
    this.#advance(events.at(-1)?.revision ?? 0)
  }

  /** The watch has delivered everything up to `revision`. */
  #advance(revision: number): void {
    this.#delivered = revision
    if (this.#refill === undefined) this.#settle()
  }

  #settle(): void {
    this.#revision = this.#delivered
    for (const { revision, finish } of this.#waiting) if (revision <= this.#revision) finish(true)
  }

  /** Reads all entries of a sink, one page after the other; events that come meanwhile wait. */
  async #fill(attached: AttachedSink): Promise<void> {
    const early: StoreEvent[] = []
    attached.early = early
    attached.meanwhile = undefined
    const { sink, filledAt } = attached
    const { entries, revision } = await this.#read(sink.prefix)
    // Somebody else has begun to fill it since, after a gap that this attempt knows nothing of.
    if (attached.early !== early) return
    if (filledAt === undefined) sink.fill(entries, revision)
    else sink.refill(entries, revision)
    for (const event of early) if (event.revision > revision) sink.apply(event)
    attached.early = undefined
    attached.filledAt = revision
  }

  /** All entries under a prefix: anew where their revision is compacted between two pages. */
  async #read(prefix: string, attempts = readAttemptsMax): Promise<Listing> {
    const entries: Entry[] = []
    let revision = 0
    try {
      for await (const page of this.#store.pages(prefix, pageEntriesMax)) {
        for (const entry of page.entries) entries.push(entry)
        revision = page.revision
      }
    } catch (error) {
      if (!(error instanceof CompactedError) || attempts === 1) throw error
      return this.#read(prefix, attempts - 1)
    }
    return { revision, entries }
  }

  #onGap({ message }: CompactedError): void {
    this.#environment.logger.warn('missed changes of the store, reading everything anew', { error: message })
    this.#watch = undefined
    this.#refill ??= this.#refillAll().finally(() => {
      this.#refill = undefined
      if (!this.#closing.signal.aborted) this.#settle()
    })
  }

  /** Until it is through without a further gap. Meanwhile the caches stay as they were, and so does `revision`. */
  async #refillAll(): Promise<void> {
    const { clock, logger } = this.#environment
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        const latest = await this.#store.latest()
        if (signal.aborted) return
        this.#follow(latest)
        const watch = this.#watch
        await Promise.all([...this.#sinks.values()].map((attached) => this.#fill(attached)))
        if (this.#watch === watch) return
      } catch (error) {
        if (error instanceof StoreClosedError) return
        logger.warn('the store could not be read anew, trying again', { error: String(error) })
        this.#watch?.close()
        await sleep(clock, refillRetryMs, signal).catch(() => {})
      }
    }
  }
}

/** A stretch of the store's history. */
export interface History {
  /** The events are all that came after this revision. */
  readonly after: number
  readonly events: readonly StoreEvent[]
}

interface AttachedSink {
  readonly sink: FeedSink
  /** Events that came before the sink was filled; undefined once it is. */
  early: StoreEvent[] | undefined
  /** The last change of each key since it began to be read anew, beside its being told; undefined where it is not. */
  meanwhile: Map<string, StoreEvent> | undefined
  /** The revision at which it was filled last; undefined before it ever was. */
  filledAt: number | undefined
}

/** What was read, with what has changed since. */
function withChanges({ entries, revision }: Listing, changes: ReadonlyMap<string, StoreEvent>): readonly Entry[] {
  const later = new Map([...changes].filter(([, event]) => event.revision > revision))
  if (later.size === 0) return entries
  const put = [...later.values()].filter(({ type }) => type === 'put')
  return [
    ...entries.filter(({ key }) => !later.has(key)),
    ...put.map(({ key, value, revision, createRevision }) => ({ key, value, modRevision: revision, createRevision })),
  ]
}

/** `/registry/core/pods/` of `/registry/core/pods/default/web`. */
function prefixOf(key: string): string {
  const group = key.indexOf('/', registryPrefix.length)
  return key.slice(0, key.indexOf('/', group + 1) + 1)
}
