import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { isUnderWay } from './progress.ts'

type Loose = Readonly<Record<string, unknown>>

const made = (kind: string, spec: Loose, status: Loose | undefined, metadata: Loose = { generation: 2 }) =>
  ({ kind, metadata: { name: 'web', ...metadata }, spec, status }) as unknown as KubernetesObject

/** A status of three where all is as it should be. */
const of = {
  Deployment: { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  ReplicaSet: { observedGeneration: 2, replicas: 3, availableReplicas: 3 },
  StatefulSet: { observedGeneration: 2, replicas: 3, readyReplicas: 3, currentRevision: 'a', updateRevision: 'a' },
  DaemonSet: { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 },
}
const updating = { currentRevision: 'a', updateRevision: 'b' }
const onDelete = { updateStrategy: { type: 'OnDelete' } }
const partition = { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } }

describe.each([
  ['Deployment', of.Deployment],
  ['ReplicaSet', of.ReplicaSet],
  ['ReplicationController', of.ReplicaSet],
  ['StatefulSet', of.StatefulSet],
  ['DaemonSet', of.DaemonSet],
])('a %s', (kind, status) => {
  it('is at rest when its controller has seen it and made it what it asks for', () => {
    expect(isUnderWay(made(kind, { replicas: 3 }, status))).toBe(false)
  })

  it('is under way until its controller has seen it, and while it goes', () => {
    expect(isUnderWay(made(kind, { replicas: 3 }, undefined))).toBe(true)
    expect(isUnderWay(made(kind, { replicas: 3 }, { ...status, observedGeneration: 1 }))).toBe(true)
    expect(isUnderWay(made(kind, { replicas: 3 }, status, { generation: 2, deletionTimestamp: 'now' }))).toBe(true)
  })
})

it.each<[kind: keyof typeof of, what: string, spec: Loose, status: Loose, expected: boolean]>([
  ['Deployment', 'old pods are left', {}, { replicas: 4 }, true],
  ['Deployment', 'a pod is not of its template', {}, { updatedReplicas: 2 }, true],
  ['Deployment', 'a pod is not available', {}, { availableReplicas: 2 }, true],
  ['Deployment', 'it is paused with old pods', { paused: true }, { updatedReplicas: 1 }, false],
  ['Deployment', 'it is paused with too many pods', { paused: true }, { replicas: 4 }, true],
  ['Deployment', 'it is paused and a pod is not available', { paused: true }, { availableReplicas: 2 }, true],
  ['ReplicaSet', 'a pod is missing', {}, { replicas: 2 }, true],
  ['ReplicaSet', 'a pod is not available', {}, { availableReplicas: 2 }, true],
  ['StatefulSet', 'a pod is missing', {}, { replicas: 2 }, true],
  ['StatefulSet', 'a pod is not ready', {}, { readyReplicas: 2 }, true],
  ['StatefulSet', 'a pod is of the old revision', {}, { ...updating, updatedReplicas: 2 }, true],
  ['StatefulSet', 'all are of the new revision', {}, { ...updating, updatedReplicas: 3 }, false],
  ['StatefulSet', 'old pods wait for somebody to delete them', onDelete, updating, false],
  ['StatefulSet', 'those from the partition on are new', partition, { ...updating, updatedReplicas: 2 }, false],
  ['StatefulSet', 'one from the partition on is old', partition, { ...updating, updatedReplicas: 1 }, true],
  ['DaemonSet', 'a pod is old', {}, { updatedNumberScheduled: 2 }, true],
  ['DaemonSet', 'a pod is not available', {}, { numberAvailable: 2 }, true],
  ['DaemonSet', 'old pods wait for somebody to delete them', onDelete, { updatedNumberScheduled: 0 }, false],
])('a %s of which %s', (kind, _what, spec, status, expected) => {
  expect(isUnderWay(made(kind, { replicas: 3, ...spec }, { ...of[kind], ...status }))).toBe(expected)
})

it('takes a workload that does not say how many it wants to want one', () => {
  for (const [kind, status] of Object.entries(of)) {
    const one = Object.fromEntries(Object.entries(status).map(([key, value]) => [key, value === 3 ? 1 : value]))
    expect(isUnderWay(made(kind, {}, one))).toBe(false)
  }
  expect(isUnderWay(made('ReplicaSet', {}, of.ReplicaSet))).toBe(true)
})

it.each<[what: string, spec: Loose, conditions: readonly Loose[] | undefined, expected: boolean]>([
  ['runs', {}, undefined, true],
  ['is suspended', { suspend: true }, undefined, false],
  ['is complete', {}, [{ type: 'Complete', status: 'True' }], false],
  ['has failed', {}, [{ type: 'Failed', status: 'True' }], false],
  ['has not failed', {}, [{ type: 'Failed', status: 'False' }], true],
  ['is about to fail', {}, [{ type: 'FailureTarget', status: 'True' }], true],
])('a job that %s', (_what, spec, conditions, expected) => {
  expect(isUnderWay(made('Job', spec, { conditions }))).toBe(expected)
})

it.each<[what: string, status: Loose | undefined, expected: boolean]>([
  ['is new', undefined, true],
  ['is ready', { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }, false],
  ['is not ready', { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] }, true],
  ['has no node yet', { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] }, true],
  ['has ended well', { phase: 'Succeeded' }, false],
  ['has failed', { phase: 'Failed' }, false],
])('a pod that %s', (_what, status, expected) => {
  expect(isUnderWay(made('Pod', {}, status))).toBe(expected)
})

it('nothing else is under way, unless it goes', () => {
  expect(isUnderWay(made('ConfigMap', {}, undefined))).toBe(false)
  expect(isUnderWay(made('ConfigMap', {}, undefined, { deletionTimestamp: 'now' }))).toBe(true)
})
