import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { isUnderWay } from './progress.ts'

const object = (kind: string, spec: object, status: object, metadata: object = {}) =>
  ({ kind, metadata: { name: 'web', generation: 2, ...metadata }, spec, status }) as unknown as KubernetesObject
const condition = (type: string, status = 'True') => ({ conditions: [{ type, status }] })

/** What a finished one of each kind looks like. */
const done = {
  Deployment: { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  StatefulSet: {
    observedGeneration: 2,
    replicas: 3,
    readyReplicas: 3,
    updatedReplicas: 3,
    currentRevision: 'a',
    updateRevision: 'a',
  },
  DaemonSet: {
    observedGeneration: 2,
    desiredNumberScheduled: 3,
    updatedNumberScheduled: 3,
    numberAvailable: 3,
  },
  ReplicaSet: { observedGeneration: 2, replicas: 3, availableReplicas: 3 },
  ReplicationController: { observedGeneration: 2, replicas: 3, availableReplicas: 3 },
} as const

const spec = { replicas: 3 }

describe('a workload', () => {
  it.each(Object.entries(done))('is not under way when it is as it was asked to be: %s', (kind, status) => {
    expect(isUnderWay(object(kind, spec, status))).toBe(false)
    expect(isUnderWay(object(kind, spec, status, { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toBe(true)
    expect(isUnderWay(object(kind, spec, { ...status, observedGeneration: 1 }))).toBe(true)
    expect(isUnderWay(object(kind, spec, {}))).toBe(true)
  })

  it.each<[kind: keyof typeof done, status: object]>([
    ['Deployment', { replicas: 4 }],
    ['Deployment', { updatedReplicas: 2 }],
    ['Deployment', { availableReplicas: 2 }],
    ['StatefulSet', { replicas: 4 }],
    ['StatefulSet', { readyReplicas: 2 }],
    ['StatefulSet', { updatedReplicas: 2, updateRevision: 'b' }],
    ['DaemonSet', { updatedNumberScheduled: 2 }],
    ['DaemonSet', { numberAvailable: 2 }],
    ['ReplicaSet', { replicas: 4 }],
    ['ReplicaSet', { availableReplicas: 2 }],
  ])('is under way while there are too many, or some are old or not available: %s %j', (kind, status) => {
    expect(isUnderWay(object(kind, spec, { ...done[kind], ...status }))).toBe(true)
  })

  it.each<[what: string, kind: keyof typeof done, more: object, status: object]>([
    ['pods of a paused Deployment may be old', 'Deployment', { paused: true }, { updatedReplicas: 0 }],
    [
      'pods before the partition of a StatefulSet stay old',
      'StatefulSet',
      { updateStrategy: { rollingUpdate: { partition: 2 } } },
      { updatedReplicas: 1, updateRevision: 'b' },
    ],
    [
      'pods of a StatefulSet that others delete may be old',
      'StatefulSet',
      { updateStrategy: { type: 'OnDelete' } },
      { updatedReplicas: 0, updateRevision: 'b' },
    ],
    [
      'pods of a DaemonSet that others delete may be old',
      'DaemonSet',
      { updateStrategy: { type: 'OnDelete' } },
      { updatedNumberScheduled: 0 },
    ],
  ])('is done although %s', (_what, kind, more, status) => {
    expect(isUnderWay(object(kind, { ...spec, ...more }, { ...done[kind], ...status }))).toBe(false)
  })
})

it.each<[what: string, KubernetesObject, expected: boolean]>([
  ['a Job that runs', object('Job', {}, {}), true],
  ['a Job that is about to fail', object('Job', {}, condition('FailureTarget')), true],
  ['a Job that is complete', object('Job', {}, condition('Complete')), false],
  ['a Job that has failed', object('Job', {}, condition('Failed')), false],
  ['a Job that is suspended', object('Job', { suspend: true }, condition('Complete', 'False')), false],
  ['a pod without a status', object('Pod', {}, {}), true],
  ['a pod that is not ready', object('Pod', {}, { phase: 'Running', ...condition('Ready', 'False') }), true],
  ['a pod that is ready', object('Pod', {}, { phase: 'Running', ...condition('Ready') }), false],
  ['a pod that has ended', object('Pod', {}, { phase: 'Succeeded', ...condition('Ready', 'False') }), false],
  ['a pod that has failed', object('Pod', {}, { phase: 'Failed' }), false],
  ['a ConfigMap', object('ConfigMap', {}, {}), false],
])('under way: %s', (_what, subject, expected) => {
  expect(isUnderWay(subject)).toBe(expected)
})
