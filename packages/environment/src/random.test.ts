import { describe, expect, it } from 'vitest'
import { nameAlphabet, realRandom, seededRandom } from './random.ts'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('seededRandom', () => {
  it('repeats itself for the same seed and differs for another', () => {
    const draw = (seed: number) => {
      const random = seededRandom(seed)
      return [random.next(), random.uuid(), random.string(5, nameAlphabet)]
    }
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
  })

  it.each([
    ['seeded', seededRandom(3)],
    ['real', realRandom],
  ])('gives version 4 UUIDs and strings of the alphabet (%s)', (_, random) => {
    expect(random.uuid()).toMatch(uuid)
    expect(random.string(200, 'ab')).toMatch(/^[ab]{200}$/)
    expect(random.next()).toBeGreaterThanOrEqual(0)
    expect(random.next()).toBeLessThan(1)
  })
})
