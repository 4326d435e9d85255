import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { KeyLine } from './key-line.ts'

/** What is in use once garbage has gone, be it that of others in this process. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  collect()
  return process.memoryUsage().heapUsed
}

/** What a `Map` does of it, which keeps the order in which keys came. */
class Model {
  readonly keys = new Map<string, number>()

  take() {
    for (const [key, sinceMs] of this.keys) {
      this.keys.delete(key)
      return { key, sinceMs }
    }
    return undefined
  }
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ what: fc.constant('add' as const), key: fc.nat(2500) }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('delete' as const), key: fc.nat(2500) }) },
  { weight: 3, arbitrary: fc.constant({ what: 'take' as const, key: 0 }) },
  { weight: 1, arbitrary: fc.constant({ what: 'take all' as const, key: 0 }) },
)

const said = ({ key, sinceMs }: { key: string; sinceMs: number } = { key: '', sinceMs: -1 }) => [key, sinceMs]

it('hands keys out in the order in which they came, but for those that have left', () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 6000, size: 'max' })
  fc.assert(
    fc.property(steps, (all) => {
      const [line, model] = [new KeyLine(), new Model()]
      for (const [at, { what, key: number }] of all.entries()) {
        const key = `k${number}`
        if (what === 'add' && !model.keys.has(key)) {
          line.add(key, at)
          model.keys.set(key, at)
        } else if (what === 'delete') {
          line.delete(key)
          model.keys.delete(key)
        } else if (what === 'take') {
          expect(said(line.take())).toEqual(said(model.take()))
        } else if (what === 'take all' && at % 50 === 0) {
          while (model.keys.size > 0) expect(said(line.take())).toEqual(said(model.take()))
          expect(line.take()).toBeUndefined()
        }
        expect([line.size, line.has(key), line.sinceMs(key)]).toEqual([
          model.keys.size,
          model.keys.has(key),
          model.keys.get(key),
        ])
      }
      line.clear()
      expect([line.size, line.take()]).toEqual([0, undefined])
    }),
    { numRuns: 8 },
  )
})

it('keeps no places for keys that come and leave while one waits', () => {
  const line = new KeyLine()
  line.add('first', 0)
  const before = heldBytes()
  for (let round = 0; round < 2_000_000; round += 1) {
    line.add('k', round)
    line.delete('k')
  }
  expect(heldBytes() - before).toBeLessThan(60_000_000)
  expect(line.take()?.key).toBe('first')
})
