import type { KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { availabilityOf } from './availability.ts'
import type { RecordedChange } from './recording.ts'

const named = (kind: string, name: string, more: object = {}) => ({
  kind,
  metadata: { name, namespace: 'shop', uid: `${kind}-${name}`, ...more },
})

const deployment = (replicas: number, strategy: object = { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } }) =>
  ({ ...named('Deployment', 'web'), spec: { replicas, strategy } }) as unknown as KubernetesObject
/** One of three pods that is what it was asked to be, of this generation. */
const resting = (generation: number) =>
  ({
    ...named('Deployment', 'web', { generation }),
    spec: {
      replicas: 3,
      strategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      template: { metadata: { labels: { app: 'web' } } },
    },
    status: { observedGeneration: generation, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  }) as unknown as KubernetesObject
const replicaSet = {
  ...named('ReplicaSet', 'web-1', {
    ownerReferences: [{ kind: 'Deployment', name: 'web', uid: 'Deployment-web', controller: true }],
  }),
  spec: { replicas: 3 },
} as unknown as KubernetesObject
const pod = (name: string, ready: boolean, more: object = {}) =>
  ({
    ...named('Pod', name, {
      labels: { app: 'web' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-1', uid: 'ReplicaSet-web-1', controller: true }],
      ...more,
    }),
    spec: {},
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
  }) as unknown as KubernetesObject
const budget = (desiredHealthy: number) =>
  ({
    ...named('PodDisruptionBudget', 'web'),
    spec: { minAvailable: desiredHealthy, selector: { matchLabels: { app: 'web' } } },
    status: { desiredHealthy },
  }) as unknown as KubernetesObject
const slice = (...ready: readonly boolean[]) =>
  ({
    ...named('EndpointSlice', 'web-x', { labels: { 'kubernetes.io/service-name': 'web' } }),
    endpoints: ready.map((is, index) => ({ addresses: [`10.0.0.${index}`], conditions: { ready: is } })),
  }) as unknown as KubernetesObject
const service = named('Service', 'web') as unknown as KubernetesObject

const pods = ['a', 'b', 'c'].map((name) => pod(name, true))
const change = (
  atMs: number,
  old: KubernetesObject | undefined,
  object: KubernetesObject | undefined,
): RecordedChange => ({ atMs, old, object })
const lost = (atMs: number, name: string) => change(atMs, pod(name, true), pod(name, false))
const found = (atMs: number, name: string) => change(atMs, pod(name, false), pod(name, true))

/** `Deployment: 2 of 2` and `, broken at 5 with 1 of 2`. */
const summary = (before: readonly KubernetesObject[], changes: readonly RecordedChange[]) =>
  availabilityOf(before, changes, 0).map(
    ({ object, lowest, promised, broken }) =>
      `${object.kind}: ${lowest} of ${promised}${broken === undefined ? '' : `, broken at ${broken.atMs} with ${broken.ready} of ${broken.promised}`}`,
  )

describe('what is promised', () => {
  const workload = [deployment(3), replicaSet, ...pods]

  it.each<[string, readonly KubernetesObject[], readonly RecordedChange[], string[]]>([
    ['is kept while no more are missing than may be', workload, [lost(5, 'a'), found(6, 'a')], ['Deployment: 2 of 2']],
    [
      'is broken when more are',
      workload,
      [lost(5, 'a'), lost(6, 'b')],
      ['Deployment: 1 of 2, broken at 6 with 1 of 2'],
    ],
    ['is judged at the end of a moment', workload, [lost(5, 'a'), lost(5, 'b'), found(5, 'a')], ['Deployment: 2 of 2']],
    [
      'is not more than there was before',
      [deployment(3), replicaSet, pod('a', true), pod('b', false)],
      [lost(5, 'a')],
      ['Deployment: 0 of 0'],
    ],
    [
      'falls with what is asked for',
      workload,
      [change(5, deployment(3), deployment(1)), lost(6, 'a'), lost(6, 'b'), lost(7, 'c')],
      ['Deployment: 0 of 0'],
    ],
    [
      'does not rise with it',
      workload,
      [change(5, deployment(3), deployment(9)), lost(6, 'a')],
      ['Deployment: 2 of 2'],
    ],
    [
      'is nothing for Recreate',
      [deployment(3, { type: 'Recreate' }), replicaSet, ...pods],
      [lost(5, 'a'), lost(5, 'b'), lost(5, 'c')],
      ['Deployment: 0 of 0'],
    ],
    [
      'ends with the workload',
      workload,
      [change(5, deployment(3), undefined), lost(6, 'a'), lost(6, 'b')],
      ['Deployment: 0 of 0'],
    ],
    [
      'is one endpoint of a Service',
      [service, slice(true, true)],
      [change(5, slice(true, true), slice(true, false)), change(6, slice(true, false), slice())],
      ['Service: 0 of 1, broken at 6 with 0 of 1'],
    ],
    [
      'is nothing for a Service without endpoints',
      [service, slice(false)],
      [change(5, slice(false), slice(true)), change(6, slice(true), slice(false))],
      ['Service: 0 of 0'],
    ],
    [
      'is what a budget wants',
      [budget(2), ...pods],
      [lost(5, 'a'), lost(6, 'b')],
      ['PodDisruptionBudget: 1 of 2, broken at 6 with 1 of 2'],
    ],
    [
      'does not count pods that are to go',
      workload,
      [change(5, pod('a', true), pod('a', true, { deletionTimestamp: 'x' })), lost(6, 'b')],
      ['Deployment: 1 of 2, broken at 6 with 1 of 2'],
    ],
  ])('%s', (_, before, changes, expected) => {
    expect(summary(before, changes)).toEqual(expected)
  })

  it.each<[string, readonly RecordedChange[], string[]]>([
    [
      'is what a budget says, where one covers a workload that nobody changes',
      [lost(5, 'a'), lost(6, 'b')],
      ['Deployment: 1 of 0', 'PodDisruptionBudget: 1 of 1'],
    ],
    [
      'is what its strategy says as well, once somebody changes it',
      [change(5, resting(1), resting(2)), lost(6, 'a'), lost(7, 'b')],
      ['Deployment: 1 of 2, broken at 7 with 1 of 2', 'PodDisruptionBudget: 1 of 1'],
    ],
    [
      'is what its strategy says, once no budget covers it any more',
      [change(5, budget(1), undefined), change(5, resting(1), { ...resting(1) }), lost(6, 'a'), lost(7, 'b')],
      ['Deployment: 1 of 2, broken at 7 with 1 of 2', 'PodDisruptionBudget: 0 of 0'],
    ],
  ])('%s', (_, changes, expected) => {
    expect(summary([resting(1), replicaSet, ...pods, budget(1)], changes)).toEqual(expected)
  })

  it('has samples of each moment in which something changed', () => {
    const [found] = availabilityOf(workload, [lost(5, 'a'), lost(7, 'b')], 0)
    expect(found?.samples).toEqual([
      { atMs: 0, ready: 3, desired: 3 },
      { atMs: 5, ready: 2, desired: 3 },
      { atMs: 7, ready: 1, desired: 3 },
    ])
  })
})
