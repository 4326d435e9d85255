import { VirtualClock } from '@coracle/environment'
import { beforeEach, describe, expect, it } from 'vitest'
import { UsageMeter } from './usage-meter.ts'

describe('what is used, by two looks at counters', () => {
  let clock: VirtualClock
  let meter: UsageMeter
  let looks: number
  /** Cores that each has used all the time, from the start on. */
  let cores: Map<string, number>
  let usedMs: Map<string, number>
  let readAtMs: number

  beforeEach(() => {
    clock = new VirtualClock()
    cores = new Map([['a', 0.5]])
    usedMs = new Map()
    looks = 0
    readAtMs = clock.monotonicMs()
    meter = new UsageMeter(clock, async (keys) => {
      looks += 1
      const passedMs = clock.monotonicMs() - readAtMs
      readAtMs = clock.monotonicMs()
      for (const [key, share] of cores) usedMs.set(key, (usedMs.get(key) ?? 0) + share * passedMs)
      return new Map(
        keys.filter((key) => cores.has(key)).map((key) => [key, { cpuMs: usedMs.get(key) ?? 0, memoryBytes: 7 }]),
      )
    })
  })

  const measure = async (...keys: readonly string[]) => {
    const measured = meter.measure(keys)
    await clock.settle()
    await clock.advance('1s')
    return Object.fromEntries(await measured)
  }

  it('waits a second for the second look when somebody asks for the first time', async () => {
    expect(await measure('a')).toEqual({ a: { cpuCores: 0.5, memoryBytes: 7, windowMs: 1000 } })
    expect(looks).toBe(2)
  })

  it('looks no earlier than a second later where a timer fires early, as those of the system may', async () => {
    const setTimer = clock.setTimer.bind(clock)
    clock.setTimer = (delayMs, ...rest) => setTimer(delayMs === 1000 ? 999.5 : delayMs, ...rest)
    expect(await measure('a')).toEqual({ a: { cpuCores: 0.5, memoryBytes: 7, windowMs: 1000 } })
  })

  it('takes the look of an earlier question where there is one of the last minute', async () => {
    await measure('a')
    await clock.advance('14s')
    looks = 0
    expect(await measure('a')).toMatchObject({ a: { windowMs: 15_000 } })
    expect(looks).toBe(1)
    await clock.advance('2m')
    expect(await measure('a')).toMatchObject({ a: { windowMs: 1000 } })
  })

  it('looks back a quarter of a minute where somebody asks all the time, and forgets what is older', async () => {
    for (let asked = 0; asked < 60; asked++) await measure('a')
    await measure('a')
    cores.set('a', 2)
    for (let asked = 0; asked < 25; asked++) await measure('a')
    const { a } = await measure('a')
    expect(a).toMatchObject({ cpuCores: 2 })
    expect(a?.windowMs).toBeGreaterThanOrEqual(15_000)
    expect(a?.windowMs).toBeLessThanOrEqual(21_000)
  })

  it('takes a second look for what has begun since the last', async () => {
    await measure('a')
    cores.set('b', 1)
    expect(await measure('a', 'b')).toMatchObject({ a: { cpuCores: 0.5 }, b: { cpuCores: 1, windowMs: 1000 } })
  })

  it('leaves out what has no counters, and does not wait for it', async () => {
    expect(await measure('gone')).toEqual({})
    expect(looks).toBe(1)
  })
})
