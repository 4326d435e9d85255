/** Changes of values that share whatever does not change with what was there before. */
import { inFieldOrder } from './field-order.ts'
import type { ObjectSchema } from './schema.ts'

/**
 * A copy with `fields` set, in the order of the schema; the object itself where nothing changes. Undefined leaves a field
 * as it is.
 */
export function withFields<T extends object>(
  schema: ObjectSchema<T>,
  object: T,
  fields: { readonly [K in keyof T]?: T[K] | undefined },
): T {
  const names = Object.keys(fields) as (keyof T)[]
  const changed = names.filter((name) => fields[name] !== undefined && fields[name] !== object[name])
  if (changed.length === 0) return object
  const copy: T = { ...object }
  for (const name of changed) copy[name] = fields[name] as T[keyof T]
  return changed.some((name) => object[name] === undefined) ? inFieldOrder(schema, copy) : copy
}

/** Array.map that returns the array itself where no element changes. */
export function mapShared<T>(list: readonly T[] | undefined, change: (element: T) => T): readonly T[] | undefined {
  if (list === undefined) return undefined
  const mapped = list.map(change)
  return mapped.some((element, index) => element !== list[index]) ? mapped : list
}
