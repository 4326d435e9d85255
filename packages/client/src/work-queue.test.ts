import { createMetricsRegistry, VirtualClock } from '@coracle/environment'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { bucketRateLimiter } from './rate-limiter.ts'
import { createWorkQueue, freshInRowMax, type Priority, retriesAtOnceMax, type WorkQueue } from './work-queue.ts'

let clock: VirtualClock
let queue: WorkQueue

beforeEach(() => {
  clock = new VirtualClock()
  queue = createWorkQueue(clock, { keysMax: 4 })
})

/** Takes everything that is ready. */
async function drain(): Promise<string[]> {
  const keys: string[] = []
  while (queue.length > 0) {
    const key = await queue.get()
    if (key === undefined) break
    keys.push(key)
    queue.done(key)
  }
  return keys
}

describe('work queue', () => {
  it('hands keys out in the order they came, each once', async () => {
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
    expect(await drain()).toEqual(['a', 'b', 'c'])
  })

  it('never hands out a key that is being processed, and brings it back when it was added meanwhile', async () => {
    queue.add('a')
    expect(await queue.get()).toBe('a')
    queue.add('a')
    queue.add('a')
    expect(queue.length).toBe(0)
    queue.done('a')
    expect(await drain()).toEqual(['a'])
  })

  it('wakes a taker that waits', async () => {
    const taken = queue.get()
    queue.add('a')
    queue.add('a')
    expect(await taken).toBe('a')
    queue.done('a')
    expect(queue.length).toBe(0)
  })

  it('wakes as many takers as there are keys', async () => {
    const taken = Promise.all([queue.get(), queue.get(), queue.get()])
    for (const key of ['a', 'b', 'c']) queue.add(key)
    expect((await taken).sort()).toEqual(['a', 'b', 'c'])
  })

  it('adds after a wait, and of two waits the shorter counts', async () => {
    queue.addAfter('a', 1000)
    queue.addAfter('a', 100)
    queue.addAfter('a', 500)
    await clock.advance(99)
    expect(queue.length).toBe(0)
    await clock.advance(1)
    expect(await drain()).toEqual(['a'])
    await clock.advance(10_000)
    expect(queue.length).toBe(0)
  })

  it('takes a wait for a poll only where nobody waits for more', async () => {
    let beats = 0
    const beat = () => {
      beats += 1
      clock.setTimer(10_000, beat, { housekeeping: true })
    }
    beat()
    queue.addAfter('poll', 200_000, { poll: true })
    queue.addAfter('poll', 200_000, { housekeeping: true })
    await clock.advance('190s')
    beats = 0
    const taken = queue.get()
    await clock.advance('20s')
    expect(await taken).toBe('poll')
    queue.done('poll')
    // Those of a minute after the clock was set going, and that at the end.
    expect(beats).toBe(2)
    queue.addAfter('more', 200_000, { poll: true })
    queue.addAfter('more', 200_000)
    beats = 0
    await clock.advance('250s')
    expect(beats).toBe(6 + 1 + 5)
  })

  it('takes a wait for housekeeping only where nobody waits for more', async () => {
    const quiet = { housekeeping: true }
    queue.addAfter('idle', 100_000, quiet)
    queue.addAfter('idle', 90_000, quiet)
    queue.addAfter('sooner', 90_000, quiet)
    queue.addAfter('sooner', 120_000)
    queue.addAfter('later', 120_000)
    queue.addAfter('later', 90_000, quiet)
    const taken: [string, number][] = []
    const take = async () => {
      for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
        taken.push([key, clock.monotonicMs()])
        queue.done(key)
      }
    }
    void take()
    await clock.advance('80s')
    await clock.advance('1h')
    expect(taken).toEqual([
      ['idle', 90_000],
      ['sooner', 90_000],
      ['later', 90_000],
    ])
    queue.addAfter('idle', 90_000, quiet)
    queue.addAfter('sooner', 90_000, quiet)
    queue.addAfter('sooner', 120_000)
    const startMs = clock.monotonicMs()
    await clock.advance('1h')
    expect(taken.slice(3)).toEqual([
      ['idle', startMs + 90_000],
      ['sooner', startMs + 90_000],
    ])
  })

  it.each([
    [0, 5],
    [1, 10],
    [7, 640],
    [18, 1_000_000],
    [1000, 1_000_000],
  ])('after %i failures waits %i ms', async (failures, waitMs) => {
    for (let failure = 0; failure < failures; failure++) {
      queue.addRateLimited('a')
      await clock.advance('1000s')
      await drain()
    }
    expect(queue.retries('a')).toBe(failures)
    queue.addRateLimited('a')
    await clock.advance(waitMs - 1)
    expect(queue.length).toBe(0)
    await clock.advance(1)
    expect(queue.length).toBe(1)
  })

  it('starts from the shortest wait again once a key is forgotten', async () => {
    for (let failure = 0; failure < 5; failure++) queue.addRateLimited('a')
    await clock.advance('1s')
    await drain()
    queue.forget('a')
    queue.addRateLimited('a')
    await clock.advance(5)
    expect(await drain()).toEqual(['a'])
  })

  it('ends waits and takes nothing more once it is shut down', async () => {
    const taken = queue.get()
    queue.addAfter('b', 10)
    queue.shutDown()
    queue.add('a')
    await clock.advance(100)
    expect(await taken).toBeUndefined()
    expect(await queue.get()).toBeUndefined()
    expect(queue.length).toBe(0)
  })

  it('refuses more keys than it may hold', () => {
    for (const key of ['a', 'b', 'c']) queue.add(key)
    queue.addAfter('d', 10)
    expect(() => queue.add('e')).toThrow('the work queue is full: it holds 4 keys')
  })

  it('asks its rate limiter how long a failed key waits', async () => {
    const limited = createWorkQueue(clock, { rateLimiter: bucketRateLimiter(clock, { burst: 1, perSecond: 10 }) })
    for (const key of ['a', 'b', 'c']) limited.addRateLimited(key)
    expect(limited.length).toBe(1)
    await clock.advance(100)
    expect(limited.length).toBe(2)
    await clock.advance(100)
    expect(limited.length).toBe(3)
  })
})

