/**
 * What upstream's field manager adds to the ownership of fields: what nobody owns, the times, objects of before there were
 * managers, those that were applied by clients, and a limit. Pure.
 */
import { compareText } from '../compare-text.ts'
import { deepEqual } from '../equality.ts'
import { isJsonObject } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { ownersAfterAlike, ownersAfterRecent } from './alike-updates.ts'
import { compareFields } from './compare.ts'
import { differenceSteps } from './difference.ts'
import { emptyObjectOf } from './empty-object.ts'
import { differenceOf, type FieldSet, isEmptySet, noFields, sameFields, subtracting, unionOf } from './field-set.ts'
import { fieldSetOf } from './field-set-of.ts'
import { interned } from './interned-sets.ts'
import { inOrder } from './managed-fields.ts'
import {
  type ApplyInput,
  applyConfiguration,
  atTime,
  type FieldOwners,
  isSameManager,
  type Manager,
  managerKey,
  type Owned,
  type OwnedChange,
  type OwnershipConflict,
  ownersAfterUpdate,
  withOwned,
} from './ownership.ts'
import { inOneGo, type Passes } from './passes.ts'
import { noteUnderSchemas } from './schema-changes.ts'
import { typedProblems } from './typed-problems.ts'

/** What an object is and what the server gives it is nobody's. */
const unowned: FieldSet = {
  'f:apiVersion': noFields,
  'f:kind': noFields,
  'f:metadata': {
    '.': noFields,
    'f:clusterName': noFields,
    'f:creationTimestamp': noFields,
    'f:generation': noFields,
    'f:managedFields': noFields,
    'f:name': noFields,
    'f:namespace': noFields,
    'f:resourceVersion': noFields,
    'f:selfLink': noFields,
    'f:uid': noFields,
  },
}

/** Owns what an object had before somebody first applied to it, where nobody owned anything. */
export const beforeFirstApplyManager = 'before-first-apply'

/** Owns what the oldest of many updaters owned. */
export const ancientChangesManager = 'ancient-changes'

/** How many managers that update are kept apart. */
export const updateManagersMax = 10

/** The manager whose applies take over from client-side apply. */
const clientSideApplier = 'kubectl'

/** Where client-side apply keeps the configuration that was applied last. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * The owners after somebody changed an object other than by applying. The same where it took nothing and took nothing away,
 * and the same list for all changes that were alike and hit objects with the same list at the same time: pods of one template
 * share what is known of their owners.
 */
export function recordUpdate(change: OwnedChange, time: string): FieldOwners {
  const { before, after, owners, manager, versions, ignored } = change
  const schema = versions.schemaOf(manager.apiVersion)
  const isOneVersion = owners.every(({ apiVersion }) => apiVersion === manager.apiVersion)
  if (schema === undefined || !isOneVersion || ignored !== undefined) return recordUpdateAnew(change, time)
  return ownersAfterRecent(schema, change, time, () => {
    const update = { schema, steps: differenceSteps(schema, before, after), manager, time }
    return ownersAfterAlike(owners, update, (alike, comparison) =>
      recordUpdateAnew({ ...change, owners: alike, comparison }, time),
    )
  })
}

/** The same for one change, whatever there was before. */
export const recordUpdateAnew = (change: OwnedChange, time: string): FieldOwners =>
  inOneGo(updateRecording(change, time))

/** The same, in passes: for objects that are large. */
export function* updateRecording(change: OwnedChange, time: string): Passes<FieldOwners> {
  const { manager } = change
  const { owners, changed } = yield* ownersAfterUpdate(change)
  yield
  const own = owners.find((owner) => isSameManager(owner, manager))
  const fields = yield* subtracting(own?.fields ?? noFields, unowned)
  const taken = yield* subtracting(changed, unowned)
  yield
  const recorded = isEmptySet(taken)
    ? sharingSets(own?.fields === fields ? owners : withOwned(owners, manager, fields), change.owners)
    : sharingSets(inOrder(capUpdaters(timed(withOwned(owners, manager, fields), manager, time))), change.owners)
  return noteUnderSchemas(recorded, change.versions)
}

/** Owners whose sets are shared with all who own the same; `known` itself is left as it is. */
function sharingSets(owners: FieldOwners, known: FieldOwners): FieldOwners {
  if (owners === known) return owners
  return owners.map((owner) => {
    const fields = interned(owner.fields)
    return fields === owner.fields ? owner : { ...owner, fields }
  })
}

/** An apply, as judged: without conflicts where they are forced, or where client-side apply had set the fields. */
export interface JudgedApply {
  /** The object in the version of the configuration, merged and pruned; not decoded. */
  readonly value: unknown
  readonly owners: FieldOwners
  /** Where there are any the rest is not to be used. */
  readonly conflicts: readonly OwnershipConflict[]
}

/** Applies a configuration to an object. */
export const recordApply = (input: ApplyInput, force: boolean, time: string): JudgedApply =>
  inOneGo(applyRecording(input, force, time))

/** The same, in passes. */
export function* applyRecording(input: ApplyInput, force: boolean, time: string): Passes<JudgedApply> {
  const { live, schema, manager } = input
  const owners = input.owners.length === 0 ? yield* firstOwners(input, time) : input.owners
  const applied = yield* applyConfiguration({ ...input, owners })
  yield
  const mayTakeOver = manager.name === clientSideApplier && applied.conflicts.length > 0
  const allowed = mayTakeOver && !force ? lastAppliedFields(schema, live, manager.apiVersion) : noFields
  const conflicts = force ? [] : remaining(applied.conflicts, allowed)
  const own = applied.owners.find((owner) => isSameManager(owner, manager))
  const claimed = withOwned(applied.owners, manager, yield* subtracting(own?.fields ?? noFields, unowned))
  yield
  const isSame = applied.value === live && sameOwners(claimed, input.owners)
  yield
  // As upstream has it an apply that changes nothing but owners takes no time.
  const owned = deepEqual(applied.value, live) ? claimed : timed(claimed, manager, time)
  return { value: applied.value, owners: isSame ? input.owners : inOrder(owned), conflicts }
}

