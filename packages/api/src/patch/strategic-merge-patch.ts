/**
 * Strategic merge patches: merge patches that know the schema, so that lists are merged by the key of their elements.
 * https://github.com/kubernetes/community/blob/main/contributors/devel/sig-api-machinery/strategic-merge-patch.md
 * Semantics are those of apimachinery's strategicpatch, except that nulls and directives never reach the object, also
 * where the patch adds what was not there.
 */
import { deepEqual } from '../equality.ts'
import { isJsonObject, type JsonObject, jsonTypeOf, member, setMember } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { badRequest, requestTooLarge } from '../status.ts'
import { mergeOrdered } from './element-order.ts'
import { checkNesting, patchCannotBeMerged, patchText } from './patch-error.ts'
import { directives, itemsOf, type PatchMetadata, patchMetadata } from './patch-metadata.ts'

/**
 * Members and list elements that one patch may copy or compare. Patches that people write come nowhere near it; it ends
 * those that name the same long list again and again, before others have waited for a tenth of a second.
 */
export const strategicMergeWorkMax = 200_000

/** What applying one patch has cost so far, and which objects it has made: those may be changed further without a copy. */
class Work {
  readonly made = new WeakSet<object>()
  #done = 0

  /** Throws RequestEntityTooLarge where it has become too much. */
  add(count: number): void {
    this.#done += count
    if (this.#done <= strategicMergeWorkMax) return
    throw requestTooLarge(
      `The patch takes too much work: it copies or compares more than ${strategicMergeWorkMax} values, name each element once, or send less at a time`,
    )
  }
}

/**
 * Applies a strategic merge patch to an object of `schema`. What the patch does not change is shared. Throws a
 * BadRequest where the patch is malformed, an Invalid where it does not fit (a list element without its merge key),
 * RequestEntityTooLarge where it asks for too much work.
 */
export function applyStrategicMergePatch(schema: Schema, original: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) throw badRequest('invalid JSON document')
  checkNesting(patch)
  return applyToObject(schema, isJsonObject(original) ? original : {}, patch, new Work())
}

function applyToObject(schema: Schema | undefined, original: JsonObject, patch: JsonObject, work: Work): JsonObject {
  const names = Object.keys(patch)
  if (names.some(isDirective)) return applyDirected(schema, original, patch, work)
  const valuesAlone = (name: string): Changes => ({ value: member(patch, name), deleted: nothing, order: undefined })
  return applyMembers(schema, original, names, valuesAlone, work)
}

/** Most objects of patches have none: looking for those of each field would cost more than what is to be done. */
const isDirective = (name: string): boolean => name.startsWith('$')

const nothing: readonly unknown[] = []

/** The object after a patch that says more than what its members are to be. */
function applyDirected(schema: Schema | undefined, original: JsonObject, patch: JsonObject, work: Work): JsonObject {
  const { [directives.patch]: directive, [directives.retainKeys]: retainKeys, ...members } = patch
  if (directive === 'delete') return {}
  const start = directive === 'replace' ? {} : original
  if (directive !== undefined && directive !== 'replace' && directive !== 'merge') {
    throw patchCannotBeMerged(`unknown patch type: ${String(directive)} in map: ${patchText(patch)}`)
  }
  const kept = retainKeys === undefined ? start : retain(start, members, retainKeys, work)
  return applyMembers(schema, kept, fieldsOf(members), (name) => changesOf(members, name), work)
}

function applyMembers(
  schema: Schema | undefined,
  start: JsonObject,
  names: readonly string[],
  changesFor: (name: string) => Changes,
  work: Work,
): JsonObject {
  const result = new ObjectEdit(start, work)
  for (const name of names) {
    const field = patchMetadata(schema, name)
    result.set(name, applyToMember(field, member(result.current, name), changesFor(name), work))
  }
  return result.current
}

/** What a patch says of one field: its value, and for lists, what goes and in which order the elements are. */
interface Changes {
  readonly value: unknown
  readonly deleted: readonly unknown[]
  readonly order: readonly unknown[] | undefined
}

/** The fields that the members of a patch are about, in the order of their first mention. */
function fieldsOf(members: JsonObject): readonly string[] {
  const names = Object.keys(members).map((key) => {
    for (const prefix of [directives.deleteFromPrimitiveList, directives.setElementOrder]) {
      if (key.startsWith(prefix)) return key.slice(prefix.length)
    }
    return key
  })
  return [...new Set(names)]
}

function changesOf(members: JsonObject, name: string): Changes {
  const deleted = member(members, `${directives.deleteFromPrimitiveList}${name}`) ?? []
  const order = member(members, `${directives.setElementOrder}${name}`)
  if (order !== undefined && !Array.isArray(order)) throw badRequest('invalid patch format of setElementOrder list')
  // What is no list deletes nothing.
  return { value: member(members, name), deleted: Array.isArray(deleted) ? deleted : nothing, order }
}

