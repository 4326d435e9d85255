/**
 * Who owns which fields of an object, and what an update or an apply makes of that. Pure.
 * https://github.com/kubernetes-sigs/structured-merge-diff (merge.Updater)
 */
import type { Schema } from '../schema/schema.ts'
import { withAppliedEmpty } from './applied-empty.ts'
import { type Comparison, comparing, noDifference } from './compare.ts'
import {
  type FieldSet,
  intersecting,
  isEmptySet,
  noFields,
  recursiveDifferenceOf,
  subtracting,
  uniting,
} from './field-set.ts'
import { fieldSetBuilding } from './field-set-of.ts'
import { merging } from './merge.ts'
import type { Passes } from './passes.ts'
import { namingFields, removingFields } from './remove.ts'
import { ownersUnderSchemas } from './schema-changes.ts'

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

/** The owners of an object's fields. No two are the same manager. */
export type FieldOwners = readonly Owned[]

/** The versions of a kind, for the fields that are named in them. Conversion does not change what it gets. */
export interface Versions {
  /** Undefined where there is no such version (any more). */
  schemaOf(apiVersion: string): Schema | undefined
  /** A value of one version as it is in another; both have a schema. */
  convert(value: unknown, from: string, to: string): unknown
}

export function isSameManager(a: Manager, b: Manager): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/** A text that the same managers have, and no others: by it one of very many is found. */
export function managerKey({ name, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([name, operation, subresource, operation === 'Apply' ? '' : apiVersion])
}

/** The owner as it has what it owns since another time. Owners may make their fields when they are asked for. */
export function atTime(owner: Owned, time: Owned['time']): Owned {
  return { ...owner, fields: owner.fields, time }
}

/** Fields that somebody else owns and an apply would change. */
export interface OwnershipConflict {
  readonly manager: Owned
  readonly fields: FieldSet
}

/** The fields of a version that nobody owns through the part of an object that a request is about. */
export type IgnoredFields = (apiVersion: string) => FieldSet

/** A change of an object, in the version of `manager`. */
export interface OwnedChange {
  readonly before: unknown
  readonly after: unknown
  readonly owners: FieldOwners
  readonly manager: Manager
  readonly versions: Versions
  readonly ignored?: IgnoredFields | undefined
  /** The difference in the version of `manager`, where it is known. */
  readonly comparison?: Comparison | undefined
}

/** The difference between the two sides of a change in a version; undefined where that is not served. */
function* comparingIn(change: OwnedChange, apiVersion: string): Passes<Comparison | undefined> {
  const { before, after, manager, versions, ignored } = change
  const same = apiVersion === manager.apiVersion
  if (same && change.comparison !== undefined) return change.comparison
  const schema = versions.schemaOf(apiVersion)
  if (schema === undefined) return undefined
  if (before === after) return noDifference
  const at = (value: unknown) => (same ? value : versions.convert(value, manager.apiVersion, apiVersion))
  return without(yield* comparing(schema, at(before), at(after)), ignored?.(apiVersion) ?? noFields)
}

/**
 * The owners after somebody replaced `before` by `after`: it owns what it changed beside what it owned before, and the others
 * lose what is changed or gone. `changed` is what it took.
 */
export function* ownersAfterUpdate(
  change: OwnedChange,
): Passes<{ readonly owners: FieldOwners; readonly changed: FieldSet }> {
  const { manager, versions, ignored } = change
  const owners = ownersUnderSchemas(change.owners, versions)
  const { owners: left, comparison } = yield* transferring(
    owners === change.owners ? change : { ...change, owners },
    undefined,
  )
  const changed = yield* uniting(comparison.modified, comparison.added)
  if (isEmptySet(changed)) return { owners: left, changed }
  const own = left.find((owner) => isSameManager(owner, manager))?.fields ?? noFields
  yield
  const fields = yield* uniting(own, changed)
  const owned = ignored === undefined ? fields : recursiveDifferenceOf(fields, ignored(manager.apiVersion))
  return { owners: withOwned(left, manager, owned), changed }
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
  /** The owners where the conflicts, if there are any, are forced. Times are as they were. */
  readonly owners: FieldOwners
  readonly conflicts: readonly OwnershipConflict[]
}

/** An apply of `configuration`, which is of the version of `manager`, as is `live`. */
export interface ApplyInput {
  readonly live: unknown
  readonly configuration: unknown
  readonly schema: Schema
  readonly owners: FieldOwners
  readonly manager: Manager
  readonly versions: Versions
  readonly ignored?: IgnoredFields | undefined
}

/** Merges an applied configuration into an object: what its manager applied before and leaves out now goes, unless others own it. */
export function* applyConfiguration(input: ApplyInput): Passes<Applied> {
  const { live, configuration, schema, manager, versions, ignored } = input
  const owners = ownersUnderSchemas(input.owners, versions)
  yield
  const merged = yield* merging(schema, live, configuration)
  yield
  const last = owners.find((owner) => isSameManager(owner, manager))
  const fields = recursiveDifferenceOf(
    yield* fieldSetBuilding(schema, configuration),
    ignored?.(manager.apiVersion) ?? noFields,
  )
  // Even one that owns nothing stands for itself while the others are judged.
  const claimed = withOwned(owners, manager, fields)
  const value =
    last === undefined ? merged : withAppliedEmpty(schema, yield* pruning(input, merged, claimed, last), configuration)
  const change = { before: live, after: value, owners: claimed, manager, versions, ignored }
  yield
  const { owners: left, conflicts } = yield* transferring(change, manager)
  return { value, owners: left, conflicts }
}

interface Transfer {
  readonly owners: FieldOwners
  /** In the version of the change. */
  readonly comparison: Comparison
  readonly conflicts: readonly OwnershipConflict[]
}

/**
 * The owners, but for `except`, without what is changed or gone. Fields of a version that is not served any more are owned by
 * nobody.
 */
function* transferring(change: OwnedChange, except: Manager | undefined): Passes<Transfer> {
  const comparisonAt = comparer(change)
  const comparison = (yield* comparisonAt(change.manager.apiVersion)) ?? noDifference
  const conflicts: OwnershipConflict[] = []
  const left: Owned[] = []
  for (const owner of change.owners) {
    if (except !== undefined && isSameManager(owner, except)) {
      left.push(owner)
      continue
    }
    const own = yield* comparisonAt(owner.apiVersion)
    if (own === undefined) continue
    yield
    const taken = yield* intersecting(owner.fields, yield* uniting(own.modified, own.added))
    if (!isEmptySet(taken)) conflicts.push({ manager: owner, fields: taken })
    yield
    const fields = yield* subtracting(yield* subtracting(owner.fields, taken), own.removed)
    if (!isEmptySet(fields)) left.push(fields === owner.fields ? owner : { ...owner, fields })
  }
  const same = left.length === change.owners.length && left.every((owner, index) => owner === change.owners[index])
  return { owners: same ? change.owners : left, comparison, conflicts }
}

/** Compares the two sides of a change in each version once. */
function comparer(change: OwnedChange) {
  const known = new Map<string, Comparison | undefined>()
  return function* comparisonAt(apiVersion: string): Passes<Comparison | undefined> {
    if (known.has(apiVersion)) return known.get(apiVersion)
    const made = yield* comparingIn(change, apiVersion)
    known.set(apiVersion, made)
    return made
  }
}

function without(comparison: Comparison, ignored: FieldSet): Comparison {
  if (isEmptySet(ignored)) return comparison
  const { added, modified, removed } = comparison
  return {
    added: recursiveDifferenceOf(added, ignored),
    modified: recursiveDifferenceOf(modified, ignored),
    removed: recursiveDifferenceOf(removed, ignored),
  }
}

/** The merged object without what the manager owned and neither it nor anybody else owns now. */
function* pruning(
  { versions, manager }: ApplyInput,
  merged: unknown,
  owners: FieldOwners,
  last: Owned,
): Passes<unknown> {
  const lastVersion = last.apiVersion
  const schema = versions.schemaOf(lastVersion)
  // Without the version nobody can tell any more what the fields were.
  if (schema === undefined) return merged
  const at = (value: unknown, from: string, to: string) => (from === to ? value : versions.convert(value, from, to))
  const whole = at(merged, manager.apiVersion, lastVersion)
  const lastFields = yield* namingFields(schema, last.fields)
  yield
  let pruned = yield* objectWithout(schema, whole, lastFields)
  for (const [version, managed] of yield* ownedByVersion(owners, lastVersion)) {
    const own = versions.schemaOf(version)
    if (own === undefined) continue
    yield
    const back = yield* restoring(own, at(whole, lastVersion, version), at(pruned, lastVersion, version), managed)
    pruned = at(back, version, lastVersion)
  }
  // What nobody owned was not this manager's to remove.
  yield
  const all = yield* fieldsOf(schema, whole)
  yield
  const gone = yield* subtracting(all, yield* fieldsOf(schema, pruned))
  yield
  const left = yield* objectWithout(schema, whole, yield* intersecting(gone, lastFields))
  return at(left, lastVersion, manager.apiVersion)
}

/** `pruned`, a part of `whole`, with what else of it is owned; what is somebody's in a removed element comes back with its element. */
function* restoring(schema: Schema, whole: unknown, pruned: unknown, managed: FieldSet): Passes<unknown> {
  const left = yield* fieldsOf(schema, pruned)
  const owned = yield* namingFields(schema, managed)
  yield
  const kept = yield* uniting(left, owned)
  const all = yield* fieldsOf(schema, whole)
  yield
  const gone = yield* subtracting(all, kept)
  yield
  return yield* objectWithout(schema, whole, gone)
}

/** An object stays one when all its fields go. */
function* objectWithout(schema: Schema, object: unknown, fields: FieldSet): Passes<unknown> {
  return (yield* removingFields(schema, object, fields)) ?? {}
}

function* fieldsOf(schema: Schema, value: unknown): Passes<FieldSet> {
  const fields = yield* fieldSetBuilding(schema, value)
  yield
  return yield* namingFields(schema, fields)
}

/** Everything that is owned in a version; `first` comes first, as conversion may need what others own there. */
function* ownedByVersion(owners: FieldOwners, first: string): Passes<ReadonlyMap<string, FieldSet>> {
  const owned = new Map<string, FieldSet>([[first, noFields]])
  for (const { apiVersion, fields } of owners)
    owned.set(apiVersion, yield* uniting(owned.get(apiVersion) ?? noFields, fields))
  return owned
}
