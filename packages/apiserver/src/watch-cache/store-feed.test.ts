import { createLogger, virtualEnvironment } from '@coracle/environment'
import {
  CompactedError,
  type Entry,
  type SoleWriterStore,
  type Store,
  StoreClosedError,
  type StoreEvent,
  StoreUnavailableError,
  type WatchOptions,
} from '@coracle/store'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { futureVersionWaitMs } from './future-version.ts'
import { type FeedSink, historyWaitMs, readAttemptsMax, refillRetryMs, StoreFeed } from './store-feed.ts'

const pods = '/registry/core/pods/'
const nodes = '/registry/core/nodes/'

/** A sink that tells what it is given: `fill KEYS at REVISION`, `put KEY at REVISION`. */
function sinkOf(prefix: string): FeedSink & { readonly told: string[] } {
  const told: string[] = []
  const namesOf = (entries: readonly Entry[]) => entries.map(({ key }) => key.slice(prefix.length)).join(' ')
  return {
    told,
    prefix,
    fill: (entries, revision) => told.push(`fill ${namesOf(entries)} at ${revision}`),
    refill: (entries, revision) => told.push(`refill ${namesOf(entries)} at ${revision}`),
    apply: ({ type, key, revision }) => told.push(`${type} ${key.slice(prefix.length)} at ${revision}`),
  }
}

/** A feed on a store that others write to as well. `overrides` take the place of the store's own calls. */
async function startFeed(overrides: Partial<Store> = {}, real: SoleWriterStore = createMemoryStore()) {
  const warnings: string[] = []
  const logger = createLogger(({ message, fields }) => warnings.push(`${message}: ${fields.error}`))
  const environment = virtualEnvironment({ logger })
  const { clock } = environment
  const store = faultyStore(real)
  const ends: string[] = []
  const feed = new StoreFeed(Object.assign(store, overrides), environment, ({ message }) => ends.push(message))
  const write = async (key: string, type: 'put' | 'delete' = 'put') => {
    const operation = type === 'put' ? ({ type, key, value: Buffer.from(key) } as const) : ({ type, key } as const)
    const { revision } = await real.commit({ conditions: [], operations: [operation] })
    return revision
  }
  const attach = async (prefix: string) => {
    const sink = sinkOf(prefix)
    await feed.attach(sink)
    return sink
  }
  return { feed, store, real, clock, write, attach, ends, warnings }
}

/** Fails so many times, then does what it should. */
const failing =
  <T>(times: number, error: Error, action: () => T) =>
  (): T => {
    times -= 1
    if (times >= 0) throw error
    return action()
  }

