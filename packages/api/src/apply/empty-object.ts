import { isWrittenZero, zeroOf } from '../schema/go/go-types.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ObjectSchema, Schema } from '../schema/schema.ts'

const nothing = Object.freeze({})
const known = new WeakMap<object, object>()

/**
 * The object that a new one is compared with: of built-in kinds Go's empty struct, which has the structs that it holds by
 * value and, empty or zero, the lists and scalars that are always written. Whoever creates an object owns what is in them, not them. An object
 * of a schema that says nothing of the kind is empty.
 */
export function emptyObjectOf(schema: Schema): unknown {
  const resolved = resolveSchema(schema)
  if (resolved.type !== 'object' || resolved.dialect === 'structural') return nothing
  const before = known.get(resolved)
  if (before !== undefined) return before
  const made = Object.freeze(emptyStruct(resolved))
  known.set(resolved, made)
  emptyStructs.add(made)
  return made
}

const emptyStructs = new WeakSet<object>()

/** Whether a value is one of those that new objects are compared with, or in one. */
export const isEmptyStruct = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && emptyStructs.has(value)

function emptyStruct({ fields }: ObjectSchema): Record<string, unknown> {
  const empty: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const { schema, required, byValue } = field
    if (byValue === true && resolveSchema(schema).type === 'object') empty[name] = emptyObjectOf(schema)
    else if (required && resolveSchema(schema).type === 'list') empty[name] = []
    else if (isWrittenZero(field)) empty[name] = zeroOf(schema)
  }
  return empty
}
