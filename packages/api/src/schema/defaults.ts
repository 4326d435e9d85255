/** Puts a schema's defaults into values, sharing whatever needs none. */
import { isJsonObject, type JsonObject, setMember } from '../json.ts'
import { inFieldOrder } from './field-order.ts'
import { resolveSchema } from './resolve.ts'
import type { Field, ObjectSchema, Schema } from './schema.ts'

/**
 * Fills in what is absent, and returns the value itself where nothing is. Members of `complete`, which is of the same schema, have
 * all defaults: what the value has of them is passed over.
 */
export type Defaulter = (value: unknown, complete?: JsonObject) => unknown

const defaulters = new WeakMap<object, Defaulter>()
export const unchanged: Defaulter = (value) => value

/** The function that fills in the defaults of a schema; the identity where it has none. */
export function defaulterOf(schema: Schema): Defaulter {
  const known = defaulters.get(schema)
  if (known !== undefined) return known
  const made = makeDefaulter(schema)
  defaulters.set(schema, made)
  return made
}

function makeDefaulter(schema: Schema): Defaulter {
  switch (schema.type) {
    case 'object':
      return objectDefaulter(schema)
    case 'list':
      return listDefaulter(defaulterOf(schema.items))
    case 'map':
      return mapDefaulter(defaulterOf(schema.values))
    case 'lazy':
      return (value, complete) => defaulterOf(resolveSchema(schema))(value, complete)
    default:
      return unchanged
  }
}

/** Fills in the elements of a list, each by `items`. */
export function listDefaulter(items: Defaulter): Defaulter {
  if (items === unchanged) return unchanged
  return (value) => {
    if (!Array.isArray(value)) return value
    let copy: unknown[] | undefined
    value.forEach((before: unknown, index) => {
      const after = items(before)
      if (after === before) return
      copy ??= value.slice()
      copy[index] = after
    })
    return copy ?? value
  }
}

/** Fills in the values of a map, each by `values`. */
export function mapDefaulter(values: Defaulter): Defaulter {
  if (values === unchanged) return unchanged
  return (value) => {
    if (!isJsonObject(value)) return value
    let copy: Record<string, unknown> | undefined
    for (const [key, before] of Object.entries(value)) {
      const after = values(before)
      if (after === before) continue
      copy ??= { ...value }
      setMember(copy, key, after)
    }
    return copy ?? value
  }
}

interface FieldDefaulter {
  readonly name: string
  readonly field: Field
  readonly defaulter: Defaulter
  /** An empty string is absence for a default, as a string's zero value is in Go where the field is no pointer. */
  readonly emptyIsAbsent: boolean
}

function objectDefaulter(schema: ObjectSchema): Defaulter {
  const fields: FieldDefaulter[] = []
  for (const [name, field] of Object.entries(schema.fields)) {
    const defaulter = defaulterOf(field.schema)
    if (defaulter === unchanged && field.default === undefined) continue
    fields.push({ name, field, defaulter, emptyIsAbsent: field.schema.type === 'string' && field.pointer !== true })
  }
  if (fields.length === 0) return unchanged
  return (value, complete) => (isJsonObject(value) ? defaultFields(schema, fields, value, complete) : value)
}

function defaultFields(
  schema: ObjectSchema,
  fields: readonly FieldDefaulter[],
  value: Readonly<Record<string, unknown>>,
  complete: JsonObject | undefined,
): unknown {
  let changed: Record<string, unknown> | undefined
  for (const { name, field, defaulter, emptyIsAbsent } of fields) {
    const before = value[name]
    if (complete !== undefined && before !== undefined && complete[name] === before) continue
    const absent = before === undefined || (emptyIsAbsent && before === '' && field.default !== undefined)
    const start = absent ? field.default : before
    const after = start === undefined ? undefined : defaulter(start)
    if (after === before) continue
    changed ??= { ...value }
    changed[name] = after
  }
  return changed === undefined ? value : inFieldOrder(schema, changed)
}
