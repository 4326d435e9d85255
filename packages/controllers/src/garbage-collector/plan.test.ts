import type { KubernetesObject, OwnerReference } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type GarbageFacts, type OwnerState, planGarbage } from './plan.ts'

const owner = (name: string): OwnerReference => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name })

const object = (metadata: KubernetesObject['metadata'] = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'it', uid: 'it', ...metadata },
})

function facts(states: readonly OwnerState[], parts: Partial<GarbageFacts> = {}): GarbageFacts {
  const owners = states.map((state, index) => ({ reference: owner(`${state}-${index}`), state }))
  return { object: object(), owners, hasDependents: false, isBlocked: false, hasWaitingDependent: false, ...parts }
}

const deletionTimestamp = '2026-01-01T00:00:00Z'
const waitsForDependents = object({ deletionTimestamp, finalizers: ['foregroundDeletion'] })

describe('planGarbage', () => {
  it.each<[string, GarbageFacts, object]>([
    ['keeps what has no owner', facts([]), { type: 'keep' }],
    ['keeps what all owners of exist', facts(['solid', 'solid']), { type: 'keep' }],
    [
      'deletes what all owners of are gone',
      facts(['absent', 'absent']),
      { type: 'delete', propagationPolicy: 'Background' },
    ],
    [
      'says which owner is gone',
      facts(['absent']),
      { type: 'delete', because: 'its owner ConfigMap absent-0 is gone' },
    ],
    [
      'says how many of many owners are gone',
      facts(['absent', 'absent', 'absent', 'absent', 'absent']),
      {
        type: 'delete',
        because: 'its owner ConfigMap absent-0 and ConfigMap absent-1 and ConfigMap absent-2 and 2 more is gone',
      },
    ],
    [
      'drops owners that are gone or waiting where another is left',
      facts(['absent', 'solid', 'waiting']),
      { type: 'dropOwners', uids: ['absent-0', 'waiting-2'] },
    ],
    [
      'deletes in the background what a waiting owner waits for and has no dependents',
      facts(['waiting', 'absent']),
      { type: 'delete', propagationPolicy: 'Background', unblocksOwners: false },
    ],
    [
      'deletes in the foreground what a waiting owner waits for and has dependents',
      facts(['waiting'], { hasDependents: true }),
      { type: 'delete', propagationPolicy: 'Foreground', unblocksOwners: false },
    ],
    [
      'lets owners go first that may wait in a circle',
      facts(['waiting'], { hasDependents: true, hasWaitingDependent: true }),
      { type: 'delete', propagationPolicy: 'Foreground', unblocksOwners: true },
    ],
    [
      'honours an orphan finalizer of the object itself',
      facts(['absent'], { object: object({ finalizers: ['orphan'] }) }),
      { type: 'delete', propagationPolicy: 'Orphan' },
    ],
    [
      'honours a foreground finalizer of the object itself',
      facts(['absent'], { object: object({ finalizers: ['foregroundDeletion'] }) }),
      { type: 'delete', propagationPolicy: 'Foreground' },
    ],
    ['never collects on an impossible reference', facts(['invalid', 'absent']), { type: 'keep' }],
    [
      'leaves alone what is being deleted already',
      facts(['absent'], { object: object({ deletionTimestamp }) }),
      { type: 'keep' },
    ],
    [
      'waits for dependents that block a foreground deletion',
      facts([], { object: waitsForDependents, isBlocked: true }),
      { type: 'awaitDependents' },
    ],
    ['ends a foreground deletion that nothing blocks', facts([], { object: waitsForDependents }), { type: 'finish' }],
  ])('%s', (_, given, decision) => {
    expect(planGarbage(given)).toMatchObject(decision)
  })
})
