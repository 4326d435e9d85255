import type { Node } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { EvictionLimiter } from './eviction-limiter.ts'
import { type Disruption, disruptionOf, Zones, zoneOf } from './zones.ts'

const node = (name: string, zone?: string, labels: Readonly<Record<string, string>> = {}): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: zone === undefined ? labels : { ...labels, 'topology.kubernetes.io/zone': zone } },
  }) as Node

describe('zoneOf', () => {
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['nothing', {}, ''],
    ['a zone', { 'topology.kubernetes.io/zone': 'z' }, '/z'],
    ['a zone of a region', { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }, 'r/z'],
    [
      'the older labels first',
      { 'topology.kubernetes.io/zone': 'z', 'failure-domain.beta.kubernetes.io/zone': 'y' },
      '/y',
    ],
  ])('is made of %s', (_, labels, expected) => {
    expect(zoneOf(node('n', undefined, labels))).toBe(expected)
  })
})

describe('disruptionOf', () => {
  it.each<[ready: number, unready: number, Disruption]>([
    [0, 0, 'none'],
    [5, 0, 'none'],
    [0, 1, 'full'],
    [0, 9, 'full'],
    [1, 2, 'none'],
    [3, 3, 'none'],
    [9, 11, 'partial'],
    [10, 12, 'none'],
    [1, 3, 'partial'],
  ])('of %i nodes that are ready and %i that are not is %s', (ready, unready, expected) => {
    expect(disruptionOf({ ready, unready })).toBe(expected)
  })
})

describe('the eviction rate', () => {
  /** So many nodes of a zone, and how many of them are ready. */
  function zonesOf(...sizes: readonly (readonly [zone: string, ready: number, unready: number])[]): Zones {
    const zones = new Zones()
    for (const [zone, ready, unready] of sizes) {
      for (let index = 0; index < ready + unready; index++) zones.set(node(`${zone}${index}`, zone), index < ready)
    }
    return zones
  }

  it.each<[string, Zones, number]>([
    ['usual where few nodes are lost', zonesOf(['a', 8, 2]), 0.1],
    ['zero where all nodes of all zones are lost', zonesOf(['a', 0, 3], ['b', 0, 1]), 0],
    ['usual where all nodes of one zone are lost', zonesOf(['a', 0, 3], ['b', 1, 0]), 0.1],
    ['zero in a small zone of which most is lost', zonesOf(['a', 20, 30]), 0],
    ['low in a large zone of which most is lost', zonesOf(['a', 20, 31]), 0.01],
  ])('is %s', (_, zones, expected) => {
    expect(zones.evictionRate('/a')).toBe(expected)
  })

  it('follows nodes that recover, move, go, or are not to count', () => {
    const zones = zonesOf(['a', 1, 3])
    expect(zones.evictionRate('/a')).toBe(0)
    zones.set(node('a1', 'a'), true)
    expect(zones.evictionRate('/a')).toBe(0.1)
    zones.set(node('a1', 'a'), false)
    zones.set(node('a2', 'b'), false)
    expect(zones.evictionRate('/a')).toBe(0.1)
    zones.set(node('a2', 'a'), false)
    zones.set(node('a0', 'a', { 'node.kubernetes.io/exclude-disruption': '' }), true)
    expect(zones.isLostWithAll('/a')).toBe(true)
    for (const name of ['a1', 'a2', 'a3']) zones.remove(name)
    zones.set(node('a0', 'a'), true)
    expect(zones.isLostWithAll('/a')).toBe(false)
  })

  it('is usual in a zone whose nodes say nothing about it, whatever becomes of the others', () => {
    const zones = zonesOf(['b', 0, 3])
    zones.set(node('a0', 'a', { 'node.kubernetes.io/exclude-disruption': '' }), false)
    expect(zones.evictionRate('/b')).toBe(0)
    expect(zones.evictionRate('/a')).toBe(0.1)
  })
})

describe('the eviction limiter', () => {
  it('gives one at once, then by the rate', () => {
    const limiter = new EvictionLimiter(0.1)
    const given = [0, 1, 9_999, 10_000, 15_000, 40_000, 40_001].map((nowMs) => limiter.tryTake(nowMs))
    expect(given).toEqual([true, false, false, true, false, true, false])
  })

  it('lets whoever waits wait anew at a new rate, and for ever at none', () => {
    const limiter = new EvictionLimiter(0.1)
    limiter.tryTake(0)
    limiter.setRate(0.01, 5000)
    expect([104_999, 105_000].map((nowMs) => limiter.tryTake(nowMs))).toEqual([false, true])
    limiter.setRate(0, 106_000)
    expect(limiter.tryTake(1e9)).toBe(false)
    limiter.setRate(0.1, 1e9)
    expect([1e9, 1e9 + 10_000].map((nowMs) => limiter.tryTake(nowMs))).toEqual([false, true])
  })
})
