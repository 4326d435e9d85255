import { describe, expect, it } from 'vitest'
import { comparisonBySteps, comparisonOf } from './compare.ts'
import {
  differenceOf,
  type FieldSet,
  FieldSetBuilder,
  intersecting,
  intersectionOf,
  nodeBelow,
  noFields,
  subtracting,
  unionOf,
  uniting,
} from './field-set.ts'
import { inOneGo, type Passes, passPartsMax, withRests } from './passes.ts'

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

describe('what is computed of large sets in passes is what is computed in one go', () => {
  /** A set of more elements than a pass goes through, some of which have others below, here and there. */
  const setOf = (seed: number): FieldSet => {
    const builder = new FieldSetBuilder()
    const labels = nodeBelow(nodeBelow(builder.root, 'f:metadata'), 'f:labels')
    labels.member = seed % 2 === 0
    for (let index = 0; index < 2 * passPartsMax; index += 1) {
      if ((index * 7 + seed) % 5 === 0) continue
      const node = nodeBelow(labels, `f:${index}`)
      node.member = (index + seed) % 3 !== 0
      if (index % 11 === 0 || !node.member) nodeBelow(node, `f:${(index + seed) % 4}`).member = true
    }
    nodeBelow(nodeBelow(builder.root, 'f:data'), `f:${seed}`).member = true
    return builder.build()
  }
  const sets = [0, 1, 2, 3].map(setOf)
  const pairs = sets.flatMap((a) => sets.map((b) => [a, b] as const))

  it.each([
    ['unions', unionOf, uniting],
    ['intersections', intersectionOf, intersecting],
    ['differences', differenceOf, subtracting],
  ])('%s', (_, inOne, inPasses) => {
    for (const [a, b] of pairs) {
      let passes = 0
      const computing = inPasses(a, b)
      let step = computing.next()
      for (; step.done !== true; step = computing.next()) passes += 1
      const expected = inOne(a, b)
      expect(JSON.stringify(step.value)).toBe(JSON.stringify(expected))
      // Whose fields stay the same is known by the reference.
      expect(step.value === a).toBe(expected === a)
      if (a !== b) expect(passes).toBeGreaterThan(0)
    }
  })

  it('a set within another is its union with it, and nothing but noFields is left of it', () => {
    const [whole = noFields] = sets
    const part = inOneGo(subtracting(whole, sets[1] ?? noFields))
    expect(inOneGo(uniting(whole, part))).toBe(whole)
    expect(inOneGo(subtracting(part, whole))).toBe(noFields)
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
