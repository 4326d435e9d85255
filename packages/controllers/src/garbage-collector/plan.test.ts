import type { KubernetesObject, OwnerReference } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type GarbageDecision, type GarbageFacts, type OwnerState, planGarbage } from './plan.ts'

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
  const background = { type: 'delete', propagationPolicy: 'Background', unblocksOwners: false } as const
  const foreground = { type: 'delete', propagationPolicy: 'Foreground', unblocksOwners: false } as const

  it.each<[string, GarbageFacts, GarbageDecision]>([
    ['keeps what has no owner', facts([]), { type: 'keep', because: 'it has no owner' }],
    ['keeps what all owners of exist', facts(['solid', 'solid']), { type: 'keep', because: 'all its owners exist' }],
    [
      'deletes what all owners of are gone',
      facts(['absent', 'absent']),
      { ...background, because: 'its owner ConfigMap absent-0 and ConfigMap absent-1 is gone' },
    ],
    ['says which owner is gone', facts(['absent']), { ...background, because: 'its owner ConfigMap absent-0 is gone' }],
    [
      'names three of many owners',
      facts(['absent', 'absent', 'absent', 'absent', 'absent']),
      {
        ...background,
        because: 'its owner ConfigMap absent-0 and ConfigMap absent-1 and ConfigMap absent-2 and 2 more is gone',
      },
    ],
    [
      'names all of three owners',
      facts(['absent', 'absent', 'absent']),
      { ...background, because: 'its owner ConfigMap absent-0 and ConfigMap absent-1 and ConfigMap absent-2 is gone' },
    ],
    [
      'drops owners that are gone or waiting where another is left',
      facts(['absent', 'solid', 'waiting']),
      {
        type: 'dropOwners',
        uids: ['absent-0', 'waiting-2'],
        because: 'it has another owner than ConfigMap absent-0 and ConfigMap waiting-2',
      },
    ],
    [
      'deletes in the background what a waiting owner waits for and has no dependents',
      facts(['waiting', 'absent']),
      { ...background, because: 'ConfigMap waiting-0 and ConfigMap absent-1 is being deleted in the foreground' },
    ],
    [
      'deletes in the background what has dependents and only owners that are gone',
      facts(['absent'], { hasDependents: true, hasWaitingDependent: true }),
      { ...background, because: 'its owner ConfigMap absent-0 is gone' },
    ],
    [
      'deletes in the foreground what a waiting owner waits for and has dependents',
      facts(['waiting'], { hasDependents: true }),
      { ...foreground, because: 'ConfigMap waiting-0 is being deleted in the foreground' },
    ],
    [
      'lets owners go first that may wait in a circle',
      facts(['absent', 'waiting'], { hasDependents: true, hasWaitingDependent: true }),
      {
        ...foreground,
        unblocksOwners: true,
        because: 'ConfigMap absent-0 and ConfigMap waiting-1 is being deleted in the foreground',
      },
    ],
    [
      'honours an orphan finalizer of the object itself',
      facts(['absent'], { object: object({ finalizers: ['orphan'] }) }),
      { ...background, propagationPolicy: 'Orphan', because: 'its owner ConfigMap absent-0 is gone' },
    ],
    [
      'honours a foreground finalizer of the object itself',
      facts(['absent'], { object: object({ finalizers: ['foregroundDeletion'] }) }),
      { ...foreground, because: 'its owner ConfigMap absent-0 is gone' },
    ],
    [
      'never collects on an impossible reference',
      facts(['invalid', 'absent']),
      { type: 'keep', because: 'it is cluster-scoped and names a namespaced owner' },
    ],
    [
      'leaves alone what is being deleted already',
      facts(['absent'], { object: object({ deletionTimestamp }) }),
      { type: 'keep', because: 'it is being deleted already' },
    ],
    [
      'waits for dependents that block a foreground deletion',
      facts([], { object: waitsForDependents, isBlocked: true }),
      { type: 'awaitDependents', because: 'it is being deleted in the foreground and has dependents left' },
    ],
    [
      'ends a foreground deletion that nothing blocks',
      facts([], { object: waitsForDependents }),
      { type: 'finish', because: 'all dependents that block its deletion are gone' },
    ],
  ])('%s', (_, given, decision) => {
    expect(planGarbage(given)).toEqual(decision)
  })
})