describe('a feed', () => {
  it('fills each sink with what is under its prefix, and then tells of every change there', async () => {
    const { feed, write, attach, clock } = await startFeed()
    await write(`${pods}default/a`)
    await write('/registry/core/podtemplates/default/a')
    await write('/outside')
    await feed.start()
    const [ofPods, ofNodes] = [await attach(pods), await attach(nodes)]
    await write(`${pods}default/b`)
    await write(`${nodes}n1`)
    await write('/registry/core/podtemplates/default/b')
    await write(`${pods}default/a`, 'delete')
    await clock.settle()
    expect(ofPods.told).toEqual(['fill default/a at 3', 'put default/b at 4', 'delete default/a at 7'])
    expect(ofNodes.told).toEqual(['fill  at 3', 'put n1 at 5'])
    expect(feed.revision).toBe(7)
  })

  it('is as far as the change it tells of', async () => {
    const { feed, write, clock } = await startFeed()
    await feed.start()
    const reached: number[] = []
    await feed.attach({ ...sinkOf(pods), apply: ({ revision }) => reached.push(feed.revision - revision) })
    await Promise.all([write(`${pods}default/a`), write(`${pods}default/b`)])
    await clock.settle()
    expect(reached).toEqual([0, 0])
  })

  it('fills a sink anew where that asks for it, and no other of its prefix', async () => {
    const { feed, write, attach, clock } = await startFeed()
    await feed.start()
    const sink = await attach(pods)
    await write(`${pods}default/a`)
    await feed.reread(sink)
    await feed.reread(sinkOf(pods))
    await feed.reread(sinkOf(nodes))
    await write(`${pods}default/b`)
    await clock.settle()
    expect(sink.told).toEqual(['fill  at 0', 'put default/a at 1', 'refill default/a at 1', 'put default/b at 2'])
  })

  it('goes on with a sink as it was where that cannot be filled anew', async () => {
    const real = createMemoryStore()
    let isAway = false
    const pages: Store['pages'] = async function* (prefix, entriesMax) {
      if (!isAway) return yield* real.pages(prefix, entriesMax)
      await real.commit({ conditions: [], operations: [{ type: 'put', key: `${pods}default/b`, value: Buffer.of() }] })
      await Promise.resolve()
      throw new StoreUnavailableError('here', 'it is away')
    }
    const { feed, write, attach, clock } = await startFeed({ pages }, real)
    await feed.start()
    const sink = await attach(pods)
    await write(`${pods}default/a`)
    await clock.settle()
    isAway = true
    const rereading = expect(feed.reread(sink)).rejects.toThrow('it is away')
    await clock.settle()
    await rereading
    await write(`${pods}default/c`)
    await clock.settle()
    expect(sink.told).toEqual(['fill  at 0', 'put default/a at 1', 'put default/b at 2', 'put default/c at 3'])
  })

  it('tells a sink of each change before its revision passes it, while the sink is filled anew', async () => {
    const real = createMemoryStore()
    const between = Promise.withResolvers<void>()
    let isSlow = false
    const pages: Store['pages'] = async function* (prefix, entriesMax) {
      yield* real.pages(prefix, entriesMax)
      if (isSlow) await between.promise
    }
    const { feed, write, attach, clock } = await startFeed({ pages }, real)
    await feed.start()
    const sink = await attach(pods)
    for (const name of ['a', 'b', 'c']) await write(`${pods}default/${name}`)
    await clock.settle()
    sink.told.length = 0
    isSlow = true
    const rereading = feed.reread(sink)
    await clock.settle()
    await write(`${pods}default/a`)
    await write(`${pods}default/b`, 'delete')
    await write(`${pods}default/d`)
    await write(`${pods}default/d`, 'delete')
    await clock.settle()
    expect(feed.revision).toBe(7)
    const changes = ['put default/a at 4', 'delete default/b at 5', 'put default/d at 6', 'delete default/d at 7']
    expect(sink.told).toEqual(changes)
    between.resolve()
    await rereading
    await write(`${pods}default/e`)
    await clock.settle()
    expect(sink.told).toEqual([...changes, 'refill default/c default/a at 7', 'put default/e at 8'])
  })

  it('fills a sink once where it is to be filled anew while the feed fills all of them after a gap', async () => {
    const { feed, store, write, attach, clock } = await startFeed()
    await feed.start()
    const sink = await attach(pods)
    await write(`${pods}default/a`)
    await clock.settle()
    sink.told.length = 0
    store.loseHistory()
    const rereading = feed.reread(sink)
    await clock.settle()
    await rereading
    await write(`${pods}default/b`)
    await clock.settle()
    expect(sink.told).toEqual(['refill default/a at 1', 'put default/b at 2'])
  })

  it('knows its revision before the first change', async () => {
    const { feed, write } = await startFeed()
    await write('/outside')
    await feed.start()
    expect(feed.revision).toBe(1)
  })

  it('tells of a change once, whether it came before, while or after a sink was filled', async () => {
    const real = createMemoryStore()
    const between = Promise.withResolvers<void>()
    const { feed, write, clock } = await startFeed(
      {
        async *pages(prefix, entriesMax) {
          yield* real.pages(prefix, entriesMax)
          await between.promise
        },
      },
      real,
    )
    await feed.start()
    await write(`${pods}default/a`)
    const sink = sinkOf(pods)
    const attached = feed.attach(sink)
    await clock.settle()
    await write(`${pods}default/b`)
    await clock.settle()
    expect(sink.told).toEqual([])
    between.resolve()
    await attached
    await write(`${pods}default/c`)
    await clock.settle()
    expect(sink.told).toEqual(['fill default/a at 1', 'put default/b at 2', 'put default/c at 3'])
  })

  it('tells of no change that a sink was filled with and that is heard of late', async () => {
    const { feed, store, write, attach, clock } = await startFeed()
    await feed.start()
    store.hold()
    await write(`${pods}default/a`)
    const sink = await attach(pods)
    store.release()
    await write(`${pods}default/b`)
    await clock.settle()
    expect(sink.told).toEqual(['fill default/a at 1', 'put default/b at 2'])
  })

  it('has one sink for a prefix, until that is detached', async () => {
    const { feed, attach, write, clock } = await startFeed()
    await feed.start()
    const first = await attach(pods)
    await expect(attach(pods)).rejects.toThrow(`two caches would hold what is stored under ${pods}`)
    feed.detach(sinkOf(pods))
    await write(`${pods}default/a`)
    await clock.settle()
    expect(first.told).toEqual(['fill  at 0', 'put default/a at 1'])
    feed.detach(first)
    const second = await attach(pods)
    await write(`${pods}default/b`)
    await clock.settle()
    expect(first.told).toHaveLength(2)
    expect(second.told).toEqual(['fill default/a at 1', 'put default/b at 2'])
  })

  it('reads anew where what it reads was compacted, so many times', async () => {
    const compacted = new CompactedError(1, 2)
    const real = createMemoryStore()
    const pagesFailing = (times: number) => ({
      pages: failing(times, compacted, () => real.pages(pods, 10)) as Store['pages'],
    })
    const { feed, attach } = await startFeed(pagesFailing(readAttemptsMax - 1), real)
    await feed.start()
    expect((await attach(pods)).told).toEqual(['fill  at 0'])

    const other = await startFeed(pagesFailing(readAttemptsMax), real)
    await other.feed.start()
    await expect(other.attach(pods)).rejects.toBe(compacted)
    // Nothing is left of the attempt.
    expect((await other.attach(pods)).told).toEqual(['fill  at 0'])
  })

  it('is refused what the store refuses, at once', async () => {
    const real = createMemoryStore()
    const unavailable = new StoreUnavailableError('here', 'it is away')
    const pages = failing(1, unavailable, () => real.pages(pods, 10)) as Store['pages']
    const { feed, attach } = await startFeed({ pages }, real)
    await feed.start()
    await expect(attach(pods)).rejects.toBe(unavailable)
  })

  it('says when the store has ended, and tells nothing once it is closed itself', async () => {
    const { feed, real, write, attach, clock, ends } = await startFeed()
    await feed.start()
    const sink = await attach(pods)
    await real.close()
    expect(ends).toEqual(['the store is closed'])

    const other = await startFeed()
    await other.feed.start()
    other.feed.close()
    await other.write(`${pods}default/a`)
    await clock.settle()
    expect([other.feed.revision, other.ends, sink.told.length]).toEqual([0, [], 1])
    await expect(write('/a')).rejects.toThrow(StoreClosedError)
  })
})

