import type { KubernetesObject } from '@coracle/api'
import { expect, it } from 'vitest'
import { promiseOf } from './promises.ts'

const workload = (kind: string, spec: object, status: object = {}) =>
  ({ kind, metadata: { name: 'web' }, spec, status }) as unknown as KubernetesObject
const deployment = (replicas: number | undefined, rollingUpdate: object = {}, type = 'RollingUpdate') =>
  workload('Deployment', { replicas, strategy: { type, rollingUpdate } })
const statefulSet = (replicas: number | undefined, rollingUpdate: object = {}) =>
  workload('StatefulSet', { replicas, updateStrategy: { rollingUpdate } })
const daemonSet = (desiredNumberScheduled: number, rollingUpdate: object = {}) =>
  workload('DaemonSet', { updateStrategy: { rollingUpdate } }, { desiredNumberScheduled })

it.each<[what: string, KubernetesObject, desired: number, mayBeMissing: number, by: string]>([
  ['a Deployment lacks a quarter, rounded down', deployment(10), 10, 2, 'maxUnavailable 25%'],
  ['a Deployment of few lacks none, for it may have one more', deployment(3), 3, 0, 'maxUnavailable 25%'],
  ['a Deployment that says nothing is one pod', deployment(undefined), 1, 0, 'maxUnavailable 25%'],
  [
    'a Deployment may lack one where it could not move otherwise',
    deployment(3, { maxSurge: 0, maxUnavailable: '10%' }),
    3,
    1,
    'maxUnavailable 10%',
  ],
  [
    'a share of a surge is rounded up, and then it can move',
    deployment(3, { maxSurge: '1%', maxUnavailable: 0 }),
    3,
    0,
    'maxUnavailable 0',
  ],
  ['a Deployment lacks no more than it has', deployment(2, { maxUnavailable: 5 }), 2, 2, 'maxUnavailable 5'],
  ['a Deployment that is recreated promises nothing', deployment(4, {}, 'Recreate'), 4, 4, 'Recreate'],
  ['a StatefulSet lacks one', statefulSet(5), 5, 1, 'maxUnavailable 1'],
  ['a StatefulSet that says nothing is one pod', statefulSet(undefined), 1, 1, 'maxUnavailable 1'],
  ['a StatefulSet lacks one, whatever it says', statefulSet(5, { maxUnavailable: 3 }), 5, 1, 'maxUnavailable 1'],
  ['a DaemonSet lacks one', daemonSet(4), 4, 1, 'maxUnavailable 1'],
  ['a DaemonSet lacks a share, rounded up', daemonSet(5, { maxUnavailable: '30%' }), 5, 2, 'maxUnavailable 30%'],
  ['a DaemonSet that surges lacks none', daemonSet(5, { maxSurge: 1, maxUnavailable: 0 }), 5, 0, 'maxUnavailable 0'],
  [
    'a DaemonSet may lack one where it could not move otherwise',
    daemonSet(5, { maxSurge: 0, maxUnavailable: 0 }),
    5,
    1,
    'maxUnavailable 0',
  ],
  ['a ReplicaSet promises nothing', workload('ReplicaSet', { replicas: 3 }), 3, 3, 'nothing'],
  ['a ReplicationController promises nothing', workload('ReplicationController', {}), 1, 1, 'nothing'],
])('%s', (_what, object, desired, mayBeMissing, by) => {
  expect(promiseOf(object)).toEqual({ desired, mayBeMissing, by })
})

it('is of workloads that keep pods ready', () => {
  expect(promiseOf(workload('Job', { completions: 3 }))).toBeUndefined()
})
