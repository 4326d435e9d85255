/**
 * Who owns which fields of an object, and what an update or an apply makes of that. Pure.
 * https://github.com/kubernetes-sigs/structured-merge-diff (merge.Updater), apimachinery's managedfields.
 */
import type { Schema } from '../schema/schema.ts'
import { type Comparison, compareFields } from './compare.ts'
import {
  differenceOf,
  type FieldSet,
  intersectionOf,
  isEmptySet,
  noFields,
  recursiveDifferenceOf,
  unionOf,
} from './field-set.ts'
import { fieldSetOf } from './field-set-of.ts'
import { mergeApplied } from './merge.ts'
import { removeFields, withNamedFields } from './remove.ts'

/** Who set fields, how, and through what. Those that differ in any of it own separately. */
export interface Manager {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  /** In which version of the kind its fields are named. Of managers that apply it is the last they used, and no part of who they are. */
  readonly apiVersion: string
  /** Empty for the object itself. */
  readonly subresource: string
}

/** A manager with its fields. */
export interface Owned extends Manager {
  readonly fields: FieldSet
  /** When the manager last changed what it owns (RFC 3339); undefined where nobody noted it. */
  readonly time?: string | undefined
}

/** The owners of an object's fields. No two are the same manager, none owns nothing. */
export type FieldOwners = readonly Owned[]

/** An object in every version in which somebody owns fields. */
export interface VersionedObject {
  /** The object as of `apiVersion`; undefined where there is no such version (any more). */
  at(apiVersion: string): { readonly schema: Schema; readonly value: unknown } | undefined
}

export function isSameManager(a: Manager, b: Manager): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/** A field that somebody else owns and an apply would change. */
export interface OwnershipConflict {
  readonly manager: Owned
  readonly fields: FieldSet
}

interface Transfer {
  readonly owners: FieldOwners
  readonly comparison: Comparison
  readonly conflicts: readonly OwnershipConflict[]
}

/**
 * The owners after a change by `manager`, its own fields left as they were: the others lose what is changed or gone. Fields of
 * a version that is not served any more are owned by nobody.
 */
function transfer(
  before: VersionedObject,
  after: VersionedObject,
  owners: FieldOwners,
  manager: Manager,
  ignored: FieldSet,
): Transfer {
  const comparisons = new Map<string, Comparison | undefined>()
  const comparisonAt = (apiVersion: string): Comparison | undefined => {
    if (!comparisons.has(apiVersion)) comparisons.set(apiVersion, comparisonOf(before, after, apiVersion, ignored))
    return comparisons.get(apiVersion)
  }
  const conflicts: OwnershipConflict[] = []
  const left: Owned[] = []
  for (const owner of owners) {
    if (isSameManager(owner, manager)) {
      left.push(owner)
      continue
    }
    const comparison = comparisonAt(owner.apiVersion)
    if (comparison === undefined) continue
    const taken = intersectionOf(owner.fields, unionOf(comparison.modified, comparison.added))
    if (!isEmptySet(taken)) conflicts.push({ manager: owner, fields: taken })
    const fields = differenceOf(differenceOf(owner.fields, taken), comparison.removed)
    if (!isEmptySet(fields)) left.push(fields === owner.fields ? owner : { ...owner, fields })
  }
  const unchanged: Comparison = { added: noFields, modified: noFields, removed: noFields }
  return { owners: left, comparison: comparisonAt(manager.apiVersion) ?? unchanged, conflicts }
}

function comparisonOf(
  before: VersionedObject,
  after: VersionedObject,
  apiVersion: string,
  ignored: FieldSet,
): Comparison | undefined {
  const [old, now] = [before.at(apiVersion), after.at(apiVersion)]
  if (old === undefined || now === undefined) return undefined
  const { added, modified, removed } = compareFields(now.schema, old.value, now.value)
  if (isEmptySet(ignored)) return { added, modified, removed }
  return {
    added: recursiveDifferenceOf(added, ignored),
    modified: recursiveDifferenceOf(modified, ignored),
    removed: recursiveDifferenceOf(removed, ignored),
  }
}

