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

it('does not take a node for lost when time has gone by while nothing happened', async () => {
  const spec = { replicas: 4, image: 'example/web:1' }
  const options = { minReadySeconds: 2, strategy: { type: 'Recreate' } }
  const operations: readonly Operation[] = [
    { atMs: 0, type: 'create', shape: { kind: 'Deployment', name: 'w1', ...spec, options } },
    {
      atMs: 0,
      type: 'create',
      shape: { kind: 'ReplicationController', name: 'w2', ...spec, replicas: 3, options: {} },
    },
    { atMs: 86_700, type: 'cordon', pick: 0, isCordoned: true },
    { atMs: 87_000, type: 'relabel-pod', pick: 0.44 },
    { atMs: 104_300, type: 'scale', kind: 'ReplicationController', name: 'w2', replicas: 5 },
  ]
  expect((await run({ seed: 20109, nodes: 1, operations })).violations).toEqual([])
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
