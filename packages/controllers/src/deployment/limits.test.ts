import { describe, expect, it } from 'vitest'
import { deployment, rolling } from '../testing/deployments.ts'
import { historyLimit, maxReplicas, maxSurge, maxUnavailable, minAvailable, progressDeadlineSeconds } from './limits.ts'

describe('how far a rolling update may be from the number of pods', () => {
  it.each([
    [10, '25%', '25%', 3, 2],
    [10, 2, 3, 2, 3],
    [1, '25%', '25%', 1, 0],
    [2, '0%', '1%', 0, 1],
    [1, '1%', '25%', 1, 0],
    [10, 0, 0, 0, 1],
    [3, '100%', '100%', 3, 3],
    [3, 1, 5, 1, 3],
    [0, '25%', '25%', 0, 0],
  ])('of %i with maxSurge %s and maxUnavailable %s', (replicas, surge, unavailable, wantedSurge, wantedUnavailable) => {
    const object = deployment(replicas, rolling(surge, unavailable))
    expect([maxSurge(object), maxUnavailable(object)]).toEqual([wantedSurge, wantedUnavailable])
    expect(maxReplicas(object)).toBe(replicas + wantedSurge)
    expect(minAvailable(object)).toBe(replicas - wantedUnavailable)
  })

  it('is one that may be missing where nothing is said of it', () => {
    for (const strategy of [undefined, { type: 'RollingUpdate' as const }]) {
      const object = deployment(10, { strategy })
      expect([maxSurge(object), maxUnavailable(object)]).toEqual([0, 1])
    }
  })

  it('is nothing where all pods are recreated', () => {
    const object = deployment(10, { strategy: { type: 'Recreate' } })
    expect([maxSurge(object), maxUnavailable(object)]).toEqual([0, 0])
  })
})

it('takes the greatest number for no limit', () => {
  const object = deployment(1, { progressDeadlineSeconds: 2_147_483_647, revisionHistoryLimit: 2_147_483_647 })
  expect(progressDeadlineSeconds(object)).toBeUndefined()
  expect(historyLimit(object)).toBeUndefined()
  expect(progressDeadlineSeconds(deployment(1))).toBe(600)
  expect(historyLimit(deployment(1, { revisionHistoryLimit: 0 }))).toBe(0)
})