/** The owners after `manager` has replaced `before` by `after`: it owns what it changed and what it owned before. */
export function ownersAfterUpdate(
  before: VersionedObject,
  after: VersionedObject,
  owners: FieldOwners,
  manager: Manager,
  ignored: FieldSet,
): FieldOwners {
  const { owners: left, comparison } = transfer(before, after, owners, manager, ignored)
  const own = left.find((owner) => isSameManager(owner, manager))?.fields ?? noFields
  const kept = differenceOf(own, comparison.removed)
  const fields = recursiveDifferenceOf(unionOf(unionOf(kept, comparison.modified), comparison.added), ignored)
  return withOwned(left, manager, fields)
}

/** The owners with `manager` owning exactly `fields`. */
export function withOwned(owners: FieldOwners, manager: Manager, fields: FieldSet): FieldOwners {
  const at = owners.findIndex((owner) => isSameManager(owner, manager))
  const known = owners[at]
  if (isEmptySet(fields)) return known === undefined ? owners : owners.toSpliced(at, 1)
  if (known === undefined) return [...owners, { ...manager, fields }]
  if (known.fields === fields && known.apiVersion === manager.apiVersion) return owners
  return owners.with(at, { ...known, ...manager, fields })
}

/** What an apply makes of an object, before anybody has judged the conflicts. */
export interface Applied {
  /** The object in the version of the applied configuration, merged and pruned; not decoded. */
  readonly value: unknown
  /** The owners where the conflicts, if there are any, are forced. `time` is as it was. */
  readonly owners: FieldOwners
  readonly conflicts: readonly OwnershipConflict[]
}

/** How an apply sees the object in the version of its configuration, and how the result is seen in others. */
export interface ApplyInput {
  readonly live: VersionedObject
  readonly configuration: { readonly schema: Schema; readonly value: unknown }
  readonly owners: FieldOwners
  readonly manager: Manager
  /** Fields that nobody owns through this part of the object. */
  readonly ignored: FieldSet
  /** A value of the configuration's version in every version. */
  versioned(value: unknown): VersionedObject
}

/** Merges an applied configuration into an object: what its manager applied before and leaves out now goes, unless others own it. */
export function applyConfiguration(input: ApplyInput): Applied {
  const { live, configuration, owners, manager, ignored } = input
  const { schema } = configuration
  const merged = mergeApplied(schema, live.at(manager.apiVersion)?.value, configuration.value)
  const last = owners.find((owner) => isSameManager(owner, manager))
  const fields = recursiveDifferenceOf(fieldSetOf(schema, configuration.value), ignored)
  const claimed = withOwned(owners, manager, fields)
  const value = last === undefined ? merged : prune(input, merged, claimed, last)
  const { owners: left, conflicts } = transfer(live, input.versioned(value), claimed, manager, ignored)
  return { value, owners: left, conflicts }
}

/** The merged object without what the manager owned and neither it nor anybody else owns now. */
function prune({ configuration, versioned, manager }: ApplyInput, merged: unknown, owners: FieldOwners, last: Owned) {
  const { schema } = configuration
  if (last.apiVersion !== manager.apiVersion) {
    const older = versioned(merged).at(last.apiVersion)
    // Without the version nobody can tell any more what the fields were.
    if (older === undefined) return merged
  }
  const lastFields = withNamedFields(schema, last.fields)
  const pruned = removeFields(schema, merged, lastFields)
  const mergedFields = withNamedFields(schema, fieldSetOf(schema, merged))
  let managed = noFields
  for (const owner of owners) managed = unionOf(managed, withNamedFields(schema, owner.fields))
  const prunedFields = withNamedFields(schema, fieldSetOf(schema, pruned))
  // What is in a removed element and somebody else's comes back with its element.
  const withOwnedFields = removeFields(schema, merged, differenceOf(mergedFields, unionOf(prunedFields, managed)))
  // What nobody owned was not this manager's to remove.
  const backFields = withNamedFields(schema, fieldSetOf(schema, withOwnedFields))
  return removeFields(schema, merged, intersectionOf(differenceOf(mergedFields, backFields), lastFields))
}
