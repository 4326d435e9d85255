import type { ReplicaSet } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deployment, replicaSet, rolling } from '../testing/deployments.ts'
import { availableIn, type Draft, draftOf } from './draft.ts'
import { desiredOf, maxReplicas, minAvailable } from './limits.ts'
import { rollingStep } from './rolling-update.ts'
import { allSets, type Rollout, totalReplicas } from './rollout.ts'

type Sizes = readonly [replicas: number, available: number]

function rollout([replicas, available]: Sizes, ...old: readonly Sizes[]): Rollout & { readonly newSet: Draft } {
  return {
    newSet: draftOf(replicaSet('new', { replicas, available, age: 0 })),
    // The first is the oldest.
    oldSets: old.map(([size, ready], index) =>
      draftOf(replicaSet(`old-${index}`, { replicas: size, available: ready, age: 1000 - index })),
    ),
  }
}

const sizes = (result: Rollout) => [result.newSet?.replicas, ...result.oldSets.map(({ replicas }) => replicas)]

describe('a step of a rolling update', () => {
  it.each<[string, number, number, number, Sizes, readonly Sizes[], readonly number[]]>([
    ['grows the new one by the surge', 10, 2, 0, [0, 0], [[10, 10]], [2, 10]],
    ['grows it into the room there is', 10, 2, 0, [0, 0], [[5, 5]], [7, 5]],
    ['never grows it beyond the deployment', 10, 5, 0, [8, 8], [[2, 2]], [10, 2]],
    ['shrinks a new one that is too large', 10, 2, 0, [11, 11], [[2, 2]], [10, 2]],
    ['waits for new pods to be available', 10, 2, 0, [2, 0], [[10, 10]], [2, 10]],
    ['shrinks the old one by what is available in the new', 10, 2, 0, [2, 2], [[10, 10]], [2, 8]],
    ['shrinks the old one at once by what may be missing', 10, 0, 2, [0, 0], [[10, 10]], [0, 8]],
    ['counts new pods that are not available as missing', 10, 0, 2, [2, 0], [[8, 8]], [2, 8]],
    ['moves even where neither surge nor absence is allowed', 10, 0, 0, [0, 0], [[10, 10]], [0, 9]],
    ['takes old pods that are not available first', 10, 0, 2, [0, 0], [[10, 8]], [0, 8]],
    [
      'takes those of all old ones',
      10,
      0,
      5,
      [0, 0],
      [
        [5, 4],
        [5, 3],
      ],
      [0, 2, 3],
    ],
    [
      'takes the oldest first',
      10,
      0,
      3,
      [0, 0],
      [
        [2, 2],
        [8, 8],
      ],
      [0, 0, 7],
    ],
    ['takes old pods away once the new one is complete', 10, 2, 2, [10, 10], [[2, 2]], [10, 0]],
    ['leaves old ones that are empty already', 10, 2, 2, [10, 10], [[0, 0]], [10, 0]],
    // Of an old ReplicaSet that was shrunk just now the status still shows the pods that are going.
    ['does not count on pods that are being taken away', 10, 0, 2, [2, 0], [[8, 10]], [2, 8]],
    ['gives back what a failed rollout has used when it is rolled back', 10, 3, 2, [8, 7], [[5, 0]], [8, 1]],
    [
      'makes room for a newer template among pods that never became available',
      10,
      3,
      2,
      [0, 0],
      [
        [8, 8],
        [5, 0],
      ],
      [0, 8, 0],
    ],
  ])('%s', (_what, replicas, surge, unavailable, newSet, old, wanted) => {
    const result = rollingStep(deployment(replicas, rolling(surge, unavailable)), rollout(newSet, ...old))
    expect(sizes(result)).toEqual(wanted)
  })

  it('notes the deployment’s size on what it resizes, and on nothing else', () => {
    const { newSet, oldSets } = rollingStep(deployment(10, rolling(2, 0)), rollout([2, 2], [10, 10], [0, 0]))
    const noted = {
      'deployment.kubernetes.io/desired-replicas': '10',
      'deployment.kubernetes.io/max-replicas': '12',
    }
    expect(oldSets.map(({ annotations }) => annotations)).toEqual([noted, {}])
    expect(newSet?.annotations).toEqual({})
  })

  const counts = fc.integer({ min: 0, max: 12 })
  const set = fc.tuple(counts, counts).map(([replicas, available]): Sizes => [replicas, available])
  const strategy = fc.record({
    replicas: fc.integer({ min: 1, max: 12 }),
    surge: fc.integer({ min: 0, max: 4 }),
    unavailable: fc.integer({ min: 0, max: 4 }),
  })
  const availableOf = (state: Rollout) => allSets(state).reduce((sum, draft) => sum + availableIn(draft), 0)

  it('never asks for more pods than the surge allows, nor gives up more than may be missing', () => {
    fc.assert(
      fc.property(strategy, set, fc.array(set, { maxLength: 3 }), ({ replicas, surge, unavailable }, newSet, old) => {
        const object = deployment(replicas, rolling(surge, unavailable))
        const before = rollout(newSet, ...old)
        const after = rollingStep(object, before)
        const isShrinkingNew = (before.newSet.replicas ?? 0) > desiredOf(object)
        expect(totalReplicas(allSets(after))).toBeLessThanOrEqual(
          Math.max(totalReplicas(allSets(before)), maxReplicas(object)),
        )
        if (isShrinkingNew) return
        expect(availableOf(after)).toBeGreaterThanOrEqual(Math.min(availableOf(before), minAvailable(object)))
      }),
    )
  })

  /** The next state, in which so many of a ReplicaSet's pods have become available. */
  const observed = ({ set, replicas }: Draft, available: number): ReplicaSet => ({
    ...set,
    spec: { ...set.spec, replicas },
    status: { ...set.status, replicas, availableReplicas: available },
  })

  it('comes to its end in bounded steps where new pods become available, whatever it begins with', () => {
    fc.assert(
      fc.property(strategy, set, fc.array(set, { maxLength: 3 }), ({ replicas, surge, unavailable }, newSet, old) => {
        const object = deployment(replicas, rolling(surge, unavailable))
        let state = rollout(newSet, ...old)
        for (let step = 0; step < 200; step++) {
          const { newSet: next = state.newSet, oldSets } = rollingStep(object, state)
          const settle = (draft: Draft) => draftOf(observed(draft, draft.replicas))
          state = { newSet: settle(next), oldSets: oldSets.map(settle) }
        }
        expect(sizes(state)).toEqual([replicas, ...old.map(() => 0)])
      }),
      { numRuns: 50 },
    )
  })

  it('keeps enough pods of a good template while a bad one never becomes available', () => {
    fc.assert(
      fc.property(strategy, ({ replicas, surge, unavailable }) => {
        const object = deployment(replicas, rolling(surge, unavailable))
        let state = rollout([0, 0], [replicas, replicas])
        for (let step = 0; step < 50; step++) {
          const { newSet: next = state.newSet, oldSets } = rollingStep(object, state)
          const settle = (draft: Draft) => draftOf(observed(draft, draft.replicas))
          state = { newSet: draftOf(observed(next, 0)), oldSets: oldSets.map(settle) }
          expect(availableOf(state)).toBeGreaterThanOrEqual(minAvailable(object))
        }
      }),
      { numRuns: 50 },
    )
  })
})
