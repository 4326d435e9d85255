import { deepEqual } from '../../equality.ts'
import { isJsonObject, member } from '../../json.ts'
import { type ResolvedSchema, resolveSchema } from '../resolve.ts'
import type { Schema } from '../schema.ts'
import { byKey, keyOf } from '../validate.ts'

/**
 * Whether a value of a custom resource is as it was, so that rules it breaks are not held against a write (upstream's
 * CorrelatedObject.CachedDeepEqual). Elements of map lists may stand in another order. An object with fields that its schema does not describe is
 * never as it was, unless it is in a list of another type, which is compared as a whole.
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
  // What was let in before the schema came to want something else here.
  if (!mayBeObject(resolved)) return deepEqual(value, old)
  if (!isJsonObject(value) || !isJsonObject(old)) return false
  const names = Object.keys(value)
  if (names.length !== Object.keys(old).length) return false
  return names.every((name) => {
    const part = describedPart(resolved, name)
    return part !== undefined && Object.hasOwn(old, name) && isAsBefore(part, value[name], member(old, name))
  })
}

const mayBeObject = ({ type }: ResolvedSchema): boolean => type === 'object' || type === 'map' || type === 'any'

/** The schema of a field or value of an object; undefined where nothing describes it. */
function describedPart(schema: ResolvedSchema, name: string): Schema | undefined {
  if (schema.type === 'map') return isUndescribed(schema.values) ? undefined : schema.values
  if (schema.type !== 'object' || schema.impliedFields?.includes(name) === true) return undefined
  return Object.hasOwn(schema.fields, name) ? schema.fields[name]?.schema : undefined
}

const isUndescribed = (schema: Schema): boolean => schema.type === 'any' && schema.isUndescribed === true

const open = new WeakMap<object, boolean>()

/** Whether there may be values of a schema that are never as they were, however they were: with fields that it does not describe. */
export function mayBeUndescribed(schema: Schema): boolean {
  const known = open.get(schema)
  if (known !== undefined) return known
  // A schema that holds itself adds nothing to what it is.
  open.set(schema, false)
  const found = holdsUndescribed(resolveSchema(schema))
  open.set(schema, found)
  return found
}

function holdsUndescribed(schema: ResolvedSchema): boolean {
  switch (schema.type) {
    case 'any':
      return true
    case 'map':
      return mayBeUndescribed(schema.values)
    case 'list':
      return schema.listType === 'map' && mayBeUndescribed(schema.items)
    case 'object':
      return (
        schema.preserveUnknownFields === true ||
        (schema.impliedFields?.length ?? 0) > 0 ||
        Object.values(schema.fields).some((field) => mayBeUndescribed(field.schema))
      )
    default:
      return false
  }
}