/** A field's value after the patch; undefined where it goes. */
function applyToMember(field: PatchMetadata, before: unknown, changes: Changes, work: Work): unknown {
  const { value, deleted, order } = changes
  if (value === null) return undefined
  if (Array.isArray(value) || deleted.length > 0 || order !== undefined) {
    return applyToList(field, before, changes, work)
  }
  if (value === undefined) return before
  if (isJsonObject(value)) {
    if (!isJsonObject(before)) return withoutDirectives(value, work)
    const start = field.strategy !== 'replace' ? before : {}
    const after = applyToObject(field.schema, start, value, work)
    return deepEqual(before, after) ? before : after
  }
  return value
}

/**
 * What a patch adds where nothing was that it could be merged with: it is taken as it stands, but for nulls and directives. Undefined for an
 * object that `$patch` is said of: nothing is left of it.
 */
function withoutDirectives(value: unknown, work: Work): unknown {
  if (Array.isArray(value)) {
    work.add(value.length)
    return value.map((each) => withoutDirectives(each, work)).filter((each) => each !== undefined)
  }
  if (!isJsonObject(value)) return value
  if (member(value, directives.patch) !== undefined) return undefined
  const members = Object.entries(value)
  work.add(members.length)
  const result: Record<string, unknown> = {}
  for (const [name, each] of members) {
    const kept = each === null || isDirective(name) ? undefined : withoutDirectives(each, work)
    if (kept !== undefined) setMember(result, name, kept)
  }
  return result
}

function applyToList(field: PatchMetadata, before: unknown, changes: Changes, work: Work): unknown {
  const { value, deleted, order } = changes
  if (value !== undefined && !Array.isArray(value)) return value
  if (before === undefined && value === undefined) return undefined
  if (!Array.isArray(before) && value !== undefined) return addedList(field, value, order, work)
  const start: readonly unknown[] = Array.isArray(before) ? before : []
  work.add(start.length + (value?.length ?? 0) + deleted.length + (order?.length ?? 0))
  const after =
    field.strategy === 'merge' ? mergeList(field, start, value ?? [], deleted, order, work) : (value ?? start)
  return Array.isArray(before) && deepEqual(before, after) ? before : after
}

/** A list where there was none, in the order a patch wants: elements of one key are not merged with each other. */
function addedList(
  { strategy, mergeKey }: PatchMetadata,
  value: readonly unknown[],
  order: readonly unknown[] | undefined,
  work: Work,
): unknown {
  const added = withoutDirectives(value, work) as readonly unknown[]
  if (order === undefined || strategy !== 'merge') return added
  work.add(order.length)
  const changes = value.filter((each) => !isJsonObject(each) || each[directives.patch] === undefined)
  if (mergeKey !== undefined) for (const each of changes) keyed(each, mergeKey)
  const keyOf = remembered((element) =>
    mergeKey === undefined ? JSON.stringify(element) : elementKey(element, mergeKey),
  )
  const wanted = order.map(keyOf)
  checkOrder(changes.map(keyOf), wanted, value, order)
  return mergeOrdered(added, wanted, [], keyOf)
}

function mergeList(
  field: PatchMetadata,
  before: readonly unknown[],
  patch: readonly unknown[],
  deleted: readonly unknown[],
  order: readonly unknown[] | undefined,
  work: Work,
): readonly unknown[] {
  const { mergeKey } = field
  if (mergeKey === undefined) return mergeScalars(before, patch, deleted, order)
  const elements = patch.map((element) => keyed(element, mergeKey))
  if (elements.some((element) => element[directives.patch] === 'replace')) {
    return elements.filter((element) => element[directives.patch] === undefined)
  }
  const changes = elements.filter((element) => element[directives.patch] === undefined)
  const gone = new Set(
    elements.filter((element) => element[directives.patch] !== undefined).map((each) => deletedKey(each, mergeKey)),
  )
  const keyOf = remembered((element) => elementKey(element, mergeKey))
  const kept = before.filter((element) => !gone.has(keyOf(element)))
  const merged = mergeElements(field, kept, changes, keyOf, work)
  if (order !== undefined) checkOrder(changes.map(keyOf), order.map(keyOf), patch, order)
  const byPatch = mergeOrdered(merged, changes.map(keyOf), before.map(keyOf), keyOf)
  return order === undefined ? byPatch : mergeOrdered(byPatch, order.map(keyOf), before.map(keyOf), keyOf)
}

/** Elements that have their merge key. A lone `$patch: replace` has none and needs none. */
function keyed(element: unknown, mergeKey: string): JsonObject {
  if (!isJsonObject(element)) {
    throw patchCannotBeMerged(`list element types are not identical: ${patchText(element)} is not an object`)
  }
  if (element[directives.patch] === 'replace' || element[mergeKey] !== undefined) return element
  throw patchCannotBeMerged(`map: ${patchText(element)} does not contain declared merge key: ${mergeKey}`)
}

