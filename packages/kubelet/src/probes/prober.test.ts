import type { Probe } from '@coracle/api'
import { sleep, virtualEnvironment } from '@coracle/environment'
import { describe, expect, it } from 'vitest'
import { Prober } from './prober.ts'

/** Runs a probe whose checks answer as given (then as the last one), and says what came of it and when, in seconds. */
async function probe(
  settings: Partial<Probe>,
  answers: readonly boolean[],
  seconds: number,
  paused = () => false,
  startedMs = 0,
) {
  const { clock } = virtualEnvironment()
  const start = clock.now()
  const log: string[] = []
  const at = () => (clock.now() - start) / 1000
  let checks = 0
  const prober = new Prober({
    clock,
    probe: { periodSeconds: 10, failureThreshold: 3, successThreshold: 1, timeoutSeconds: 1, ...settings },
    containerStartedAtMs: start + startedMs,
    check: async () => {
      const ok = answers[Math.min(checks, answers.length - 1)] ?? true
      checks += 1
      return { ok, output: 'no' }
    },
    paused,
    onNews: () => log.push(`${at()} failure`),
    onVerdict: (healthy) => log.push(`${at()} ${healthy ? 'healthy' : 'unhealthy'}`),
  })
  await clock.advance(seconds * 1000)
  prober.close()
  await clock.advance('1h')
  return { log, checks }
}

describe('prober', () => {
  it('checks at once, then every period, until it is closed', async () => {
    expect(await probe({}, [true], 25)).toEqual({ log: ['0 healthy'], checks: 3 })
  })

  it('waits no longer for its first check than it is to, whatever the clock said when the container started', async () => {
    const anHourAhead = 3_600_000
    const { log } = await probe({ initialDelaySeconds: 5 }, [true], 25, () => false, anHourAhead)
    expect(log).toEqual(['5 healthy'])
  })

  it('tells of each check how it went and how long it took', async () => {
    const { clock } = virtualEnvironment()
    const results: unknown[] = []
    const prober = new Prober({
      clock,
      probe: { periodSeconds: 10, timeoutSeconds: 1 },
      containerStartedAtMs: clock.now(),
      check: async () => {
        await sleep(clock, 30)
        return { ok: results.length === 0, output: '' }
      },
      paused: () => false,
      onResult: ({ ok }, durationMs) => results.push([ok, durationMs]),
      onNews: () => {},
      onVerdict: () => {},
    })
    await clock.advance('15s')
    prober.close()
    expect(results).toEqual([
      [true, 30],
      [false, 30],
    ])
  })

  it('waits for the initial delay', async () => {
    expect((await probe({ initialDelaySeconds: 15 }, [true], 20)).log).toEqual(['15 healthy'])
  })

  it('takes as many failures in a row as the threshold says', async () => {
    const { log } = await probe({}, [true, false, false, true, false], 70)
    expect(log.filter((line) => !line.endsWith('failure'))).toEqual(['0 healthy', '60 unhealthy'])
    expect(log.filter((line) => line.endsWith('failure'))).toEqual([
      '10 failure',
      '20 failure',
      '40 failure',
      '50 failure',
      '60 failure',
      '70 failure',
    ])
  })

  it('takes as many successes in a row as the threshold says', async () => {
    expect((await probe({ successThreshold: 2 }, [true], 15)).log).toEqual(['10 healthy'])
  })

  it('does not check while it is paused', async () => {
    expect(await probe({}, [true], 60, () => true)).toEqual({ log: [], checks: 0 })
  })

  it('gives a check no longer than its timeout', async () => {
    const { clock } = virtualEnvironment()
    const outputs: string[] = []
    const prober = new Prober({
      clock,
      probe: { timeoutSeconds: 3, failureThreshold: 1 },
      containerStartedAtMs: clock.now(),
      check: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ ok: false, output: String(signal.reason.message) }))
        }),
      paused: () => false,
      onNews: ({ output }) => outputs.push(output),
      onVerdict: () => {},
    })
    await clock.advance('2900ms')
    expect(outputs).toEqual([])
    await clock.advance('100ms')
    expect(outputs).toEqual(['timed out after 3s'])
    prober.close()
  })

  /** A prober whose checks are counted, and cannot be made where `unknown`. */
  function counted(settings: Partial<Probe>, unknown: boolean) {
    const { clock } = virtualEnvironment()
    const seen = { checks: 0, news: 0, verdicts: 0 }
    const prober = new Prober({
      clock,
      probe: { periodSeconds: 10, failureThreshold: 1, ...settings },
      containerStartedAtMs: clock.now(),
      check: async () => {
        seen.checks += 1
        return { ok: !unknown, unknown, output: '' }
      },
      paused: () => false,
      onNews: () => {
        seen.news += 1
      },
      onVerdict: () => {
        seen.verdicts += 1
      },
    })
    return { clock, prober, seen }
  }

  it('tries a check that cannot be made three times, and then lets it count for nothing', async () => {
    const { clock, prober, seen } = counted({}, true)
    await clock.advance('5s')
    expect(seen).toEqual({ checks: 3, news: 1, verdicts: 0 })
    prober.close()
  })

  it('checks at once when it is told to, but not before the initial delay', async () => {
    const { clock, prober, seen } = counted({ initialDelaySeconds: 20 }, false)
    await clock.advance('15s')
    prober.checkNow()
    await clock.advance('1s')
    expect(seen.checks).toBe(0)
    await clock.advance('6s')
    expect(seen.checks).toBe(1)
    prober.checkNow()
    await clock.advance('1s')
    expect(seen.checks).toBe(2)
    prober.close()
  })
})