describe('whoever waits for a revision', () => {
  it('hears when the feed has reached it, or that it has not in time', async () => {
    const { feed, write, clock } = await startFeed()
    await feed.start()
    const heard: string[] = []
    for (const [revision, timeoutMs] of [
      [0, 1000],
      [1, 1000],
      [2, 1000],
      [3, 3000],
      [4, 2000],
    ] as const) {
      void feed.waitFor(revision, timeoutMs).then((reached) => heard.push(`${revision} ${reached}`))
    }
    await clock.settle()
    expect(heard).toEqual(['0 true'])
    await write('/registry/a')
    await write('/elsewhere')
    await clock.settle()
    expect(heard.splice(0)).toEqual(['0 true', '1 true', '2 true'])
    await clock.advance(2000)
    expect(heard.splice(0)).toEqual(['4 false'])
    await write('/registry/b')
    await clock.advance(2000)
    expect(heard).toEqual(['3 true'])
  })

  it('asks the store for news', async () => {
    const real = createMemoryStore()
    const asked: number[] = []
    const { feed, write } = await startFeed(
      {
        watch(prefix, options) {
          const watch = real.watch(prefix, options)
          return { close: () => watch.close(), requestProgress: (revision) => asked.push(revision) }
        },
      },
      real,
    )
    await feed.start()
    void feed.waitFor(1, 1000)
    expect(asked).toEqual([1])
    await write('/a')
    void feed.waitFor(1, 1000)
    expect(asked).toEqual([1])
  })

  it('hears at once when the feed is closed', async () => {
    const { feed } = await startFeed()
    await feed.start()
    const waiting = feed.waitFor(1, 1000)
    feed.close()
    expect([await waiting, await feed.waitFor(1, 1000), await feed.waitFor(0, 1000)]).toEqual([false, false, true])
  })

  it('is refused a version that does not come', async () => {
    const { feed, clock, write } = await startFeed()
    await feed.start()
    const reached = feed.reach(1)
    await write('/a')
    await reached
    const refused = feed.reach(3).catch((error: { status: unknown }) => error.status)
    await clock.advance(futureVersionWaitMs)
    expect(await refused).toMatchObject({
      code: 504,
      reason: 'Timeout',
      message: 'Timeout: Too large resource version: 3, current: 1',
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    })
  })
})

