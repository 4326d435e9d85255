import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TransientMap, TransientSet } from './transient-map.ts'

const key = fc.integer({ min: 0, max: 400 })
const step = fc.oneof(
  fc.record({ type: fc.constant('set' as const), key }),
  fc.record({ type: fc.constant('delete' as const), key }),
)

describe('a transient map', () => {
  it('is a map, in the order of its entries too, however often its table is made anew', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 2000, size: 'max' }), (steps) => {
        const map = new Map<number, number>()
        const transient = new TransientMap<number, number>()
        for (const [index, { type, key }] of steps.entries()) {
          if (type === 'set') {
            map.set(key, index)
            transient.set(key, index)
          } else expect(transient.delete(key)).toBe(map.delete(key))
          expect(transient.size).toBe(map.size)
          expect(transient.get(key)).toBe(map.get(key))
          expect(transient.has(key)).toBe(map.has(key))
        }
        expect([...transient.keys()]).toEqual([...map.keys()])
        expect([...transient.values()]).toEqual([...map.values()])
      }),
      { numRuns: 30 },
    )
  })

  it('may lose entries while it is gone through', () => {
    const map = new TransientMap<number, string>()
    for (const n of [1, 2, 3]) map.set(n, `${n}`)
    const seen: number[] = []
    for (const n of map.keys()) {
      seen.push(n)
      map.delete(n + 1)
    }
    expect(seen).toEqual([1, 3])
  })
})

describe('a transient set', () => {
  it('has what was added and not deleted, in the order in which it was added', () => {
    const set = new TransientSet<string>()
    for (let n = 0; n < 1000; n++) set.add(`${n}`).delete(`${n - 2}`)
    set.add('998')
    expect([...set]).toEqual(['998', '999'])
    expect([...set.values()]).toEqual(['998', '999'])
    expect([set.size, set.has('999'), set.has('0')]).toEqual([2, true, false])
    expect(set.delete('0')).toBe(false)
  })
})

/**
 * Lets 20,000 arrays of 1 kB pass through a map after a full collection, 16 at a time, and tells how many MB are kept when only the young
 * generation has been collected.
 */
const program = (map: string) => `
import { TransientMap } from ${JSON.stringify(join(import.meta.dirname, 'transient-map.ts'))}
const map = new ${map}()
for (let n = 0; n < 16; n++) map.set(n, [])
gc()
const before = process.memoryUsage().heapUsed
for (let n = 16; n < 20_000; n++) {
  map.set(n, new Array(128).fill(n))
  map.delete(n - 16)
  if (n % 500 === 0) gc({ type: 'minor' })
}
gc({ type: 'minor' })
gc({ type: 'minor' })
console.log((process.memoryUsage().heapUsed - before) / 1e6)
`

const keptMb = (map: string): number => {
  const args = ['--expose-gc', '--no-warnings', '--input-type=module', '-e', program(map)]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

describe('what has passed through', () => {
  it('is let go of by collections of the young generation', () => {
    expect(keptMb('TransientMap')).toBeLessThan(1)
  })

  it('is kept by a plain map: where it is not any more, nobody needs a transient one', () => {
    expect(keptMb('Map')).toBeGreaterThan(2)
  })
})
