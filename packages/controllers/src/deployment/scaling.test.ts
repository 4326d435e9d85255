import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deployment, replicaSet, rolling } from '../testing/deployments.ts'
import { draftOf, sizeAnnotations } from './draft.ts'
import { maxReplicas } from './limits.ts'
import { allSets, type Rollout, totalReplicas } from './rollout.ts'
import { isBeingScaled, scaledRollout } from './scaling.ts'

/** A rollout whose ReplicaSets were last resized when the deployment had a size of `noted`; the first old one is the oldest. */
function rollout(
  noted: number,
  newSize: number | undefined,
  old: readonly number[],
  strategy = rolling(0, 0),
): Rollout {
  const annotations = sizeAnnotations(deployment(noted, strategy))
  const set = (name: string, replicas: number, age: number) => draftOf(replicaSet(name, { replicas, age, annotations }))
  return {
    newSet: newSize === undefined ? undefined : set('new', newSize, 0),
    oldSets: old.map((replicas, index) => set(`old-${index}`, replicas, 100 - index)),
  }
}

const sizes = ({ newSet, oldSets }: Rollout) => [newSet?.replicas, ...oldSets.map(({ replicas }) => replicas)]

describe('scaling in the middle of a rollout', () => {
  it.each<[string, number, number, number | undefined, readonly number[], readonly (number | undefined)[]]>([
    ['resizes the only one there is', 10, 12, 10, [], [12]],
    ['resizes the only one that has pods', 10, 5, 10, [0, 0], [5, 0, 0]],
    ['resizes the old one where there is no new one yet', 10, 12, undefined, [10], [undefined, 12]],
    ['gives the new one all where none has pods', 0, 5, 0, [0], [5, 0]],
    [
      'gives the newest old one all where none has pods and there is no new one',
      0,
      5,
      undefined,
      [0, 0],
      [undefined, 0, 5],
    ],
    ['keeps the proportions upwards', 10, 12, 5, [5], [6, 6]],
    ['keeps the proportions downwards', 10, 6, 5, [5], [3, 3]],
    ['keeps unequal proportions', 10, 20, 2, [8], [4, 16]],
    ['gives what is left over to the largest', 10, 20, 3, [3, 4], [6, 6, 8]],
    ['gives what is left over to the newer of two of one size', 10, 11, 5, [5], [6, 5]],
    ['takes what is left over from the older of two of one size', 10, 9, 5, [5], [5, 4]],
    ['takes everything', 10, 0, 5, [3, 2], [0, 0, 0]],
    // Upstream's cases (sync_test.go).
    ['5 → 10', 5, 10, 2, [3], [4, 6]],
    ['5 → 3', 5, 3, 2, [3], [1, 2]],
    ['9 → 4', 9, 4, 8, [1], [4, 0]],
    ['7 → 10', 7, 10, 2, [2, 3], [3, 3, 4]],
    ['13 → 8', 13, 8, 2, [3, 8], [1, 2, 5]],
    ['3 → 4, by the new one', 3, 4, 1, [1, 1], [2, 1, 1]],
    ['3 → 2, by the oldest', 3, 2, 1, [1, 1], [1, 0, 1]],
    ['4 → 5, by the newest of old ones', 4, 5, undefined, [2, 2], [undefined, 2, 3]],
    ['6 → 0', 6, 0, 3, [1, 2], [0, 0, 0]],
    ['0 → 6', 6, 6, 0, [0, 0], [6, 0, 0]],
    ['10 → 14, with another template', 10, 14, undefined, [3, 7], [undefined, 4, 10]],
  ])('%s', (_what, noted, replicas, newSize, old, wanted) => {
    const object = deployment(replicas, rolling(0, 0))
    expect(sizes(scaledRollout(object, rollout(noted, newSize, old)))).toEqual(wanted)
  })

  it('shares the surge as well', () => {
    const strategy = rolling(3, 2)
    // 10 and 3 more: 8 old and 5 new. 30 and 3 more: 33, of which the old had eight thirteenths.
    const result = scaledRollout(deployment(30, strategy), rollout(10, 5, [8], strategy))
    expect(sizes(result)).toEqual([13, 20])
  })

  it('shares a surge that stays, and one that grows', () => {
    const two = rolling(2, 0)
    expect(sizes(scaledRollout(deployment(20, two), rollout(10, 6, [6], two)))).toEqual([11, 11])
    const more = scaledRollout(deployment(50, rolling(6, 0)), rollout(10, 5, [8], rolling(3, 0)))
    expect(sizes(more)).toEqual([22, 34])
  })

  it('goes on where it could not resize all the last time', () => {
    const { newSet, oldSets } = rollout(5, 2, [1, 1])
    const [oldest, behind] = [oldSets[0], rollout(3, undefined, [1, 1]).oldSets[1]]
    const before = { newSet, oldSets: [oldest, behind].filter((set) => set !== undefined) }
    expect(isBeingScaled(deployment(5, rolling(0, 0)), before)).toBe(true)
    expect(sizes(scaledRollout(deployment(5, rolling(0, 0)), before))).toEqual([2, 1, 2])
  })

  it('leaves old pods alone beside a new one of full size that is broken', () => {
    const one = rolling(1, 1)
    const { newSet, oldSets } = rollout(2, 2, [1], one)
    const broken = newSet && { ...newSet, set: { ...newSet.set, status: { replicas: 2, availableReplicas: 0 } } }
    expect(sizes(scaledRollout(deployment(2, one), { newSet: broken, oldSets }))).toEqual([2, 1])
  })

  it('empties old ones that came to a new one which is complete, and leaves those that are empty', () => {
    const object = deployment(10, rolling(0, 0))
    const before = rollout(10, 10, [0, 5])
    const after = scaledRollout(object, before)
    expect(sizes(after)).toEqual([10, 0, 0])
    expect(after.oldSets[0]).toBe(before.oldSets[0])
  })

  /** Beside it there is an old one of 5; upstream: IsSaturated. */
  it.each<readonly [string, number, number, number, boolean]>([
    ['all that is wanted, as it is noted', 10, 10, 10, true],
    ['fewer pods than are wanted', 9, 9, 10, false],
    ['more pods than are wanted, some of them not available', 12, 10, 10, false],
    ['pods that are not available', 10, 9, 10, false],
    ['pods that are yet to go', 10, 12, 10, false],
    ['been as large when another number was wanted', 10, 10, 8, false],
  ])('takes a new one for complete that has %s', (_what, replicas, available, noted, isComplete) => {
    const object = deployment(10, rolling(0, 0))
    const annotations = sizeAnnotations(deployment(noted, rolling(0, 0)))
    const newSet = draftOf(replicaSet('new', { replicas, available, annotations }))
    const [, old = 0] = sizes(scaledRollout(object, { newSet, oldSets: rollout(10, undefined, [5]).oldSets }))
    expect(old === 0).toBe(isComplete)
  })

  it('leaves the sizes alone where all pods are recreated, and notes the new one, so that the rollout goes on', () => {
    const object = deployment(10, { strategy: { type: 'Recreate' } })
    const before = rollout(5, 3, [0, 2])
    const after = scaledRollout(object, before)
    expect(sizes(after)).toEqual([3, 0, 2])
    expect(isBeingScaled(object, after)).toBe(false)
    expect(after.oldSets[0]).toBe(before.oldSets[0])
  })

  it('takes the number of pods for the whole where a ReplicaSet does not say what it is a share of', () => {
    const set = (name: string) => draftOf(replicaSet(name, { replicas: 5, age: 1 }))
    const object = deployment(20, { ...rolling(0, 0), status: { replicas: 10 } })
    expect(sizes(scaledRollout(object, { newSet: set('new'), oldSets: [set('old')] }))).toEqual([10, 10])
  })

  it('notes the new size on all that have pods, so that it is done once', () => {
    const object = deployment(12, rolling(0, 0))
    const before = rollout(10, 5, [5, 0])
    expect(isBeingScaled(object, before)).toBe(true)
    const after = scaledRollout(object, before)
    expect(isBeingScaled(object, after)).toBe(false)
    expect(after.oldSets[1]).toBe(before.oldSets[1])
  })

  it('notes the new size where it is the old one by chance', () => {
    const object = deployment(12, rolling(0, 0))
    expect(isBeingScaled(object, scaledRollout(object, rollout(10, 12, [])))).toBe(false)
  })

  it.each([
    ['3', true],
    ['2147483647', true],
    ['10', false],
    ['-3', false],
    ['+3', false],
    ['2147483648', false],
    ['3.5', false],
    ['', false],
  ])('reads a size that is noted as %j', (noted, isScaled) => {
    const annotations = { 'deployment.kubernetes.io/desired-replicas': noted }
    const newSet = draftOf(replicaSet('new', { replicas: 3, annotations }))
    expect(isBeingScaled(deployment(10), { newSet, oldSets: [] })).toBe(isScaled)
  })

  it('takes a ReplicaSet that notes no size for one of this size', () => {
    const newSet = draftOf(replicaSet('new', { replicas: 3 }))
    expect(isBeingScaled(deployment(10), { newSet, oldSets: [] })).toBe(false)
  })

  it('always comes to exactly what is allowed, and turns no ReplicaSet around', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 5 }), sizes, (replicas, surge, all) => {
        const [newSize = 0, ...old] = all
        // A new one that is as large as the deployment is complete, which is another case.
        fc.pre(newSize !== replicas)
        const before = all.reduce((sum, size) => sum + size, 0)
        const strategy = rolling(surge, 1)
        const object = deployment(replicas, strategy)
        const state = rollout(Math.max(1, before - surge), newSize, old, strategy)
        const after = scaledRollout(object, state)
        const allowed = replicas === 0 ? 0 : maxReplicas(object)
        expect(totalReplicas(allSets(after))).toBe(allowed)
        const changes = allSets(after).map((draft, index) => draft.replicas - (allSets(state)[index]?.replicas ?? 0))
        for (const change of changes) expect(change * (allowed - before)).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
