import { describe, expect, it } from 'vitest'
import { nameAlphabet, type Random, realRandom, seededRandom } from './random.ts'

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

  it('has forks that differ by name and by turn, and that nobody else shifts', () => {
    const draw = (random: Random) => [random.next(), random.next()]
    const parent = seededRandom(7)
    const [a, b, again] = [parent.fork('a'), parent.fork('b'), parent.fork('a')].map(draw)
    expect(new Set([a, b, again, draw(seededRandom(7))].map(String)).size).toBe(4)

    const other = seededRandom(7)
    draw(other)
    draw(other.fork('c'))
    expect(draw(other.fork('b'))).toEqual(b)
    expect(draw(other.fork('a'))).toEqual(a)
    expect(draw(seededRandom(8).fork('a'))).not.toEqual(a)
  })
})
