import type { KubernetesObject, OwnerReference } from '@coracle/api'
import { hasFinalizer, isBeingDeleted } from '@coracle/controller-runtime'
import { foregroundFinalizer, orphanFinalizer } from './graph.ts'

/** How it stands with an owner that an object names. */
export type OwnerState =
  /** It exists. */
  | 'solid'
  /** It does not exist, or another object has its name. */
  | 'absent'
  /** It is being deleted in the foreground and waits for its dependents to go. */
  | 'waiting'
  /** It cannot exist: a cluster-scoped object names an owner of a namespaced kind. Nothing follows from such a reference. */
  | 'invalid'

/** What decides the fate of an object. */
export interface GarbageFacts {
  readonly object: KubernetesObject
  /** Its owner references and what is known of each. Need not be filled in while `isBeingDeleted`. */
  readonly owners: readonly { readonly reference: OwnerReference; readonly state: OwnerState }[]
  readonly hasDependents: boolean
  /** Whether dependents that block its deletion are left. */
  readonly isBlocked: boolean
  /** Whether a dependent of it waits for its own dependents: a cycle, perhaps. */
  readonly hasWaitingDependent: boolean
}

export type PropagationPolicy = 'Background' | 'Foreground' | 'Orphan'

/** What to do about an object, and why. */
export type GarbageDecision =
  | { readonly type: 'keep'; readonly because: string }
  | {
      readonly type: 'delete'
      readonly propagationPolicy: PropagationPolicy
      /** First let its owners go without it: they and it may be waiting for one another. */
      readonly unblocksOwners: boolean
      readonly because: string
    }
  /** Take these owners off the object, which has others. */
  | { readonly type: 'dropOwners'; readonly uids: readonly string[]; readonly because: string }
  /** Nothing blocks its deletion any more. */
  | { readonly type: 'finish'; readonly because: string }
  /** Dependents that block it have to go first. */
  | { readonly type: 'awaitDependents'; readonly because: string }

/** Decides whether an object is garbage (upstream: attemptToDeleteItem). Pure. */
export function planGarbage(facts: GarbageFacts): GarbageDecision {
  const { object, owners } = facts
  if (isBeingDeleted(object)) return planDeleted(facts)
  if (owners.length === 0) return { type: 'keep', because: 'it has no owner' }
  if (owners.some(({ state }) => state === 'invalid')) {
    return { type: 'keep', because: 'it is cluster-scoped and names a namespaced owner' }
  }
  const gone = owners.filter(({ state }) => state !== 'solid')
  if (gone.length < owners.length) return planOwned(gone)
  if (owners.some(({ state }) => state === 'waiting') && facts.hasDependents) {
    return {
      type: 'delete',
      propagationPolicy: 'Foreground',
      unblocksOwners: facts.hasWaitingDependent,
      because: `${describe(owners)} is being deleted in the foreground`,
    }
  }
  return { type: 'delete', propagationPolicy: ownPolicy(object), unblocksOwners: false, because: reasonToGo(owners) }
}

/** Deletion is a one-way street: all there is to do is to end one that waits for dependents. */
function planDeleted({ object, isBlocked }: GarbageFacts): GarbageDecision {
  if (!hasFinalizer(object, foregroundFinalizer)) return { type: 'keep', because: 'it is being deleted already' }
  return isBlocked
    ? { type: 'awaitDependents', because: 'it is being deleted in the foreground and has dependents left' }
    : { type: 'finish', because: 'all dependents that block its deletion are gone' }
}

function planOwned(gone: GarbageFacts['owners']): GarbageDecision {
  if (gone.length === 0) return { type: 'keep', because: 'all its owners exist' }
  // An owner that waits would wait for ever for an object that stays.
  const because = `it has another owner than ${describe(gone)}`
  return { type: 'dropOwners', uids: gone.map(({ reference }) => reference.uid), because }
}

/** What the object itself says about its dependents counts. */
function ownPolicy(object: KubernetesObject): PropagationPolicy {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan'
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background'
}

function reasonToGo(owners: GarbageFacts['owners']): string {
  const isWaiting = owners.some(({ state }) => state === 'waiting')
  return isWaiting ? `${describe(owners)} is being deleted in the foreground` : `its owner ${describe(owners)} is gone`
}

/** Reasons name this many owners. */
const describedOwnersMax = 3

function describe(owners: GarbageFacts['owners']): string {
  const names = owners.slice(0, describedOwnersMax).map(({ reference }) => `${reference.kind} ${reference.name}`)
  const more = owners.length - names.length
  return [...names, ...(more === 0 ? [] : [`${more} more`])].join(' and ')
}