/** Whether the same managers own the same, whenever they took it. */
export function sameOwners(a: FieldOwners, b: FieldOwners): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  let byKey: ReadonlyMap<string, Owned> | undefined
  const known = (owner: Owned): Owned | undefined => {
    byKey ??= new Map(b.map((each) => [managerKey(each), each]))
    return byKey.get(managerKey(owner))
  }
  return a.every((owner, index) => {
    // They are in order, and seldom is one new.
    const same = b[index]
    const other = same !== undefined && isSameManager(same, owner) ? same : known(owner)
    return other !== undefined && other.apiVersion === owner.apiVersion && sameFields(owner.fields, other.fields)
  })
}

/** The time is noted beside what a manager has taken, but not through the scale: upstream loses it on the way to the object. */
const timed = (owners: FieldOwners, manager: Manager, time: string): FieldOwners =>
  manager.subresource === 'scale'
    ? owners
    : owners.map((owner) => (isSameManager(owner, manager) ? atTime(owner, time) : owner))

function* firstOwners({ live, schema, manager, versions, ignored }: ApplyInput, time: string): Passes<FieldOwners> {
  const first: Manager = { ...manager, name: beforeFirstApplyManager, operation: 'Update' }
  const before = emptyObjectOf(schema)
  // An object that is only being made has nothing yet.
  return live === before
    ? []
    : yield* updateRecording({ before, after: live, owners: [], manager: first, versions, ignored }, time)
}

function remaining(conflicts: readonly OwnershipConflict[], allowed: FieldSet): readonly OwnershipConflict[] {
  if (isEmptySet(allowed)) return conflicts
  return conflicts
    .map(({ manager, fields }) => ({ manager, fields: differenceOf(fields, allowed) }))
    .filter(({ fields }) => !isEmptySet(fields))
}

/** What client-side apply has set and nobody has changed since; nothing where it has applied what nobody could own, such as an unknown field. */
function lastAppliedFields(schema: Schema, live: unknown, apiVersion: string): FieldSet {
  const last = lastAppliedOf(live)
  if (!isJsonObject(last) || last.apiVersion !== apiVersion) return noFields
  if ((typedProblems(schema, last) ?? typedProblems(schema, live)) !== undefined) return noFields
  const { added, modified, removed } = compareFields(schema, last, live)
  return differenceOf(fieldSetOf(schema, last), unionOf(unionOf(added, modified), removed))
}

function lastAppliedOf(live: unknown): unknown {
  const text = lastAppliedText(live)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The configuration that client-side apply keeps with an object; undefined where it keeps none. */
export function lastAppliedText(object: unknown): string | undefined {
  const metadata = isJsonObject(object) ? object.metadata : undefined
  const annotations = isJsonObject(metadata) ? metadata.annotations : undefined
  const text = isJsonObject(annotations) ? annotations[lastAppliedAnnotation] : undefined
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** Whether an apply by this manager is to be kept where client-side apply looks for it, if there is such a place. */
export const keepsLastApplied = (manager: Manager): boolean => manager.name === clientSideApplier

/**
 * Merges the oldest managers that update, as far as there are too many, into one for each version: whoever updates under ever
 * new names fills no object.
 */
function capUpdaters(owners: FieldOwners): FieldOwners {
  const updaters = owners
    .filter(({ operation }) => operation === 'Update')
    .sort((a, b) => compareText(a.time ?? '', b.time ?? '') || compareText(a.name, b.name))
  let surplus = updaters.length - updateManagersMax
  if (surplus <= 0) return owners
  const left = new Map(owners.map((owner) => [managerKey(owner), owner]))
  const firsts = new Map<string, Manager>()
  const merged = new Map<string, { readonly bucket: Manager; readonly sets: FieldSet[]; time: Owned['time'] }>()
  for (const updater of updaters) {
    if (surplus <= 0) break
    const { apiVersion, time } = updater
    const first = firsts.get(apiVersion)
    if (first === undefined) {
      firsts.set(apiVersion, updater)
      continue
    }
    const bucket: Manager = { name: ancientChangesManager, operation: 'Update', apiVersion, subresource: '' }
    const merging = merged.get(apiVersion) ?? { bucket, sets: [], time }
    merged.set(apiVersion, merging)
    for (const each of [first, bucket, updater]) {
      const key = managerKey(each)
      const owner = left.get(key)
      if (owner === undefined) continue
      merging.sets.push(owner.fields)
      left.delete(key)
    }
    merging.time = time
    surplus -= 1
  }
  const buckets = [...merged.values()].map(({ bucket, sets, time }) => ({ ...bucket, fields: unionOfAll(sets), time }))
  return [...left.values(), ...buckets]
}

/** The fields in any of the sets. Halves are united, and their halves: one after the other, very many would be gone through again and again. */
function unionOfAll(sets: readonly FieldSet[]): FieldSet {
  const [only = noFields] = sets
  if (sets.length < 2) return only
  const half = sets.length >> 1
  return unionOf(unionOfAll(sets.slice(0, half)), unionOfAll(sets.slice(half)))
}
