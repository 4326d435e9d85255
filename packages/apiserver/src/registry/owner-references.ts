import type { KubernetesObject, OwnerReference } from '@coracle/api'

/** An object whose owners are each named once, and the uids of those that were named again in the same words. */
export interface DistinctOwners<T> {
  readonly object: T
  readonly duplicates: readonly string[]
}

/** The object with each of its owner references once: the first stays. The very object where there are no others. */
export function withDistinctOwners<T extends KubernetesObject>(object: T): DistinctOwners<T> {
  const { ownerReferences = [] } = object.metadata
  if (ownerReferences.length < 2) return { object, duplicates: [] }
  const distinct = new Map<string, OwnerReference>()
  const duplicates: string[] = []
  for (const reference of ownerReferences) {
    const text = textOf(reference)
    if (distinct.has(text)) duplicates.push(reference.uid)
    else distinct.set(text, reference)
  }
  if (duplicates.length === 0) return { object, duplicates }
  const metadata = { ...object.metadata, ownerReferences: [...distinct.values()] }
  return { object: { ...object, metadata }, duplicates }
}

/** What is equal has the same text: a field that is false is not one that is left out. */
function textOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion])
}

/** Upstream's warning of owners that are named several times: in the request, or after admission has changed the object. */
export function duplicateOwnersWarning(uids: readonly string[], when: 'as-given' | 'after-admission'): string {
  const after = when === 'after-admission' ? ' after mutating admission happens' : ''
  return `.metadata.ownerReferences contains duplicate entries${after}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(', ')}`
}
