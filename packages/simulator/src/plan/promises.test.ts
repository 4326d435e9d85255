import type { KubernetesObject } from '@coracle/api'
import { expect, it } from 'vitest'
import { promiseOf } from './promises.ts'

type Loose = Readonly<Record<string, unknown>>

const promise = (kind: string, spec: Loose, status?: Loose) =>
  promiseOf({ kind, metadata: { name: 'web' }, spec, status } as unknown as KubernetesObject)
const rolling = (maxUnavailable: unknown, maxSurge: unknown) => ({ rollingUpdate: { maxUnavailable, maxSurge } })

it.each<[replicas: number, strategy: Loose | undefined, mayBeMissing: number, by: string]>([
  [10, undefined, 2, 'maxUnavailable 25%'],
  [3, undefined, 0, 'maxUnavailable 25%'],
  [10, rolling(0, 1), 0, 'maxUnavailable 0'],
  // Else nothing would move: a percentage of the missing is rounded down, one of the surge up.
  [3, rolling('10%', 0), 1, 'maxUnavailable 10%'],
  [3, rolling('10%', '1%'), 0, 'maxUnavailable 10%'],
  [3, rolling(5, 0), 3, 'maxUnavailable 5'],
  [3, { type: 'Recreate' }, 3, 'Recreate'],
])('a deployment of %i with %j lets %i be missing', (replicas, strategy, mayBeMissing, by) => {
  expect(promise('Deployment', { replicas, strategy })).toEqual({ desired: replicas, mayBeMissing, by })
})

it.each<[replicas: number, updateStrategy: Loose | undefined, mayBeMissing: number, by: string]>([
  [3, undefined, 1, 'maxUnavailable 1'],
  [3, rolling(2, undefined), 2, 'maxUnavailable 2'],
  [5, rolling('30%', undefined), 2, 'maxUnavailable 30%'],
  [3, rolling('0%', undefined), 1, 'maxUnavailable 0%'],
])('a stateful set of %i with %j lets %i be missing', (replicas, updateStrategy, mayBeMissing, by) => {
  expect(promise('StatefulSet', { replicas, updateStrategy })).toEqual({ desired: replicas, mayBeMissing, by })
})

it.each<[nodes: number, updateStrategy: Loose | undefined, mayBeMissing: number, by: string]>([
  [4, undefined, 1, 'maxUnavailable 1'],
  [4, rolling(0, 1), 0, 'maxUnavailable 0'],
  [4, rolling(0, 0), 1, 'maxUnavailable 0'],
  [5, rolling('30%', undefined), 2, 'maxUnavailable 30%'],
])('a daemon set on %i nodes with %j lets %i be missing', (nodes, updateStrategy, mayBeMissing, by) => {
  const status = { desiredNumberScheduled: nodes }
  expect(promise('DaemonSet', { updateStrategy }, status)).toEqual({ desired: nodes, mayBeMissing, by })
})

it.each(['Deployment', 'StatefulSet', 'ReplicaSet', 'ReplicationController'])(
  'a %s that does not say how many it wants wants one',
  (kind) => {
    expect(promise(kind, {})?.desired).toBe(1)
  },
)

it('a daemon set that has no status yet wants none', () => {
  expect(promise('DaemonSet', {})?.desired).toBe(0)
})

it.each(['ReplicaSet', 'ReplicationController'])('a %s promises nothing: it has no strategy', (kind) => {
  expect(promise(kind, { replicas: 4 })).toEqual({ desired: 4, mayBeMissing: 4, by: 'nothing' })
})

it.each(['Pod', 'Job', 'ConfigMap'])('a %s keeps no pods ready', (kind) => {
  expect(promise(kind, {})).toBeUndefined()
})
