import { describe, expect, it } from 'vitest'
import { sleep } from './clock.ts'
import { VirtualClock } from './virtual-clock.ts'

describe('VirtualClock', () => {
  it('stands still until it is moved', async () => {
    const clock = new VirtualClock('2026-01-01T00:00:00Z')
    let fired = false
    clock.setTimer(1000, () => {
      fired = true
    })
    await clock.settle()
    expect(clock.now()).toBe(Date.parse('2026-01-01T00:00:00Z'))
    expect(fired).toBe(false)
    await clock.advance('999ms')
    expect(fired).toBe(false)
    await clock.advance('1ms')
    expect(fired).toBe(true)
  })

  it('fires each timer at its own due time, ties in the order they were set', async () => {
    const clock = new VirtualClock(0)
    const fired: string[] = []
    const note = (name: string) => () => fired.push(`${name}@${clock.now()}`)
    clock.setTimer(30, note('c'))
    clock.setTimer(10, note('a'))
    clock.setTimer(30, note('d'))
    clock.setTimer(20, note('b'))
    await clock.advance(100)
    expect(fired).toEqual(['a@10', 'b@20', 'c@30', 'd@30'])
    expect(clock.now()).toBe(100)
    expect(clock.monotonicMs()).toBe(100)
  })

  it('fires timers that a timer or a promise sets on the way', async () => {
    const clock = new VirtualClock(0)
    const fired: number[] = []
    const loop = async () => {
      for (let round = 0; round < 3; round++) {
        await sleep(clock, 10)
        fired.push(clock.now())
      }
    }
    const done = loop()
    await clock.advance('25ms')
    expect(fired).toEqual([10, 20])
    await clock.advance('5ms')
    expect(fired).toEqual([10, 20, 30])
    await done
  })

  it('settles chains of promises and deferred callbacks of any depth', async () => {
    const clock = new VirtualClock(0)
    let depth = 0
    const descend = async (): Promise<void> => {
      for (let step = 0; step < 50; step++) await Promise.resolve()
      depth++
      if (depth < 20) clock.defer(() => void descend())
    }
    void descend()
    await clock.settle()
    expect(depth).toBe(20)
  })

  it('does not fire a cancelled timer', async () => {
    const clock = new VirtualClock(0)
    let fired = 0
    const timer = clock.setTimer(5, () => fired++)
    clock.setTimer(5, () => fired++)
    timer.cancel()
    await clock.advance(10)
    expect(fired).toBe(1)
  })

  it('refuses to go backwards', async () => {
    await expect(new VirtualClock(0).advance(-1)).rejects.toThrow('time does not go backwards')
  })
})

describe('sleep', () => {
  it('rejects with the reason of the signal and leaves no timer behind', async () => {
    const clock = new VirtualClock(0)
    const abort = new AbortController()
    const sleeping = sleep(clock, 1000, abort.signal)
    abort.abort(new Error('stop'))
    await expect(sleeping).rejects.toThrow('stop')
    await expect(sleep(clock, 1, abort.signal)).rejects.toThrow('stop')
  })
})
