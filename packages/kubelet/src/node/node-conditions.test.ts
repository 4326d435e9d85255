import { describe, expect, it } from 'vitest'
import { startMs } from '../testing/pods.ts'
import { simulatedFacts, swapOf } from './node-facts.ts'
import { isWorthReporting, type NodeDescription, type NodeObservation, nodeStatus } from './node-object.ts'

const description: NodeDescription = {
  name: 'node-a',
  address: '127.0.0.1',
  facts: simulatedFacts('node-a'),
  runtimeVersion: 'fake://1',
  labels: {},
}
const seen = (pressures: readonly string[], problems: readonly string[] = []): NodeObservation => ({
  problems,
  images: [],
  pressures,
})
const shown = (observation?: NodeObservation) =>
  nodeStatus(description, undefined, startMs, observation).conditions?.map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  )

it('says how much swap space it has, where it has some', () => {
  const swapOfNode = (meminfo: string) => {
    const facts = { ...description.facts, ...swapOf(meminfo) }
    return nodeStatus({ ...description, facts }, undefined, startMs).nodeInfo?.swap
  }
  expect(swapOfNode('SwapCached:  0 kB\nSwapTotal:   2048 kB\n')).toEqual({ capacity: 2048 * 1024 })
  expect([swapOfNode('SwapTotal: 0 kB\n'), swapOfNode('')]).toEqual([undefined, undefined])
})

describe('the conditions of a node', () => {
  const [memory, disk, pids, ready] = [
    'MemoryPressure=False KubeletHasSufficientMemory',
    'DiskPressure=False KubeletHasNoDiskPressure',
    'PIDPressure=False KubeletHasSufficientPID',
    'Ready=True KubeletReady',
  ]
  it.each([
    ['nothing was observed', undefined, [memory, disk, pids, ready]],
    ['there is enough', seen([]), [memory, disk, pids, ready]],
    [
      'memory runs out',
      seen(['MemoryPressure']),
      ['MemoryPressure=True KubeletHasInsufficientMemory', disk, pids, ready],
    ],
    [
      'the disk does, and nothing runs',
      seen(['DiskPressure'], ['container runtime is down']),
      [memory, 'DiskPressure=True KubeletHasDiskPressure', pids, 'Ready=False KubeletNotReady'],
    ],
    ['process IDs do', seen(['PIDPressure']), [memory, disk, 'PIDPressure=True KubeletHasInsufficientPID', ready]],
  ])('say so: %s', (_, observation, conditions) => {
    expect(shown(observation)).toEqual(conditions)
  })

  it('are reported at once when that changes', () => {
    const before = nodeStatus(description, undefined, startMs, seen([]))
    const next = (pressures: readonly string[]) => nodeStatus(description, before, startMs + 1000, seen(pressures))
    expect(isWorthReporting(before, next([]), startMs + 1000)).toBe(false)
    expect(isWorthReporting(before, next(['DiskPressure']), startMs + 1000)).toBe(true)
  })
})