function deletedKey(element: JsonObject, mergeKey: string): string {
  if (element[directives.patch] === 'delete') return elementKey(element, mergeKey)
  if (element[directives.patch] === 'merge')
    throw patchCannotBeMerged('merging lists cannot yet be specified in the patch')
  throw patchCannotBeMerged(`unknown patch type: ${String(element[directives.patch])} in map: ${patchText(element)}`)
}

const elementKey = (element: unknown, mergeKey: string): string =>
  JSON.stringify(isJsonObject(element) ? element[mergeKey] : element) ?? ''

/** The key of each element is made into text once, though it is asked for by every step. */
function remembered(keyOf: (element: unknown) => string): (element: unknown) => string {
  const keys = new Map<unknown, string>()
  return (element) => {
    const known = keys.get(element)
    if (known !== undefined) return known
    const key = keyOf(element)
    keys.set(element, key)
    return key
  }
}

/** Elements of the same key merged, new ones at the end. */
function mergeElements(
  field: PatchMetadata,
  before: readonly unknown[],
  changes: readonly JsonObject[],
  keyOf: (element: unknown) => string,
  work: Work,
): readonly unknown[] {
  const items = itemsOf(field.schema)
  const merged = [...before]
  const places = new Map<string, number>()
  merged.forEach((element, place) => {
    // Of elements with the same key the first is the one that merges.
    if (!places.has(keyOf(element))) places.set(keyOf(element), place)
  })
  for (const change of changes) {
    const place = places.get(keyOf(change)) ?? merged.length
    places.set(keyOf(change), place)
    const element = merged[place]
    merged[place] = applyToObject(items, isJsonObject(element) ? element : {}, change, work)
  }
  return merged
}

function mergeScalars(
  before: readonly unknown[],
  patch: readonly unknown[],
  deleted: readonly unknown[],
  order: readonly unknown[] | undefined,
): readonly unknown[] {
  checkSameType(before, patch)
  const keyOf = remembered((value) => JSON.stringify(value) ?? '')
  const gone = new Set(deleted.map(keyOf))
  const merged = new Map<string, unknown>()
  for (const value of [...before.filter((each) => !gone.has(keyOf(each))), ...patch]) merged.set(keyOf(value), value)
  if (order !== undefined) checkOrder(patch.map(keyOf), order.map(keyOf), patch, order)
  const wanted = order ?? patch
  return mergeOrdered([...merged.values()], wanted.map(keyOf), before.map(keyOf), keyOf)
}

/** Scalars of several types are no list that could be merged, for upstream. */
function checkSameType(before: readonly unknown[], patch: readonly unknown[]): void {
  const [first, ...others] = [...before, ...patch].map(jsonTypeOf)
  if (others.every((type) => type === first)) return
  throw patchCannotBeMerged(`list element types are not identical: ${patchText([before, patch])}`)
}

/** What a patch changes must be listed in the order it sets, in that order. */
function checkOrder(
  changed: readonly string[],
  wanted: readonly string[],
  patch: readonly unknown[],
  order: readonly unknown[],
): void {
  if (changed.length === 0 || wanted.length === 0) return
  let place = 0
  for (const key of wanted) if (key === changed[place]) place += 1
  if (place === changed.length) return
  throw patchCannotBeMerged(
    `The order in patch list:\n${patchText(patch)}\n doesn't match $setElementOrder list:\n${patchText(order)}\n`,
  )
}

/** The fields a `$retainKeys` lists stay, all others go; a patch may not set one that it does not list. */
function retain(original: JsonObject, members: JsonObject, retainKeys: unknown, work: Work): JsonObject {
  const malformed = badRequest('invalid patch format of retainKeys')
  if (!Array.isArray(retainKeys)) throw malformed
  const kept = new Set<unknown>(retainKeys)
  const sets = Object.keys(members).filter(
    (key) =>
      members[key] !== null &&
      !key.startsWith(directives.deleteFromPrimitiveList) &&
      !key.startsWith(directives.setElementOrder),
  )
  if (sets.some((key) => !kept.has(key))) throw malformed
  const entries = Object.entries(original)
  work.add(entries.length)
  return entries.every(([key]) => kept.has(key))
    ? original
    : Object.fromEntries(entries.filter(([key]) => kept.has(key)))
}

/** An object under change: copied when the first member differs, unless this patch has made it. */
class ObjectEdit {
  #current: JsonObject
  #copy: Record<string, unknown> | undefined
  readonly #work: Work

  constructor(original: JsonObject, work: Work) {
    this.#current = original
    this.#work = work
    if (work.made.has(original)) this.#copy = original
  }

  get current(): JsonObject {
    return this.#current
  }

  /** Sets a member, or removes it where `value` is undefined. */
  set(key: string, value: unknown): void {
    if (member(this.#current, key) === value) return
    const copy = this.#copy ?? this.#makeCopy()
    if (value === undefined) delete copy[key]
    else setMember(copy, key, value)
  }

  #makeCopy(): Record<string, unknown> {
    const copy = { ...this.#current }
    this.#work.add(Object.keys(copy).length)
    this.#work.made.add(copy)
    this.#copy = copy
    this.#current = copy
    return copy
  }
}
