import type { OwnerReference } from '@coracle/api'

/** Shorter lists are searched from end to end: that is faster than any index, and all but a few are that short. */
const searchedLengthMax = 16

/** By their list, which is never changed. */
const indexes = new WeakMap<readonly OwnerReference[], ReadonlyMap<string, readonly OwnerReference[]>>()

const none: readonly OwnerReference[] = []

/**
 * Those of an object's owner references that name this UID, usually one. Cheap for any number of references: an object with
 * twenty thousand owners is asked about each of them.
 */
export function referencesTo(owners: readonly OwnerReference[], uid: string): readonly OwnerReference[] {
  if (owners.length <= searchedLengthMax) return owners.filter((reference) => reference.uid === uid)
  let index = indexes.get(owners)
  if (index === undefined) {
    index = Map.groupBy(owners, (reference) => reference.uid)
    indexes.set(owners, index)
  }
  return index.get(uid) ?? none
}
