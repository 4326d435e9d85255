import { deepEqual } from '../../equality.ts'
import { isJsonObject, member } from '../../json.ts'
import { resolveSchema } from '../resolve.ts'
import type { Schema } from '../schema.ts'
import { byKey, keyOf } from '../validate.ts'

/**
 * Whether a value of a custom resource is as it was, so that rules it breaks are not held against a write: elements of map lists may stand
 * in another order (upstream's CorrelatedObject.CachedDeepEqual).
 */
export function isAsBefore(schema: Schema | undefined, value: unknown, old: unknown): boolean {
  if (schema === undefined || typeof value !== 'object' || value === null) return deepEqual(value, old)
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
  const partOf = (name: string): Schema | undefined =>
    resolved.type === 'object' ? resolved.fields[name]?.schema : resolved.type === 'map' ? resolved.values : undefined
  return names.every((name) => Object.hasOwn(old, name) && isAsBefore(partOf(name), value[name], member(old, name)))
}
