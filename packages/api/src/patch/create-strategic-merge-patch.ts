/** Makes strategic merge patches out of differences, as `kubectl apply` and `kubectl edit` do. */
import { compareText } from '../compare-text.ts'
import { deepEqual } from '../equality.ts'
import { shortText } from '../field-error.ts'
import { isJsonObject, type JsonObject, member, setMember } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { checkNesting, patchDoesNotApply } from './patch-error.ts'
import { directives, itemsOf, type PatchMetadata, patchMetadata } from './patch-metadata.ts'

/** The patch that turns `original` into `modified`; `{}` where they are equal. */
export function createTwoWayPatch(schema: Schema, original: JsonObject, modified: JsonObject): JsonObject {
  return createThreeWayPatch(schema, original, modified, original)
}

/**
 * The patch that brings `current` to what `modified` says, and takes away what `original` (the configuration last
 * applied) said and `modified` no longer does. What others have set in `current` stays. Throws an Invalid where an
 * element of a merged list lacks its merge key.
 */
export function createThreeWayPatch(
  schema: Schema,
  original: JsonObject,
  modified: JsonObject,
  current: JsonObject,
): JsonObject {
  for (const each of [original, modified, current]) checkNesting(each)
  return diffObjects({ schema, strategy: '', retainKeys: false, mergeKey: undefined }, original, modified, current)
}

function diffObjects(
  owner: PatchMetadata,
  original: JsonObject,
  modified: JsonObject,
  current: JsonObject,
): JsonObject {
  const patch: Record<string, unknown> = {}
  for (const key of Object.keys(original)) {
    if (present(original, key) && member(modified, key) === undefined) setMember(patch, key, null)
  }
  for (const key of Object.keys(modified)) {
    const field = patchMetadata(owner.schema, key)
    diffMember(patch, key, field, member(original, key), member(modified, key), member(current, key))
  }
  // Which fields stay is said only where something changes: others may have set fields that nobody here knows of.
  const surplus = Object.keys(current).some((key) => present(current, key) && !present(modified, key))
  const retained = Object.keys(modified).filter((key) => present(modified, key))
  if (owner.retainKeys && retained.length > 0 && (surplus || Object.keys(patch).length > 0)) {
    patch[directives.retainKeys] = retained.sort(compareText)
  }
  return patch
}

const present = (object: JsonObject, key: string): boolean =>
  member(object, key) !== undefined && member(object, key) !== null

function diffMember(
  patch: Record<string, unknown>,
  key: string,
  field: PatchMetadata,
  original: unknown,
  modified: unknown,
  current: unknown,
): void {
  if (modified === undefined) return
  if (isJsonObject(modified) && isJsonObject(current) && field.strategy !== 'replace') {
    const changes = diffObjects(field, isJsonObject(original) ? original : {}, modified, current)
    if (Object.keys(changes).length > 0) setMember(patch, key, changes)
    return
  }
  if (Array.isArray(modified) && Array.isArray(current) && field.strategy === 'merge') {
    diffLists(patch, key, field, Array.isArray(original) ? original : [], modified, current)
    return
  }
  if (!deepEqual(modified, current)) setMember(patch, key, modified)
}

function diffLists(
  patch: Record<string, unknown>,
  key: string,
  field: PatchMetadata,
  original: readonly unknown[],
  modified: readonly unknown[],
  current: readonly unknown[],
): void {
  const { mergeKey } = field
  const keyOf = (element: unknown): string => elementKey(element, mergeKey)
  const modifiedKeys = modified.map(keyOf)
  const wanted = new Set(modifiedKeys)
  const gone = original.filter((element) => !wanted.has(keyOf(element)))
  const changes = diffElements(field, original, modified, current, keyOf)
  const deletions = mergeKey === undefined ? [] : gone.map((element) => deletion(element, mergeKey))
  if (changes.length + deletions.length > 0) setMember(patch, key, [...changes, ...deletions])
  if (mergeKey === undefined && gone.length > 0) patch[`${directives.deleteFromPrimitiveList}${key}`] = gone
  const shared = current.map(keyOf).filter((each) => wanted.has(each))
  const reordered = shared.length !== modified.length || shared.some((each, place) => each !== modifiedKeys[place])
  if (modified.length > 0 && (changes.length + gone.length > 0 || reordered)) {
    patch[`${directives.setElementOrder}${key}`] =
      mergeKey === undefined ? modified : modified.map((each) => onlyKey(each, mergeKey))
  }
}

function diffElements(
  field: PatchMetadata,
  original: readonly unknown[],
  modified: readonly unknown[],
  current: readonly unknown[],
  keyOf: (element: unknown) => string,
): readonly unknown[] {
  const currentByKey = new Map(current.map((element) => [keyOf(element), element]))
  if (field.mergeKey === undefined) return modified.filter((element) => !currentByKey.has(keyOf(element)))
  const mergeKey = field.mergeKey
  const originalByKey = new Map(original.map((element) => [keyOf(element), element]))
  const element: PatchMetadata = { ...field, schema: itemsOf(field.schema), mergeKey: undefined }
  return modified.flatMap((after) => {
    const before = currentByKey.get(keyOf(after))
    if (!isJsonObject(before) || !isJsonObject(after)) return [after]
    const applied = originalByKey.get(keyOf(after))
    const changes = diffObjects(element, isJsonObject(applied) ? applied : {}, after, before)
    return Object.keys(changes).length === 0 ? [] : [{ [mergeKey]: after[mergeKey], ...changes }]
  })
}

const deletion = (element: unknown, mergeKey: string): JsonObject => ({
  [directives.patch]: 'delete',
  ...onlyKey(element, mergeKey),
})

const onlyKey = (element: unknown, mergeKey: string): JsonObject => ({
  [mergeKey]: isJsonObject(element) ? element[mergeKey] : undefined,
})

function elementKey(element: unknown, mergeKey: string | undefined): string {
  if (mergeKey === undefined) return JSON.stringify(element) ?? ''
  if (isJsonObject(element) && element[mergeKey] !== undefined) return JSON.stringify(element[mergeKey]) ?? ''
  throw patchDoesNotApply(`map: ${shortText(element)} does not contain declared merge key: ${mergeKey}`)
}
