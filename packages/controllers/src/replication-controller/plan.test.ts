import { type Pod, pods as podResource, type ReplicationController } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { ownedBy, pod, replicationController, startMs } from '../testing/objects.ts'
import { observedOwner } from '../testing/observed-pods.ts'
import { desiredReplicas, planReplicationController } from './plan.ts'

const plan = (owner: ReplicationController, controlled: readonly Pod[], orphans: readonly Pod[] = []) =>
  planReplicationController(observedOwner(owner, desiredReplicas(owner), { controlled, orphans }), startMs)

const own = (name: string, traits: Parameters<typeof pod>[1] = {}) =>
  pod(name, { controlledBy: replicationController(0), ...traits })

function summary(action: Action): string {
  switch (action.type) {
    case 'create':
      return `create ${action.object.metadata.generateName}`
    case 'patch':
      return `patch ${action.key.name}`
    case 'delete':
      return `delete ${action.key.name} (${action.uid})`
    default:
      return action.type
  }
}

describe('planReplicationController', () => {
  const three = [own('a', { readyFor: 60 }), own('b', { readyFor: 60 }), own('c')]

  it.each<[string, ReplicationController, readonly Pod[], readonly Pod[], readonly string[]]>([
    ['does nothing when the number is right', replicationController(3), three, [], []],
    ['makes what is missing', replicationController(5), three, [], ['create web-', 'create web-']],
    ['deletes the pod that is missed least', replicationController(2), three, [], ['delete c (c)']],
    [
      'deletes all when none are wanted',
      replicationController(0),
      three,
      [],
      ['delete a (a)', 'delete b (b)', 'delete c (c)'],
    ],
    [
      'replaces failed pods, and leaves them',
      replicationController(1),
      [own('a', { phase: 'Failed' })],
      [],
      ['create web-'],
    ],
    [
      'replaces pods that have succeeded',
      replicationController(1),
      [own('a', { phase: 'Succeeded' })],
      [],
      ['create web-'],
    ],
    ['replaces an ending pod', replicationController(1), [own('a', { isGoing: true })], [], ['create web-']],
    [
      'deletes none in place of those that are ending, have ended or are let go',
      replicationController(1),
      [
        own('going', { isGoing: true }),
        own('failed', { phase: 'Failed' }),
        own('a'),
        own('b', { readyFor: 60 }),
        own('debug', { labels: { app: 'debug' } }),
      ],
      [],
      ['patch debug', 'delete a (a)'],
    ],
    ['does not delete ending pods again', replicationController(0), [own('a', { isGoing: true })], [], []],
    ['adopts a matching orphan in place of making one', replicationController(1), [], [pod('o')], ['patch o']],
    ['adopts no orphan that does not match', replicationController(0), [], [pod('o', { labels: { app: 'db' } })], []],
    [
      'adopts no ended or ending orphan',
      replicationController(0),
      [],
      [pod('o', { phase: 'Failed' }), pod('p', { isGoing: true })],
      [],
    ],
    ['adopts even what it then has too much of', replicationController(0), [], [pod('o')], ['patch o', 'delete o (o)']],
    [
      'lets go of a pod that no longer matches, and replaces it',
      replicationController(1),
      [own('a', { labels: { app: 'debug' } })],
      [],
      ['patch a', 'create web-'],
    ],
    [
      'leaves everything as it is once it is being deleted',
      replicationController(5, { isGoing: true }),
      [own('a'), own('b', { labels: { app: 'debug' } })],
      [pod('o')],
      [],
    ],
    ['selects nothing with an empty selector', replicationController(0, { selector: {} }), [], [pod('o')], []],
  ])('%s', (_, owner, controlled, orphans, actions) => {
    expect(plan(owner, controlled, orphans).actions.map(summary)).toEqual(actions)
  })

  it('makes at most 500 pods at a time, each by the same request', () => {
    const { actions } = plan(replicationController(1200), [])
    expect(actions).toHaveLength(500)
    expect(new Set(actions).size).toBe(1)
    expect(plan(replicationController(500), []).actions).toHaveLength(500)
  })

  it('deletes at most 500 pods at a time', () => {
    const pods = Array.from({ length: 502 }, (_, index) => own(`p${index}`))
    expect(plan(replicationController(0), pods).actions).toHaveLength(500)
    expect(plan(replicationController(1), pods).actions).toHaveLength(500)
    expect(plan(replicationController(2), pods).actions).toHaveLength(500)
    expect(plan(replicationController(3), pods).actions).toHaveLength(499)
  })

  it('makes pods of the template that belong to it, and says so', () => {
    const template = {
      metadata: { labels: { app: 'web' }, annotations: { note: 'x' }, finalizers: ['example.com/wait'] },
      spec: replicationController(1).spec.template?.spec,
    } as NonNullable<ReplicationController['spec']['template']>
    const owner = replicationController(1, { template })
    expect(plan(owner, []).actions).toEqual([
      {
        type: 'create',
        resource: podResource,
        object: {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            generateName: 'web-',
            namespace: 'default',
            labels: { app: 'web' },
            annotations: { note: 'x' },
            finalizers: ['example.com/wait'],
            ownerReferences: [ownedBy(owner)],
          },
          spec: template.spec,
        },
        because: '0 of 1 replicas exist',
        events: {
          succeeded: { reason: 'SuccessfulCreate', message: 'Created pod: {name}' },
          failed: { reason: 'FailedCreate', message: 'Error creating: {error}' },
        },
      },
    ])
  })

  it('deletes pods, and says so', () => {
    expect(plan(replicationController(0), [own('a')]).actions).toEqual([
      {
        type: 'delete',
        resource: podResource,
        key: { namespace: 'default', name: 'a' },
        uid: 'a',
        because: '1 replicas exist and 0 are wanted',
        events: {
          succeeded: { reason: 'SuccessfulDelete', message: 'Deleted pod: {name}' },
          failed: { reason: 'FailedDelete', message: 'Error deleting: {error}' },
        },
      },
    ])
  })

  it('says why it takes pods in and lets them go', () => {
    const { actions } = plan(replicationController(1), [own('a', { labels: {} })], [pod('o')])
    expect(actions.map(({ because }) => because)).toEqual([
      'the pod’s labels no longer match the selector',
      'the pod matches the selector and is nobody’s',
    ])
  })

  it('makes nothing without a template', () => {
    expect(plan(replicationController(2, { template: undefined } as never), []).actions).toEqual([])
  })

  it('deletes one of two that share a node with what its controller has made', () => {
    const owner = replicationController(1)
    const [shared, alone] = [own('a', { node: 'n1', readyFor: 60 }), own('b', { node: 'n2', readyFor: 60 })]
    const related = [shared, alone, pod('sibling', { node: 'n1' })]
    const observed = observedOwner(owner, desiredReplicas(owner), { controlled: [alone, shared], related })
    expect(planReplicationController(observed, startMs).actions.map(summary)).toEqual(['delete a (a)'])
  })

  it('counts pods that it takes in, and looks again when the first of all becomes available', () => {
    const owner = replicationController(4, { minReadySeconds: 30 })
    const controlled = [own('a', { readyFor: 10 }), own('b', { readyFor: 60 })]
    const orphans = [pod('c', { readyFor: 20 }), pod('d', { readyFor: 40, labels: { app: 'web', more: 'x' } })]
    const { status, requeueAfterMs } = plan(owner, controlled, orphans)
    expect(status).toEqual({
      replicas: 4,
      fullyLabeledReplicas: 4,
      readyReplicas: 4,
      availableReplicas: 2,
      observedGeneration: 1,
    })
    expect(requeueAfterMs).toBe(10_000)
    expect(plan(owner, [own('b', { readyFor: 60 })], [pod('e')]).requeueAfterMs).toBeUndefined()
    expect(plan(owner, [own('b', { readyFor: 10 })], [pod('e')]).requeueAfterMs).toBe(20_000)
  })

  it('only counts for one that is being deleted, and looks again all the same', () => {
    const owner = replicationController(0, { isGoing: true, minReadySeconds: 30 })
    const { actions, status, requeueAfterMs } = plan(owner, [own('a', { readyFor: 10 })], [pod('o')])
    expect(actions).toEqual([])
    expect(status).toMatchObject({ replicas: 1, readyReplicas: 1 })
    expect(requeueAfterMs).toBe(20_000)
  })

  it('keeps other owners when it adopts and when it lets go', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'other' }
    const owner = replicationController(1)
    const withOther = (each: Pod): Pod => {
      const ownerReferences = [other, ...(each.metadata.ownerReferences ?? [])]
      return { ...each, metadata: { ...each.metadata, ownerReferences } }
    }
    const { actions } = plan(owner, [withOther(own('a', { labels: {} }))], [withOther(pod('o'))])
    expect(actions.map((action) => action.type === 'patch' && action.patch.body)).toEqual([
      { metadata: { uid: 'a', resourceVersion: '1', ownerReferences: [other] } },
      { metadata: { uid: 'o', resourceVersion: '1', ownerReferences: [other, ownedBy(owner)] } },
    ])
  })

  it('counts active pods only, by labels, readiness and availability', () => {
    const owner = replicationController(4, { minReadySeconds: 30 })
    const pods = [
      own('available', { readyFor: 30 }),
      own('ready', { readyFor: 10 }),
      own('waiting'),
      own('ended', { phase: 'Failed', readyFor: 60 }),
      own('ending', { isGoing: true, readyFor: 60 }),
    ]
    const { status, requeueAfterMs } = plan(owner, pods)
    expect(status).toEqual({
      replicas: 3,
      fullyLabeledReplicas: 3,
      readyReplicas: 2,
      availableReplicas: 1,
      observedGeneration: 1,
    })
    expect(requeueAfterMs).toBe(20_000)
  })

  it('counts every pod as one of a template without labels', () => {
    const template = { spec: replicationController(1).spec.template?.spec ?? { containers: [] } }
    expect(plan(replicationController(1, { template }), [own('a')]).status).toMatchObject({ fullyLabeledReplicas: 1 })
  })

  it('tells pods of an older template by their labels', () => {
    const spec = replicationController(1).spec.template?.spec ?? { containers: [] }
    const template = { metadata: { labels: { app: 'web', tier: 'front' } }, spec }
    const { status } = plan(replicationController(1, { template }), [own('a')])
    expect(status).toEqual({ replicas: 1, observedGeneration: 1 })
  })

  it('takes back that it has failed', () => {
    const owner = replicationController(1)
    const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'no room' }]
    const failed = { ...owner, status: { replicas: 1, conditions } }
    expect(plan(failed, [own('a')]).status).not.toHaveProperty('conditions')
  })
})