describe('catching up', () => {
  it('takes no time where nobody else writes', async () => {
    const real = createMemoryStore()
    const { feed, write, clock } = await startFeed({ latest: () => real.latest() }, real)
    await feed.start()
    expect(feed.catchUp()).toBeUndefined()
    await write('/a')
    await clock.settle()
    expect(feed.catchUp()).toBeUndefined()
  })

  it('waits for what it has not heard of yet, also where nobody else writes', async () => {
    const real = createMemoryStore()
    const { feed, write, store } = await startFeed({ latest: () => real.latest() }, real)
    await feed.start()
    store.hold()
    await write('/a')
    const caughtUp = feed.catchUp()
    expect(caughtUp).toBeInstanceOf(Promise)
    store.release()
    await caughtUp
    expect([feed.revision, feed.catchUp()]).toEqual([1, undefined])
  })

  it('waits for what was acknowledged before', async () => {
    const { feed, write, store, clock } = await startFeed()
    await feed.start()
    store.hold()
    await write('/a')
    let isOver = false
    const caughtUp = Promise.resolve(feed.catchUp()).then(() => {
      isOver = true
    })
    await clock.settle()
    expect(isOver).toBe(false)
    store.release()
    await caughtUp
    expect(feed.revision).toBe(1)
  })

  it('is a Timeout (504) where that does not come', async () => {
    const { feed, write, store, clock } = await startFeed()
    await feed.start()
    store.hold()
    await write('/a')
    const refused = feed.catchUp()?.catch((error: { status: unknown }) => error.status)
    await clock.advance(futureVersionWaitMs)
    expect(await refused).toMatchObject({
      code: 504,
      message: expect.stringContaining('this server has not heard of the latest changes in time'),
      details: { retryAfterSeconds: 1 },
    })
  })

  it('is refused in the API’s words where the store does not answer', async () => {
    let isAway = false
    const real = createMemoryStore()
    const latest = async () => {
      if (isAway) throw new StoreUnavailableError('here', 'it is away')
      return real.latest()
    }
    const { feed } = await startFeed({ latest }, real)
    await feed.start()
    isAway = true
    await expect(feed.catchUp()).rejects.toMatchObject({ status: { kind: 'Status', code: 503 } })
  })
})

