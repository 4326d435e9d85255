import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KnownKeys } from './known-keys.ts'
import { knownKeysMax } from './limits.ts'
import type { StoreEvent } from './store.ts'

const value = new Uint8Array(0)
const change = (key: string, previousRevision: number, type: StoreEvent['type'] = 'put'): StoreEvent => ({
  type,
  key,
  value,
  revision: 2,
  createRevision: 2,
  previousRevision,
})
const created = (key: string) => change(key, 0)
const changed = (key: string) => change(key, 1)
const deleted = (key: string) => change(key, 1, 'delete')

describe('known keys', () => {
  it('are those under prefixes that were read', () => {
    const known = new KnownKeys(7)
    expect(known.lacks('a/x')).toBe(false)
    known.take('a/', ['a/x'])
    known.take('b/', [])
    expect(['a/x', 'a/y', 'b/x', 'c', 'a'].map((key) => known.lacks(key))).toEqual([false, true, true, false, false])
    known.take('', ['a/x', 'c'])
    expect(['a/x', 'a/y', 'b/x', 'c', 'a'].map((key) => known.lacks(key))).toEqual([false, true, true, false, true])
  })

  it('come and go', () => {
    const known = new KnownKeys(7)
    known.take('a/', ['a/x'])
    for (const event of [created('a/y'), changed('a/x'), created('b/x'), deleted('b/y')]) known.apply(event)
    expect(['a/x', 'a/y', 'b/x'].map((key) => known.lacks(key))).toEqual([false, false, false])
    for (const event of [deleted('a/x'), deleted('a/y')]) known.apply(event)
    expect(['a/x', 'a/y', 'b/x'].map((key) => known.lacks(key))).toEqual([true, true, false])
  })

  it('are taken once, however often they are read', () => {
    const known = new KnownKeys(7)
    for (const prefix of ['a/', 'a/', 'a/x', '']) known.take(prefix, ['a/x'])
    known.apply(deleted('a/x'))
    expect(known.lacks('a/x')).toBe(true)
  })

  it('are never missing, and hardly any others seem to be there', () => {
    const index = fc.nat({ max: 3000 })
    const steps = fc.array(fc.tuple(fc.boolean(), index, fc.nat({ max: 400 })), { maxLength: 20 })
    fc.assert(
      fc.property(fc.nat(), steps, (seed, ranges) => {
        const known = new KnownKeys(seed)
        const keys = new Set<string>()
        known.take('k', [])
        for (const [isCreated, from, count] of ranges) {
          for (let each = from; each < from + count; each++) {
            const key = `k${each}`
            if (keys.has(key) === isCreated) continue
            known.apply(isCreated ? created(key) : deleted(key))
            if (isCreated) keys.add(key)
            else keys.delete(key)
          }
        }
        const all = Array.from({ length: 3500 }, (_, each) => `k${each}`)
        expect(all.filter((key) => keys.has(key) && known.lacks(key))).toEqual([])
        expect(all.filter((key) => !keys.has(key) && !known.lacks(key)).length).toBeLessThan(3)
      }),
    )
  })

  it('are given up past a number of them', () => {
    const keys = Array.from({ length: knownKeysMax }, (_, each) => `k${each}`)
    const known = new KnownKeys(7)
    known.take('k', keys)
    known.take('l', [])
    expect(['k0', 'kx', 'lx'].map((key) => known.lacks(key))).toEqual([false, true, true])
    known.apply(created('kx'))
    known.apply(deleted('k0'))
    known.take('m', [])
    expect(['k0', 'kx', 'lx', 'mx'].map((key) => known.lacks(key))).toEqual([false, false, false, false])
  })
  it('are not given up for keys that come and go', () => {
    const known = new KnownKeys(7)
    known.take('k', ['k0'])
    const [coming, going] = [created('kx'), deleted('kx')]
    for (let each = 0; each <= knownKeysMax; each++) {
      known.apply(coming)
      known.apply(going)
    }
    expect(['k0', 'kx'].map((key) => known.lacks(key))).toEqual([false, true])
  })
})
