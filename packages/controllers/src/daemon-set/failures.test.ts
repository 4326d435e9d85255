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

  it('are remembered for half an hour', () => {
    const failures = new DaemonPodFailures()
    failures.record('ds', 'n', 0)
    failures.record('ds', 'n', 30 * 60_000)
    expect(failures.waitMs('ds', 'n', 30 * 60_000)).toBe(2000)
  })

  it('are forgotten where ten thousand others came after them', () => {
    const failures = new DaemonPodFailures()
    for (let index = 0; index <= 10_000; index++) failures.record('ds', `n${index}`, 0)
    expect(['n0', 'n1', 'n10000'].map((node) => failures.waitMs('ds', node, 0))).toEqual([0, 1000, 1000])
    failures.record('ds', 'n1', 0)
    failures.record('ds', 'n0', 0)
    expect(['n0', 'n1', 'n2'].map((node) => failures.waitMs('ds', node, 0))).toEqual([1000, 2000, 0])
  })

  it('are forgotten after half an hour without any', () => {
    const failures = new DaemonPodFailures()
    failures.record('ds', 'n', 0)
    failures.record('ds', 'n', 1000)
    failures.record('ds', 'n', 1000 + 31 * 60_000)
    expect(failures.waitMs('ds', 'n', 1000 + 31 * 60_000)).toBe(1000)
  })
})
