import { type CelType, listOf, mapOf, types } from '../cel/types.ts'
import { escapeName } from '../custom/cel-types.ts'
import type { Schema } from '../schema/schema.ts'

/**
 * The type that objects of a kind have where types of a policy's expressions are checked: with all that its schema says, metadata
 * included. Undefined for kinds that hold themselves, which nobody can write down as a type.
 */
export function objectTypeOf(schema: Schema, name: string): CelType | undefined {
  try {
    return typeOf(schema, name)
  } catch (error) {
    if (error instanceof RecursiveSchemaError) return undefined
    throw error
  }
}

/** More levels than any schema has that ends. */
const depthMax = 64

class RecursiveSchemaError extends Error {}

/** Types of parts are named by where they are, as upstream names them. Undefined for what has no type: it cannot be asked about. */
function typeOf(schema: Schema, name: string, depth = 0): CelType | undefined {
  if (depth > depthMax) throw new RecursiveSchemaError()
  switch (schema.type) {
    case 'lazy':
      return typeOf(schema.resolve(), name, depth + 1)
    case 'boolean':
      return types.bool
    case 'integer':
      return types.int
    case 'number':
      return types.double
    case 'string':
      return textTypes[schema.checks?.format ?? ''] ?? types.string
    case 'time':
      return types.timestamp
    case 'bytes':
      return types.bytes
    case 'int-or-string':
    case 'quantity':
      return types.dyn
    case 'any':
      return schema.object ? { kind: 'object', name, fields: new Map() } : undefined
    case 'list': {
      const element = typeOf(schema.items, `${name}.@idx`, depth + 1)
      return element === undefined ? undefined : listOf(element)
    }
    case 'map': {
      const value = typeOf(schema.values, `${name}.@elem`, depth + 1)
      return value === undefined ? undefined : mapOf(types.string, value)
    }
    case 'object': {
      const fields = Object.entries(schema.fields).flatMap(([field, { schema: of }]) => {
        const escaped = escapeName(field)
        const type = escaped === undefined ? undefined : typeOf(of, `${name}.${field}`, depth + 1)
        return escaped === undefined || type === undefined ? [] : [[escaped, type] as const]
      })
      return { kind: 'object', name, fields: new Map(fields) }
    }
  }
}

const textTypes: Readonly<Record<string, CelType>> = {
  byte: types.bytes,
  duration: types.duration,
  date: types.timestamp,
  'date-time': types.timestamp,
}