describe('priorities', () => {
  beforeEach(() => {
    queue = createWorkQueue(clock)
  })

  it('serve what is fresh before what only looks again', async () => {
    for (const key of ['a', 'b']) queue.add(key, 'background')
    for (const key of ['c', 'd']) queue.add(key)
    expect(await drain()).toEqual(['c', 'd', 'a', 'b'])
  })

  it('make a key fresh that changes while it waits in the background, and never the other way round', async () => {
    for (const key of ['a', 'b']) queue.add(key, 'background')
    queue.add('b')
    queue.add('c')
    queue.add('c', 'background')
    expect(queue.length).toBe(3)
    expect(await drain()).toEqual(['b', 'c', 'a'])
  })

  it('stay with a key that waits or is tried again', async () => {
    const busy: [string, Priority][] = [
      ['later', 'background'],
      ['failed', 'background'],
      ['changed', 'background'],
      ['again', 'background'],
    ]
    for (const [key, priority] of busy) queue.add(key, priority)
    for (const _ of busy) await queue.get()
    queue.addAfter('later', 10)
    queue.addRateLimited('failed')
    queue.addAfter('changed', 10)
    queue.addAfter('changed', 20, { priority: 'fresh' })
    queue.add('again', 'background')
    for (const [key] of busy) queue.done(key)
    await clock.advance(10)
    queue.add('new')
    expect(await drain()).toEqual(['changed', 'new', 'again', 'failed', 'later'])
  })

  it('let no background key wait for more than so many fresh ones', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 0, max: 200 }), async (waiting, fresh) => {
        const queue = createWorkQueue(clock)
        for (let index = 0; index < waiting; index++) queue.add(`background ${index}`, 'background')
        let inRow = 0
        for (let index = 0; index < fresh; index++) {
          queue.add(`fresh ${index}`)
          queue.add(`more ${index}`)
          const key = (await queue.get()) ?? ''
          queue.done(key)
          inRow = key.startsWith('background') ? 0 : inRow + 1
          if (index < waiting * freshInRowMax) expect(inRow).toBeLessThanOrEqual(freshInRowMax)
        }
      }),
      { numRuns: 20 },
    )
  })
})

