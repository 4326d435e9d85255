import { type Pod, pods } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, secondsAgo, startMs } from '../testing/objects.ts'
import { excessEndedPods, planAbandonedPod, planEndedPod, planOrphanedPod } from './plan.ts'

const key = { namespace: 'default', name: 'p' }
const deletion = (because: string) => ({
  type: 'delete',
  resource: pods,
  key,
  uid: 'p',
  gracePeriodSeconds: 0,
  because,
})
const failure = (status: object, because: string) => ({
  type: 'patch',
  resource: pods,
  key,
  subresource: 'status',
  patch: { type: 'merge', body: { metadata: { uid: 'p', resourceVersion: '1' }, status } },
  because,
})

describe('planOrphanedPod', () => {
  it('marks a pod as failed by disruption before it deletes it without grace', () => {
    const orphan = pod('p', { node: 'gone', readyFor: 5 })
    const generation = { ...orphan, metadata: { ...orphan.metadata, generation: 3 } }
    const because = 'node gone no longer exists'
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: secondsAgo(5) }
    const disrupted = {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'DeletionByPodGC',
      message: 'PodGC: node no longer exists',
      observedGeneration: 3,
      lastTransitionTime: secondsAgo(0),
    }
    expect(planOrphanedPod(generation, startMs)).toEqual({
      actions: [
        failure({ phase: 'Failed', conditions: [ready, disrupted], observedGeneration: 3 }, because),
        deletion(because),
      ],
    })
  })

  it.each(['Succeeded', 'Failed'])('only deletes a pod that has ended as %s', (phase) => {
    expect(planOrphanedPod(pod('p', { node: 'gone', phase }), startMs)).toEqual({
      actions: [deletion('node gone no longer exists')],
    })
  })

  it('deletes a pod of no known identity by its name', () => {
    const { metadata, ...rest } = pod('p', { phase: 'Failed' })
    const { uid: _uid, ...nameless } = metadata
    const { actions } = planOrphanedPod({ ...rest, metadata: nameless } as Pod, startMs)
    expect(actions).toEqual([
      { type: 'delete', resource: pods, key, gracePeriodSeconds: 0, because: 'node  no longer exists' },
    ])
  })
})

describe('planAbandonedPod', () => {
  const because = 'node down is out of service'

  it('says that the pod has failed, and nothing of a disruption', () => {
    expect(planAbandonedPod(pod('p'), because)).toEqual({
      actions: [failure({ phase: 'Failed' }, because), deletion(because)],
    })
  })

  it('only deletes a pod that has ended', () => {
    expect(planAbandonedPod(pod('p', { phase: 'Succeeded' }), because)).toEqual({ actions: [deletion(because)] })
  })
})

it('deletes one of too many pods that have ended', () => {
  expect(planEndedPod(pod('p', { phase: 'Failed' }))).toEqual({
    actions: [deletion('more than 12500 pods have ended')],
  })
})

describe('excessEndedPods', () => {
  const evicted = (name: string, phase = 'Failed'): Pod => {
    const base = pod(name, { phase, age: 1 })
    return { ...base, status: { ...base.status, reason: 'Evicted' } }
  }
  const young = pod('young', { phase: 'Failed', age: 10 })
  const old = pod('old', { phase: 'Succeeded', age: 20 })
  const names = (list: readonly Pod[]) => list.map(({ metadata }) => metadata.name)

  it.each([
    [0, ['evicted', 'old', 'young']],
    [1, ['evicted', 'old']],
    [2, ['evicted']],
    [3, []],
    [4, []],
  ])('leaves %i, and takes evicted pods first, then the oldest', (max, wanted) => {
    expect(names(excessEndedPods([young, old, evicted('evicted')], max))).toEqual(wanted)
    expect(names(excessEndedPods([evicted('evicted'), young, old], max))).toEqual(wanted)
  })

  it('takes those of one age by name', () => {
    const [a, b] = [pod('a', { phase: 'Failed' }), pod('b', { phase: 'Failed' })]
    expect(names(excessEndedPods([b, a], 0))).toEqual(['a', 'b'])
    expect(names(excessEndedPods([a, b], 0))).toEqual(['a', 'b'])
  })

  it('takes a pod for evicted only if it has failed for that reason', () => {
    expect(names(excessEndedPods([evicted('done', 'Succeeded'), old], 0))).toEqual(['old', 'done'])
  })

  it('takes a pod of unknown age for the oldest', () => {
    const { metadata, ...rest } = pod('ageless', { phase: 'Failed' })
    const { creationTimestamp: _none, ...ageless } = metadata
    expect(names(excessEndedPods([old, { ...rest, metadata: ageless } as Pod], 0))).toEqual(['ageless', 'old'])
  })

  it('keeps 12,500 unless told otherwise, and leaves the list as it is', () => {
    const many = Array.from({ length: 12_501 }, (_, index) => pod(`p${index}`, { phase: 'Failed', age: index }))
    expect(names(excessEndedPods(many))).toEqual(['p12500'])
    expect(many[0]?.metadata.name).toBe('p0')
  })
})
