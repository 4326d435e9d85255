import { deepEqual } from '../../equality.ts'
import { isJsonObject, member } from '../../json.ts'
import { type ResolvedSchema, resolveSchema } from '../resolve.ts'
import type { Schema } from '../schema.ts'
import { byKey, keyOf } from '../validate.ts'

/**
 * Whether a value of a custom resource is as it was, so that rules it breaks are not held against a write (upstream's
 * CorrelatedObject.CachedDeepEqual). Elements of map lists may stand in another order. An object with fields that its schema does not describe is
 * never as it was, unless it is in a list of another type, which is compared as a whole; nor is one in the place of what the schema came to
 * want later, such as a list.
 */
export function isAsBefore(schema: Schema, value: unknown, old: unknown): boolean {
  if (typeof value !== 'object' || value === null) return deepEqual(value, old)
  const resolved = resolveSchema(schema)
  if (Array.isArray(value)) {
    if (resolved.type !== 'list' || resolved.listType !== 'map') return deepEqual(value, old)
    if (!Array.isArray(old) || old.length !== value.length) return false
    const keys = resolved.mapKeys ?? []
    const before = byKey(old, keys)
    return value.every((element) => isAsBefore(resolved.items, element, before.get(keyOf(element, keys))))
  }
  if (!isJsonObject(value) || !isJsonObject(old)) return false
  const names = Object.keys(value)
  if (names.length !== Object.keys(old).length) return false
  return names.every((name) => {
    const part = describedPart(resolved, name)
    return part !== undefined && Object.hasOwn(old, name) && isAsBefore(part, value[name], member(old, name))
  })
}

/** The schema of a field or value of an object; undefined where nothing describes it. */
function describedPart(schema: ResolvedSchema, name: string): Schema | undefined {
  if (schema.type === 'map') return isUndescribed(schema.values) ? undefined : schema.values
  if (schema.type !== 'object' || schema.impliedFields?.includes(name) === true) return undefined
  return Object.hasOwn(schema.fields, name) ? schema.fields[name]?.schema : undefined
}

const isUndescribed = (schema: Schema): boolean => schema.type === 'any' && schema.isUndescribed === true

/** Parts of stored objects that have been found to be as they were where nothing changes, by their schemas. */
const settled = new WeakMap<object, Schema>()

/** The same for a part that a write leaves as it is. It is looked through once for as long as it is stored, and may not change. */
export function staysAsItWas(schema: Schema, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (settled.get(value) === schema) return true
  const stays = isAsBefore(schema, value, value)
  if (stays) settled.set(value, schema)
  return stays
}
