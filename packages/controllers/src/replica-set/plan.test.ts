import type { Pod, ReplicaSet } from '@coracle/api'
import { controllerRef } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { pod, startMs } from '../testing/objects.ts'
import { observedOwner } from '../testing/observed-pods.ts'
import { desiredReplicas, planReplicaSet } from './plan.ts'

function replicaSet(replicas: number | undefined, selector: ReplicaSet['spec']['selector']): ReplicaSet {
  const template = { metadata: { labels: { tier: 'front' } }, spec: { containers: [{ name: 'web', image: 'web' }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace: 'default', name: 'web', uid: 'rs', generation: 1 },
    spec: { replicas, selector, template },
  } as ReplicaSet
}

const frontEnd = { matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'edge'] }] }

function own(name: string, traits: Parameters<typeof pod>[1] = {}): Pod {
  const made = pod(name, { labels: { tier: 'front' }, ...traits })
  return { ...made, metadata: { ...made.metadata, ownerReferences: [controllerRef(replicaSet(0, frontEnd))] } }
}

function plan(owner: ReplicaSet, controlled: readonly Pod[], orphans: readonly Pod[] = []) {
  const planFor = (of: ReplicaSet) =>
    planReplicaSet(observedOwner(of, desiredReplicas(of), { controlled, orphans }), startMs)
  const made = planFor(owner)
  // A status alone comes to the same when it is looked at again: the controller leaves that out.
  if (made.actions.length === 0 && made.status !== undefined)
    expect(planFor({ ...owner, status: made.status })).toEqual(made)
  return made
}

describe('planReplicaSet', () => {
  it('counts and keeps pods by a selector of sets', () => {
    const edge = pod('edge', { labels: { tier: 'edge' } })
    const back = own('back', { labels: { tier: 'back' } })
    const { actions, status } = plan(replicaSet(3, frontEnd), [own('a'), back], [edge, pod('other')])
    expect(actions.map((action) => `${action.type} ${'key' in action ? action.key.name : ''}`)).toEqual([
      'patch back',
      'patch edge',
      'create ',
    ])
    expect(status).toMatchObject({ replicas: 2, fullyLabeledReplicas: 1, observedGeneration: 1 })
  })

  it('counts a pod as available when it has been ready for long enough', () => {
    const owner = replicaSet(1, frontEnd)
    const patient = { ...owner, spec: { ...owner.spec, minReadySeconds: 30 } }
    const pods = [own('a', { readyFor: 10 })]
    expect(plan(owner, pods).status).toMatchObject({ availableReplicas: 1 })
    expect(plan(patient, pods)).toMatchObject({ status: { availableReplicas: undefined }, requeueAfterMs: 20_000 })
  })

  it('makes one pod where it says no number', () => {
    expect(plan(replicaSet(undefined, frontEnd), []).actions).toHaveLength(1)
  })

  it('shows pods on their way out, which are no replicas any more', () => {
    const pods = [own('a'), own('going', { isGoing: true }), own('gone', { isGoing: true, phase: 'Failed' })]
    expect(plan(replicaSet(1, frontEnd), pods).status).toMatchObject({ replicas: 1, terminatingReplicas: 1 })
  })
})
