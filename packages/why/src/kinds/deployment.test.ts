import { type KubernetesObject, type Resource, replicaSets } from '@coracle/api'
import { expect, it } from 'vitest'
import { findingsOf } from '../explanation.ts'
import { condition, examined, object } from '../testing/examined.ts'

const refusal = condition('ReplicaFailure', 'True', 'FailedCreate', 'exceeded quota: q')
const deployment = object('apps/v1', 'Deployment', {
  metadata: { uid: 'd' },
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } } },
  status: { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [refusal] },
})
const set = (replicas: number, conditions: readonly object[]): KubernetesObject =>
  object('apps/v1', 'ReplicaSet', {
    metadata: { uid: 's', ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'd', controller: true }] },
    spec: { replicas: 2 },
    status: { replicas, readyReplicas: replicas, conditions },
  })

it.each([
  ['lacks pods that are refused', set(1, [refusal]), ['QuotaExceeded']],
  ['has all its pods, and a condition that is yet to be taken back', set(2, [refusal]), []],
  ['is refused nothing any more', set(1, []), []],
])('a Deployment is refused pods where its ReplicaSet is: one that %s', (_, own, expected) => {
  const known = new Map([[replicaSets as Resource, [own]]])
  expect(findingsOf(examined(deployment, { known })).map(({ reason }) => reason)).toEqual(expected)
})