describe('history', () => {
  const revisionsOf = (history: Awaited<ReturnType<StoreFeed['history']>>) =>
    history && [history.after, ...history.events.map(({ revision }) => revision)]

  const changeOf = (key: string): StoreEvent => ({
    type: 'put',
    key,
    value: new Uint8Array(),
    revision: 1,
    createRevision: 1,
    previousRevision: 0,
  })

  async function withHistory() {
    const started = await startFeed()
    for (const key of [`${pods}default/a`, `${nodes}n1`, `${pods}default/b`, `${pods}default/c`, '/outside']) {
      await started.write(key)
    }
    await started.feed.start()
    return started
  }

  it('is what has changed under a prefix between two revisions', async () => {
    const { feed } = await withHistory()
    expect(revisionsOf(await feed.history(pods, 0, 5))).toEqual([0, 1, 3, 4])
    expect(revisionsOf(await feed.history(pods, 1, 3))).toEqual([1, 3])
    expect(revisionsOf(await feed.history(nodes, 2, 5))).toEqual([2])
  })

  it('goes on until it is told up to its end', async () => {
    const asked: number[] = []
    let watching: WatchOptions | undefined
    const { feed } = await startFeed({
      watch(_prefix, options) {
        watching = options
        return { close() {}, requestProgress: (revision) => asked.push(revision) }
      },
    })
    const change = (revision: number): StoreEvent => ({ ...changeOf(`${pods}default/a`), revision })
    let found: readonly number[] | undefined
    void feed.history(pods, 3, 9).then((history) => {
      found = revisionsOf(history)
    })
    watching?.onEvents([change(4), change(5)])
    await Promise.resolve()
    expect([found, asked]).toEqual([undefined, [9]])
    watching?.onEvents([change(6)])
    watching?.onProgress?.(8)
    await Promise.resolve()
    expect(found).toBeUndefined()
    watching?.onEvents([change(10)])
    await Promise.resolve()
    expect(found).toEqual([3, 4, 5, 6])
  })

  it('from the earliest begins where the store’s begins', async () => {
    const { feed, real } = await withHistory()
    expect(revisionsOf(await feed.history(pods, 'earliest', 5))).toEqual([0, 1, 3, 4])
    await real.compact(3)
    expect(revisionsOf(await feed.history(pods, 'earliest', 5))).toEqual([3, 4])
  })

  it('is not there where it was compacted', async () => {
    const { feed, real } = await withHistory()
    await real.compact(3)
    expect(await feed.history(pods, 2, 5)).toBeUndefined()
    expect(revisionsOf(await feed.history(pods, 3, 5))).toEqual([3, 4])
    await real.compact(5)
    expect(await feed.history(pods, 'earliest', 5)).toBeUndefined()
  })

  it('is asked for again where the store tells nothing for long: it may have it all the same', async () => {
    const { feed, store, clock } = await withHistory()
    store.hold()
    let found: unknown = 'nothing yet'
    feed.history(pods, 0, 5).catch((error: unknown) => {
      found = error
    })
    await clock.advance(historyWaitMs - 1)
    expect(found).toBe('nothing yet')
    await clock.advance(1)
    expect(found).toMatchObject({ status: { code: 504, reason: 'Timeout', details: { retryAfterSeconds: 1 } } })
    store.release()
    expect(revisionsOf(await feed.history(pods, 0, 5))).toEqual([0, 1, 3, 4])
  })

  it('is waited for as long as the store goes on telling', async () => {
    let watching: WatchOptions | undefined
    const { feed, clock } = await startFeed({
      watch(_prefix, options) {
        watching = options
        return { close() {}, requestProgress() {} }
      },
    })
    const found = feed.history(pods, 0, 3)
    for (const revision of [1, 2, 3]) {
      await clock.advance(historyWaitMs - 1)
      watching?.onEvents([{ ...changeOf(`${pods}default/a`), revision }])
    }
    expect(revisionsOf(await found)).toEqual([0, 1, 2, 3])
  })

  it('is not had where the store ends meanwhile', async () => {
    const { feed, store, real } = await withHistory()
    store.hold()
    const asked = feed.history(pods, 0, 5)
    const refused = expect(asked).rejects.toThrow(StoreClosedError)
    await real.close()
    await refused
  })

  it('leaves no watch behind', async () => {
    const real = createMemoryStore()
    let open = 0
    const { feed, write, clock } = await startFeed(
      {
        watch(prefix, options) {
          const watch = real.watch(prefix, options)
          open += 1
          const close = () => {
            open -= 1
            watch.close()
          }
          return { close, requestProgress: (revision) => watch.requestProgress(revision) }
        },
      },
      real,
    )
    await write('/a')
    await feed.history(pods, 0, 1)
    await clock.settle()
    expect(open).toBe(0)
  })
})

