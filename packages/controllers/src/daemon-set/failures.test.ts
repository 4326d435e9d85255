import { describe, expect, it } from 'vitest'
import { DaemonPodFailures } from './failures.ts'

describe('failed daemon pods on a node', () => {
  it('are removed after waits that double, up to 15 minutes', () => {
    const failures = new DaemonPodFailures()
    let now = 0
    const waits = Array.from({ length: 12 }, () => {
      const wait = failures.waitMs('ds', 'n', now)
      now += wait
      failures.record('ds', 'n', now)
      return wait
    })
    expect(waits.map((ms) => ms / 1000)).toEqual([0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900])
  })

  it('do not concern other nodes and other daemon sets', () => {
    const failures = new DaemonPodFailures()
    failures.record('ds', 'n', 0)
    expect([failures.waitMs('ds', 'm', 0), failures.waitMs('other', 'n', 0), failures.waitMs('ds', 'n', 0)]).toEqual([
      0, 0, 1000,
    ])
  })

  it('are forgotten after half an hour without any', () => {
    const failures = new DaemonPodFailures()
    failures.record('ds', 'n', 0)
    failures.record('ds', 'n', 1000)
    failures.record('ds', 'n', 1000 + 31 * 60_000)
    expect(failures.waitMs('ds', 'n', 1000 + 31 * 60_000)).toBe(1000)
  })
})
