import { type IpRange, parseCidr } from '@coracle/api'
import { seededRandom, virtualEnvironment } from '@coracle/environment'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Balancer } from './balancer.ts'

const { clock } = virtualEnvironment()
const backends = Array.from({ length: 10 }, (_, index) => ({ address: `10.0.0.${index}`, port: 80 }))
let balancer: Balancer

beforeEach(() => {
  balancer = new Balancer(clock, seededRandom(7))
})

describe('a balancer', () => {
  it('chooses each backend as often as the others', () => {
    balancer.set(backends, undefined)
    const counts = new Map<string, number>()
    for (let turn = 0; turn < 10_000; turn += 1) {
      const address = balancer.order('client')[0]?.address ?? ''
      counts.set(address, (counts.get(address) ?? 0) + 1)
    }
    expect(counts.size).toBe(10)
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(100)
  })

  it('gives all of them, in any order, to be tried one after the other', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), fc.integer(), (count, seed) => {
        const seeded = new Balancer(clock, seededRandom(seed))
        seeded.set(backends.slice(0, count), undefined)
        expect(seeded.order('client').toSorted((a, b) => (a.address < b.address ? -1 : 1))).toEqual(
          backends.slice(0, count),
        )
      }),
    )
    balancer.set(backends.slice(0, 3), undefined)
    const orders = new Set(Array.from({ length: 200 }, () => JSON.stringify(balancer.order('client'))))
    expect(orders.size).toBe(6)
  })

  it('has nothing for clients of other ranges than are given, until others are', () => {
    const one = backends.slice(0, 1)
    const ranges = ['198.51.100.0/24', 'fd00::/8'].map((range) => parseCidr(range) as IpRange)
    balancer.set(one, undefined, ranges)
    const admitted = ['198.51.100.7', 'fd00::1', '198.51.101.7', '127.0.0.1', 'fe80::1%eth0', '']
    expect(admitted.map((client) => balancer.order(client).length)).toEqual([1, 1, 0, 0, 0, 0])
    balancer.set(one, undefined)
    expect(balancer.order('127.0.0.1')).toEqual(one)
  })

  describe('where clients stay', () => {
    const chosen = (client: string) => balancer.order(client)[0]
    const [first, second] = [backends[0] as (typeof backends)[0], backends[1] as (typeof backends)[0]]

    beforeEach(() => balancer.set(backends, 5000))

    it('tries first what a client was with, and then the others', () => {
      balancer.visited('a', first)
      balancer.visited('b', second)
      for (let turn = 0; turn < 20; turn += 1) expect([chosen('a'), chosen('b')]).toEqual([first, second])
      expect(new Set(balancer.order('a')).size).toBe(10)
    })

    it('forgets a client who has not come for so long', async () => {
      balancer.visited('a', first)
      await clock.advance(4999)
      expect(chosen('a')).toEqual(first)
      balancer.visited('a', first)
      await clock.advance(4999)
      expect(chosen('a')).toEqual(first)
      await clock.advance(1)
      expect(new Set(Array.from({ length: 100 }, () => chosen('a')?.address)).size).toBeGreaterThan(5)
    })

    it('sends a client elsewhere whose backend is gone', () => {
      balancer.visited('a', first)
      balancer.set([second], 5000)
      expect(balancer.order('a')).toEqual([second])
      expect([balancer.has({ ...first }), balancer.has({ ...second }), balancer.has({ ...second, port: 81 })]).toEqual([
        false,
        true,
        false,
      ])
    })
  })

  it('does not remember clients where they need not stay', () => {
    balancer.set(backends, undefined)
    balancer.visited('a', backends[0] as (typeof backends)[0])
    balancer.set(backends, 5000)
    expect(new Set(Array.from({ length: 100 }, () => balancer.order('a')[0]?.address)).size).toBeGreaterThan(5)
  })
})
