import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { NodeInfo } from '../node-info.ts'
import type { PreparedPod } from '../prepared-pod.ts'
import { makeNode, makePod } from '../testing/objects.ts'
import { byImportance, selectVictims } from './victims.ts'

const pod = (priority: number, day?: number): Pod => ({
  ...makePod({ priority }),
  ...(day !== undefined && { status: { startTime: `2026-01-0${day}T00:00:00Z` } }),
})

describe('the order of pods by importance', () => {
  it.each<[string, Pod, Pod, number]>([
    ['by priority', pod(2), pod(1, 1), -1],
    ['then those that have run for longer', pod(1, 1), pod(1, 2), -1],
    ['then those that run', pod(1, 1), pod(1), -1],
    ['as they are where both began at once', pod(1, 1), pod(1, 1), 0],
    ['as they are where neither runs', pod(1), pod(1), 0],
  ])('is %s', (_, a, b, expected) => {
    expect(Math.sign(byImportance(a, b))).toBe(expected)
    expect(Math.sign(byImportance(b, a))).toBe(expected === 0 ? 0 : -expected)
  })
})

it('nobody leaves where a node turns out to take the pod with all that are there', () => {
  const node = new NodeInfo(makeNode())
  node.add(pod(0))
  const calls: string[] = []
  const trial = {
    add: () => calls.push('add'),
    remove: () => calls.push('remove'),
    refuse: () => undefined,
    end: () => calls.push('end'),
  }
  const prepared = { pod: pod(1), tryOn: () => trial } as unknown as PreparedPod
  expect(selectVictims(prepared, node, [])).toEqual({
    reasons: ['No preemption victims found for incoming pod'],
  })
  expect(calls).toEqual(['remove', 'add', 'end'])
})
