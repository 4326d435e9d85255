import { VirtualClock } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { createWorkQueue, type WorkQueue } from './work-queue.ts'

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
})
