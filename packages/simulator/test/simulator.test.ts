import { describe, expect, it } from 'vitest'
import { type Operation, run, type Scenario, scenarioOf, shrink } from '../src/index.ts'

describe('a seed', () => {
  it('always gives the same scenario, and another seed another', () => {
    expect(scenarioOf(3)).toEqual(scenarioOf(3))
    expect(scenarioOf(3)).not.toEqual(scenarioOf(4))
  })

  it('gives operations in the order of their times', () => {
    for (let seed = 1; seed <= 50; seed++) {
      const times = scenarioOf(seed).operations.map(({ atMs }) => atMs)
      expect(times).toEqual([...times].sort((a, b) => a - b))
    }
  })

  it('always gives the same run', async () => {
    const scenario = scenarioOf(11)
    expect(await run(scenario)).toEqual(await run(scenario))
  })
})

// More of them: npm run simulate -- --seeds 1000
describe('a cluster keeps its promises', () => {
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))('under seed %i', async (seed) => {
    expect((await run(scenarioOf(seed))).violations).toEqual([])
  })
})

describe('a scenario that fails', () => {
  const operation = (name: string, index: number): Operation => ({ atMs: index, type: 'pause', name, paused: true })
  const scenario = (...names: readonly string[]): Scenario => ({ seed: 1, nodes: 1, operations: names.map(operation) })
  const namesOf = ({ operations }: Scenario) => operations.map((each) => ('name' in each ? each.name : ''))

  it('is shrunk to what it takes', async () => {
    const fails = async (tried: Scenario) => ['b', 'e'].every((name) => namesOf(tried).includes(name))
    expect(namesOf(await shrink(scenario('a', 'b', 'c', 'd', 'e', 'f', 'g'), fails))).toEqual(['b', 'e'])
  })

  it('stays as it is when all of it is needed', async () => {
    const whole = scenario('a', 'b', 'c')
    expect(await shrink(whole, async (tried) => namesOf(tried).length === 3)).toEqual(whole)
  })
})