describe('a feed whose next changes were compacted', () => {
  it('fills its sinks anew, and goes on', async () => {
    const { feed, store, write, attach, clock, warnings } = await startFeed()
    await feed.start()
    const [ofPods, ofNodes] = [await attach(pods), await attach(nodes)]
    store.hold()
    await write(`${pods}default/a`)
    store.loseHistory()
    await clock.settle()
    await write(`${pods}default/b`)
    await clock.settle()
    expect(ofPods.told).toEqual(['fill  at 0', 'refill default/a at 1', 'put default/b at 2'])
    expect(ofNodes.told).toEqual(['fill  at 0', 'refill  at 1'])
    expect(feed.revision).toBe(2)
    expect(warnings).toEqual([
      expect.stringMatching(/^missed changes of the store, reading everything anew: revision 0/),
    ])
  })

  it('does not tell how far it is before its sinks are', async () => {
    const real = createMemoryStore()
    const reading = Promise.withResolvers<void>()
    let isHeld = false
    const { feed, store, write, attach, clock } = await startFeed(
      {
        async *pages(prefix, entriesMax) {
          if (isHeld) await reading.promise
          yield* real.pages(prefix, entriesMax)
        },
      },
      real,
    )
    await feed.start()
    const sink = await attach(pods)
    isHeld = true
    store.hold()
    await write(`${pods}default/a`)
    const waiting = feed.waitFor(2, 60_000)
    store.loseHistory()
    await clock.settle()
    await write(`${pods}default/b`)
    await clock.settle()
    expect([feed.revision, sink.told]).toEqual([0, ['fill  at 0']])
    reading.resolve()
    expect(await waiting).toBe(true)
    expect(sink.told).toEqual(['fill  at 0', 'refill default/a default/b at 2'])
    expect(feed.revision).toBe(2)
  })

  it('tries again where the store cannot be read', async () => {
    const real = createMemoryStore()
    const away = new StoreUnavailableError('here', 'it is away')
    let failures = 0
    const pages: Store['pages'] = (prefix, entriesMax) => {
      failures -= 1
      if (failures >= 0) throw away
      return real.pages(prefix, entriesMax)
    }
    const { feed, store, write, attach, clock, warnings } = await startFeed({ pages }, real)
    await feed.start()
    const sink = await attach(pods)
    store.hold()
    await write(`${pods}default/a`)
    failures = 2
    store.loseHistory()
    await clock.advance(2 * refillRetryMs - 1)
    expect(sink.told).toEqual(['fill  at 0'])
    await clock.advance(1)
    await write(`${pods}default/b`)
    await clock.settle()
    expect(sink.told).toEqual(['fill  at 0', 'refill default/a at 1', 'put default/b at 2'])
    const tryingAgain = expect.stringMatching(/^the store could not be read anew, trying again: .*it is away/)
    expect(warnings.slice(1)).toEqual([tryingAgain, tryingAgain])
  })

  it('begins again at a further gap, and a sink that is just being filled is filled then', async () => {
    const real = createMemoryStore()
    const gates: PromiseWithResolvers<void>[] = []
    let isHeld = false
    const { feed, store, write, attach, clock } = await startFeed(
      {
        async *pages(prefix, entriesMax) {
          const pages = real.pages(prefix, entriesMax)
          if (isHeld) {
            const gate = Promise.withResolvers<void>()
            gates.push(gate)
            await gate.promise
          }
          yield* pages
        },
      },
      real,
    )
    await feed.start()
    const sink = await attach(pods)
    isHeld = true
    store.hold()
    await write(`${pods}default/a`)
    store.loseHistory()
    await clock.settle()
    store.hold()
    await write(`${pods}default/b`)
    store.loseHistory()
    await clock.settle()
    isHeld = false
    for (const { resolve } of gates) resolve()
    await clock.settle()
    await write(`${pods}default/c`)
    await clock.settle()
    expect(sink.told.at(-1)).toBe('put default/c at 3')
    expect(feed.revision).toBe(3)
    expect(sink.told.filter((line) => line.startsWith('put'))).toEqual(['put default/c at 3'])
  })

  it('stops trying when it is closed', async () => {
    const real = createMemoryStore()
    let reads = 0
    let isAway = false
    const pages: Store['pages'] = (prefix, entriesMax) => {
      reads += 1
      if (isAway) throw new StoreUnavailableError('here', 'it is away')
      return real.pages(prefix, entriesMax)
    }
    const { feed, store, attach, clock } = await startFeed({ pages }, real)
    await feed.start()
    await attach(pods)
    isAway = true
    store.loseHistory()
    await clock.settle()
    feed.close()
    const before = reads
    await clock.advance(10 * refillRetryMs)
    expect(reads).toBe(before)
  })

  it('stops when the store is closed', async () => {
    const real = createMemoryStore()
    let isClosed = false
    const latest = async () => {
      if (isClosed) throw new StoreClosedError()
      return real.latest()
    }
    const { feed, store, clock, warnings } = await startFeed({ latest }, real)
    await feed.start()
    isClosed = true
    store.loseHistory()
    await clock.advance(10 * refillRetryMs)
    expect(warnings).toHaveLength(1)
  })
})
