import fc, * as namespace from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { environmentOf, propertySettings, usualSeed } from './settings.ts'

const settings = (environment: Record<string, string>) => propertySettings(environment, () => 42)

describe('the settings', () => {
  it('are one seed, and the runs each test asks for, unless told otherwise', () => {
    expect(settings({})).toEqual({ seed: usualSeed, runs: 1 })
  })

  it('take a seed, a drawn seed, and more runs', () => {
    expect(settings({ CORACLE_PROPERTY_SEED: '7', CORACLE_PROPERTY_RUNS: '20' })).toEqual({ seed: 7, runs: 20 })
    expect(settings({ CORACLE_PROPERTY_SEED: 'random' })).toEqual({ seed: 42, runs: 1 })
  })

  it('are passed on to the processes that run tests', () => {
    expect(settings(environmentOf({ seed: 7, runs: 20 }))).toEqual({ seed: 7, runs: 20 })
  })

  it.each([
    [
      { CORACLE_PROPERTY_SEED: 'lucky' },
      'CORACLE_PROPERTY_SEED is a whole number from 0 to 2147483647, or "random", not "lucky"',
    ],
    [{ CORACLE_PROPERTY_SEED: '2147483648' }, 'CORACLE_PROPERTY_SEED is a whole number from 0 to 2147483647'],
    [{ CORACLE_PROPERTY_RUNS: '0' }, 'CORACLE_PROPERTY_RUNS is a whole number from 1 to 10000, not "0"'],
    [{ CORACLE_PROPERTY_RUNS: '1.5' }, 'CORACLE_PROPERTY_RUNS is a whole number from 1 to 10000, not "1.5"'],
  ])('refuse %j', (environment, message) => {
    expect(() => settings(environment)).toThrow(message)
  })
})

describe.each([
  ['default', fc],
  ['namespace', namespace],
])('fast-check, imported as its %s', (_, { assert, asyncProperty, nat, property, sample }) => {
  /** What a property is tried with. */
  const drawn = (numRuns?: number) => {
    const values: number[] = []
    assert(
      property(nat(), (value) => void values.push(value)),
      numRuns === undefined ? {} : { numRuns },
    )
    return values
  }

  it('draws the same values each time', () => {
    expect(drawn()).toEqual(drawn())
    expect(sample(nat(), 3)).toEqual(sample(nat(), 3))
  })

  it('tries each property as often as it says', () => {
    const { runs } = settings(process.env as Record<string, string>)
    expect(drawn(3)).toHaveLength(3 * runs)
    expect(drawn()).toHaveLength(100 * runs)
  })

  it('fails where a property does not hold', async () => {
    expect(() => assert(property(nat(), () => false))).toThrow('Property failed')
    await expect(assert(asyncProperty(nat(), async () => false))).rejects.toThrow('Property failed')
  })
})

describe('with another seed and more runs', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.resetModules()
    return import('fast-check')
  })

  const firstOf = async (seed: string, runs: string) => {
    vi.stubEnv('CORACLE_PROPERTY_SEED', seed)
    vi.stubEnv('CORACLE_PROPERTY_RUNS', runs)
    vi.resetModules()
    const { assert, property, nat } = await import('fast-check')
    const values: number[] = []
    assert(
      property(nat(), (value) => void values.push(value)),
      { numRuns: 5 },
    )
    return values
  }

  it('draws other values, and as many times as many', async () => {
    const seven = await firstOf('7', '4')
    expect(seven).toHaveLength(20)
    expect(await firstOf('7', '1')).toEqual(seven.slice(0, 5))
    expect(await firstOf('8', '1')).not.toEqual(seven.slice(0, 5))
  })
})