describe('metrics of a queue', () => {
  it('count what is added, tried again, waits and is under way', async () => {
    const metrics = createMetricsRegistry()
    const queue = createWorkQueue(clock, { name: 'web', metrics })
    const value = (name: string, more = '') =>
      Number(metrics.text().match(new RegExp(`^${name}\\{name="web",controller="web"${more}\\} (.*)$`, 'm'))?.[1])
    queue.add('a')
    queue.add('a')
    queue.add('b', 'background')
    await clock.advance(2000)
    expect(value('workqueue_adds_total')).toBe(2)
    expect(value('workqueue_depth', ',priority="fresh"')).toBe(1)
    expect(value('workqueue_depth', ',priority="background"')).toBe(1)
    await queue.get()
    await queue.get()
    expect(value('workqueue_depth', ',priority="fresh"')).toBe(0)
    expect(value('workqueue_queue_duration_seconds_sum')).toBe(4)
    expect(value('workqueue_queue_duration_seconds_bucket', ',le="1"')).toBe(0)
    expect(value('workqueue_queue_duration_seconds_bucket', ',le="10"')).toBe(2)
    await clock.advance(3000)
    queue.done('a')
    queue.addRateLimited('a')
    expect(value('workqueue_work_duration_seconds_sum')).toBe(3)
    expect(value('workqueue_retries_total')).toBe(1)
    await clock.advance(1000)
    expect(value('workqueue_unfinished_work_seconds')).toBe(4)
    expect(value('workqueue_longest_running_processor_seconds')).toBe(4)
    queue.shutDown()
    expect(metrics.text()).not.toMatch(/^workqueue_(depth|unfinished_work_seconds)\{/m)
  })
})

describe('keys that have failed', () => {
  beforeEach(() => {
    queue = createWorkQueue(clock)
  })

  it('are tried again at once when what they wait for has come, by name, and others wait on', async () => {
    for (const key of ['b', 'other', 'a']) queue.addRateLimited(key)
    queue.retryNow((key) => key !== 'other')
    expect(await drain()).toEqual(['a', 'b'])
    await clock.advance(5)
    expect(await drain()).toEqual(['other'])
  })

  it('that are not: what waits for a time of its own goes on waiting', async () => {
    queue.addAfter('later', 1000)
    queue.addRateLimited('mended')
    queue.forget('mended')
    queue.retryNow(() => true)
    expect(queue.length).toBe(0)
  })

  it('wait as much longer when they fail again as if they had not been tried in between', async () => {
    for (let failures = 0; failures < 10; failures++) queue.addRateLimited('a')
    queue.retryNow(() => true)
    expect(await drain()).toEqual(['a'])
    queue.addRateLimited('a')
    await clock.advance(5 * 2 ** 10 - 1)
    expect(queue.length).toBe(0)
    await clock.advance(1)
    expect(await drain()).toEqual(['a'])
  })

  it('for what comes while they are being processed are tried again at once, and need not wait', async () => {
    for (let failures = 0; failures < 10; failures++) queue.addRateLimited('a')
    queue.retryNow(() => true)
    await queue.get()
    queue.retryNow(() => true)
    queue.addRateLimited('a')
    queue.done('a')
    expect(await drain()).toEqual(['a'])
    queue.addRateLimited('a')
    expect(queue.length).toBe(0)
  })

  it('are tried so many at once, and no more', () => {
    for (let index = 0; index < retriesAtOnceMax + 5; index++) queue.addRateLimited(`${index}`)
    queue.retryNow(() => true)
    expect(queue.length).toBe(retriesAtOnceMax)
  })
})
