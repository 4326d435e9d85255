import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { realClock, sleep } from './clock.ts'
import { quietLeadMs, VirtualClock } from './virtual-clock.ts'

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

  it('stands still while work outside it is under way, whether it succeeds or fails', async () => {
    const clock = new VirtualClock(0)
    const events: string[] = []
    const outside = (name: string, outcome: () => void) =>
      clock
        .hold(new Promise<void>((resolve) => realClock.setTimer(5, resolve)).then(outcome))
        .catch(() => {})
        .then(() => events.push(`${name}@${clock.now()}`))
    clock.setTimer(10, () => {
      void outside('call', () => {})
      void outside('failure', () => {
        throw new Error('refused')
      })
    })
    clock.setTimer(11, () => events.push(`timer@${clock.now()}`))
    await clock.advance('1s')
    expect(events).toEqual(['call@10', 'failure@10', 'timer@11'])
  })

  it('settles only when work outside it has, which may defer a part of itself', async () => {
    const clock = new VirtualClock(0)
    let isDone = false
    const work = new Promise<void>((resolve) => realClock.setTimer(5, () => clock.defer(resolve)))
    void clock.hold(work).then(() => {
      isDone = true
    })
    await clock.settle()
    expect(isDone).toBe(true)
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

  it('lets all that happens by itself come first of what is due at a moment, before anybody reacts', async () => {
    const clock = new VirtualClock(0)
    const fired: string[] = []
    const external = (name: string) =>
      void sleep(clock, 10, undefined, { external: true }).then(() => fired.push(`reaction to ${name}`))
    const note = (name: string) => () => fired.push(name)
    clock.setTimer(10, note('deadline'))
    clock.setTimer(10, note('one'), { external: true })
    external('one')
    clock.setTimer(10, note('two'), { external: true })
    clock.setTimer(11, note('later'), { external: true })
    clock.setTimer(5, note('earlier'))
    await clock.advance(100)
    expect(fired).toEqual(['earlier', 'one', 'two', 'reaction to one', 'deadline', 'later'])
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

describe('housekeeping on a VirtualClock', () => {
  /** Beats every ten seconds from now on; returns when. */
  function beats(clock: VirtualClock, everyMs = 10_000): readonly number[] {
    const times: number[] = []
    const beat = () => {
      times.push(clock.now())
      clock.setTimer(everyMs, beat, { housekeeping: true })
    }
    clock.setTimer(everyMs, beat, { housekeeping: true })
    return times
  }

  it('is left out where nothing else happens, and has been done at the end', async () => {
    const clock = new VirtualClock(0)
    const times = beats(clock)
    await clock.advance('24h')
    expect(times).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 86_400_000])
  })

  it('runs every round for a minute after anything else has happened, or the clock was set going', async () => {
    const clock = new VirtualClock(0)
    const times = beats(clock)
    clock.setTimer(1_000_000, () => {})
    await clock.advance(2_000_000)
    const after = [10, 20, 30, 40, 50, 60].map((seconds) => 1_000_000 + seconds * 1000)
    expect(times.slice(6)).toEqual([1_000_000, ...after, 2_000_000])
    await clock.advance('30s')
    expect(times.slice(-3)).toEqual([2_010_000, 2_020_000, 2_030_000])
  })

  it('catches up in the order it was due, before the timer that ends the quiet', async () => {
    const clock = new VirtualClock(0)
    const fired: string[] = []
    const note = (name: string) => () => fired.push(`${name}@${clock.now()}`)
    clock.setTimer(900_000, note('deadline'))
    clock.setTimer(300_000, note('second'), { housekeeping: true })
    clock.setTimer(200_000, note('first'), { housekeeping: true })
    clock.setTimer(100_000, note('cancelled'), { housekeeping: true }).cancel()
    await clock.advance('1h')
    expect(fired).toEqual(['first@900000', 'second@900000', 'deadline@900000'])
  })

  it('changes nothing about other timers, and is never further behind than its period when one fires', async () => {
    const delays = fc.array(fc.integer({ min: 0, max: 500_000 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(delays, fc.integer({ min: 1000, max: quietLeadMs }), async (chain, periodMs) => {
        const clock = new VirtualClock(0)
        const times = beats(clock, periodMs)
        const fired: number[] = []
        const run = async () => {
          for (const delayMs of chain) {
            await sleep(clock, delayMs)
            fired.push(clock.now())
            expect(clock.now() - (times.at(-1) ?? 0)).toBeLessThanOrEqual(periodMs)
          }
        }
        const running = run()
        await clock.advance(chain.reduce((sum, delayMs) => sum + delayMs, 0))
        await running
        expect(fired).toEqual(chain.map((_, index) => chain.slice(0, index + 1).reduce((sum, ms) => sum + ms, 0)))
      }),
      { numRuns: 50 },
    )
  })
})

describe('polls on a VirtualClock', () => {
  /** Calls `look` every `everyMs`, and `beat` every ten seconds as housekeeping. */
  function pollWith(clock: VirtualClock, everyMs: number, look: () => void, beat: () => void): void {
    const poll = () => {
      look()
      clock.setTimer(everyMs, poll, { poll: true })
    }
    const upkeep = () => {
      beat()
      clock.setTimer(10_000, upkeep, { housekeeping: true })
    }
    clock.setTimer(everyMs, poll, { poll: true })
    clock.setTimer(10_000, upkeep, { housekeeping: true })
  }

  it('come when they are due, and leave the quiet as it is', async () => {
    const clock = new VirtualClock(0)
    const polls: number[] = []
    const beats: number[] = []
    pollWith(
      clock,
      15_000,
      () => polls.push(clock.now()),
      () => beats.push(clock.now()),
    )
    await clock.advance('1h')
    expect(polls).toEqual(Array.from({ length: 240 }, (_, index) => (index + 1) * 15_000))
    expect(beats).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 3_600_000])
  })

  it('have what was left out made up for before the change they lead to, and end the quiet with it', async () => {
    const clock = new VirtualClock(0)
    const events: string[] = []
    const change = async (name: string) => {
      await clock.catchUp()
      events.push(`${name}@${clock.now()}`)
    }
    pollWith(
      clock,
      400_000,
      () => void change('change'),
      () => events.push(`beat@${clock.now()}`),
    )
    await clock.advance(500_000)
    const beats = (from: number, to: number) =>
      Array.from({ length: (to - from) / 10_000 + 1 }, (_, index) => `beat@${from + index * 10_000}`)
    expect(events).toEqual([
      ...beats(10_000, 60_000),
      'beat@400000',
      'change@400000',
      ...beats(410_000, 460_000),
      'beat@500000',
    ])
  })

  it('may hold the clock while what was left out is made up for', async () => {
    const clock = new VirtualClock(0)
    const events: string[] = []
    const call = async (name: string, answered: Promise<void>) => {
      await answered
      await clock.catchUp()
      events.push(`${name}@${clock.now()}`)
    }
    const answerLater = () => new Promise<void>((resolve) => realClock.setTimer(5, resolve))
    clock.setTimer(90_000, () => events.push('first beat'), { housekeeping: true })
    clock.setTimer(100_000, () => void clock.hold(call('at once', Promise.resolve())), { poll: true })
    clock.setTimer(190_000, () => events.push('second beat'), { housekeeping: true })
    clock.setTimer(200_000, () => void clock.hold(call('later', answerLater())), { poll: true })
    await clock.advance('1h')
    expect(events).toEqual(['first beat', 'at once@100000', 'second beat', 'later@200000'])
  })

  it('leave other changes nothing to wait for', async () => {
    const clock = new VirtualClock(0)
    clock.setTimer(15_000, () => {}, { poll: true })
    clock.setTimer(10_000, () => {}, { housekeeping: true })
    expect(clock.catchUp()).toBeUndefined()
    let answer: Promise<void> | undefined | 'not asked' = 'not asked'
    clock.setTimer(100_000, () => {
      answer = clock.catchUp()
    })
    await clock.advance('1h')
    expect(answer).toBeUndefined()
    expect(realClock.catchUp()).toBeUndefined()
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
