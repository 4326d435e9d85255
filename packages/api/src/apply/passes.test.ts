import { describe, expect, it } from 'vitest'
import { comparisonBySteps, comparisonOf } from './compare.ts'
import { FieldSetBuilder, nodeBelow } from './field-set.ts'
import { type Passes, passPartsMax, withRests } from './passes.ts'

const partsCount = 3 * passPartsMax
const names = Array.from({ length: partsCount }, (_, index) => `f:label-${index}`)

/** Carries a computation out, and tells the most of `counted` that one pass of it did. */
function mostInOnePass<T>(passes: Passes<T>, counted: () => number): { readonly most: number; readonly result: T } {
  let most = 0
  for (let before = counted(); ; before = counted()) {
    const { done, value } = passes.next()
    most = Math.max(most, counted() - before)
    if (done === true) return { most, result: value }
  }
}

describe('no pass goes through more than a part of a large object', () => {
  it('of its differences', () => {
    let read = 0
    const steps = new Proxy(['>f:labels', ...names.map((name) => `+${name}`), ')'], {
      get(target, property) {
        if (typeof property === 'string' && /^\d+$/.test(property)) read += 1
        return Reflect.get(target, property)
      },
    })
    const { most, result } = mostInOnePass(comparisonBySteps(steps), () => read)
    expect(most).toBeLessThanOrEqual(passPartsMax + 1)
    expect(result).toEqual(comparisonOf(steps))
    expect(Object.keys(result.added['f:labels'] ?? {})).toHaveLength(partsCount)
  })

  it('of a set of fields that is built', () => {
    let read = 0
    const builder = new FieldSetBuilder()
    for (const name of names) nodeBelow(builder.root, name)
    for (const node of builder.root.below?.values() ?? []) {
      Object.defineProperty(node, 'member', {
        get: () => {
          read += 1
          return true
        },
      })
    }
    const { most, result } = mostInOnePass(builder.building(), () => read)
    expect(most).toBeLessThanOrEqual(passPartsMax + 1)
    expect(Object.keys(result)).toEqual([...names].sort())
  })
})

it('rests after each pass but the last', async () => {
  const done: string[] = []
  function* passes(): Passes<string> {
    done.push('first')
    yield
    done.push('second')
    yield
    return 'all'
  }
  const rest = async () => {
    done.push('rest')
  }
  expect(await withRests(passes(), rest)).toBe('all')
  expect(done).toEqual(['first', 'rest', 'second', 'rest'])
})
