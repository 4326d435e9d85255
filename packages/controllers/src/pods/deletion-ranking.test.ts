import type { Pod } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type PodTraits, pod, startMs } from '../testing/objects.ts'
import { byActivity, byDeletionRank, deletionCostAnnotation } from './deletion-ranking.ts'

const ready: PodTraits = { node: 'n', readyFor: 100, age: 200 }
const cost = (value: string) => ({ ...ready, annotations: { [deletionCostAnnotation]: value } })

const order = (pods: readonly Pod[], related: readonly Pod[] = []) =>
  byDeletionRank(pods, { related, nowMs: startMs }).map(({ metadata }) => metadata.name)

describe('byDeletionRank', () => {
  it.each<[string, PodTraits, PodTraits]>([
    ['an unassigned pod before an assigned one', { phase: 'Running' }, { node: 'n', phase: 'Pending' }],
    ['a pending pod before one of unknown phase', { node: 'n', phase: 'Pending' }, { node: 'n', phase: 'Unknown' }],
    ['a pod of unknown phase before a running one', { node: 'n', phase: 'Unknown' }, { node: 'n' }],
    ['a pod that is not ready before one that is', { node: 'n', age: 1000 }, { ...ready, age: 1 }],
    ['a cheap pod before a dear one', cost('-5'), ready],
    ['a dear pod after one that costs nothing', ready, cost('10')],
    ['a lower cost before a younger age', cost('1'), { ...cost('2'), age: 1, readyFor: 1 }],
    ['a pod that became ready later', { ...ready, readyFor: 10 }, ready],
    ['a pod that restarted more often', { ...ready, restarts: 3, age: 4000 }, { ...ready, restarts: 2 }],
    [
      'a pod whose sidecar restarted more often',
      { ...ready, sidecarRestarts: 2, age: 4000 },
      { ...ready, sidecarRestarts: 1 },
    ],
    [
      'restarts of containers before those of sidecars',
      { ...ready, restarts: 1 },
      { ...ready, restarts: 0, sidecarRestarts: 9 },
    ],
    ['a younger pod before an older one', { ...ready, age: 150 }, { ...ready, age: 4000 }],
  ])('deletes %s', (_, first, second) => {
    // Names that would decide the other way round.
    const [a, b] = [pod('z', first), pod('a', second)]
    expect(order([b, a])).toEqual(['z', 'a'])
    expect(order([a, b])).toEqual(['z', 'a'])
  })

  it('deletes a pod that shares its node with more of its kind first', () => {
    const [alone, one, two] = [pod('alone', { ...ready, node: 'b' }), pod('one', ready), pod('two', ready)]
    expect(order([alone, one, two], [alone, one, two]).at(-1)).toBe('alone')
  })

  it('does not count ended and ending pods as sharing a node', () => {
    const [a, b] = [pod('a', { ...ready, node: 'a', age: 4000 }), pod('b', { ...ready, node: 'b' })]
    const others = [pod('x', { node: 'a', phase: 'Failed' }), pod('y', { node: 'a', isGoing: true })]
    expect(order([a, b], [a, b, ...others])).toEqual(['b', 'a'])
  })

  it('leaves it to chance which of pods of about the same age goes', () => {
    // 2^36 ns are 68.7 s and 2^37 are 137.4 s: 100 and 130 seconds are in one bucket, 60 in another.
    const goesFirst = Array.from({ length: 32 }, (_, index) => {
      const of = (name: string, age: number) => pod(`${name}${index}`, { ...ready, node: `${name}${index}`, age })
      const [youngest = '', next = ''] = order([of('c', 100), of('a', 130), of('b', 60)])
      expect(youngest).toBe(`b${index}`)
      return next[0]
    })
    expect(new Set(goesFirst)).toEqual(new Set(['a', 'c']))
  })

  it('takes pods from the same nodes whatever their names and uids, and from all of them', () => {
    const nodesOf = (letters: string) => {
      const pods = Array.from({ length: 12 }, (_, index) => {
        const one = pod(`web-${letters[index % 4]}${index}`, { ...ready, age: 100 + index, node: `node-${index % 3}` })
        return { ...one, metadata: { ...one.metadata, generateName: 'web-' } }
      })
      return byDeletionRank(pods, { related: [], nowMs: startMs }).map(({ spec }) => spec.nodeName)
    }
    expect(nodesOf('xk2m')).toEqual(nodesOf('7qab'))
    expect(new Set(nodesOf('xk2m').slice(0, 6)).size).toBe(3)
  })

  it('takes the same of two pods that nothing tells apart, in whatever order they come', () => {
    const [a, b] = [pod('a', ready), pod('b', ready)]
    expect(order([b, a])).toEqual(order([a, b]))
  })

  it('takes a negative cost as it is, however it is written', () => {
    expect(order([pod('dear', cost('0')), pod('cheap', cost('-01'))])).toEqual(['cheap', 'dear'])
  })

  it.each(['', '+1', '01', '1.5', 'many', '2147483648'])('takes the malformed cost %j for none', (value) => {
    expect(order([pod('dear', cost('1')), pod('malformed', cost(value))])).toEqual(['malformed', 'dear'])
  })

  it('keeps apart a thousand pods in a second-rate order of input', () => {
    const pods = Array.from({ length: 1000 }, (_, index) => pod(`p${index}`, { node: index % 2 === 0 ? 'n' : '' }))
    expect(
      order(pods)
        .slice(0, 500)
        .every((name) => Number(name?.slice(1)) % 2 === 1),
    ).toBe(true)
  })
})

describe('byActivity', () => {
  const named = (pods: readonly Pod[]) => byActivity(pods).map(({ metadata }) => metadata.name)

  it.each<[string, PodTraits, PodTraits]>([
    ['an unassigned pod before an assigned one', { phase: 'Running' }, { node: 'n', phase: 'Pending' }],
    ['a pod that is not ready before one that is', { node: 'n', age: 1000 }, { ...ready, age: 1 }],
    ['a pod that became ready a second later, whatever it costs', { ...cost('9'), readyFor: 99 }, cost('1')],
    ['a pod that restarted more often', { ...ready, restarts: 3, age: 4000 }, { ...ready, restarts: 2 }],
    ['a pod that is a second younger', { ...ready, age: 199 }, ready],
  ])('takes %s', (_, first, second) => {
    const [a, b] = [pod('z', first), pod('a', second)]
    expect(named([b, a])).toEqual(['z', 'a'])
    expect(named([a, b])).toEqual(['z', 'a'])
  })
})
