import { type CelType, listOf, mapOf, types } from '../cel/types.ts'
import { escapeName } from '../custom/cel-types.ts'
import type { Schema } from '../schema/schema.ts'

/**
 * The type that objects of a kind have where types of a policy's expressions are checked: with all that its schema says, metadata
 * included. What holds itself has no fields where it does. Undefined for what has no type: it cannot be asked about.
 */
export const objectTypeOf = (schema: Schema, name: string): CelType | undefined => typeOf(schema, name, [])

/** Types of parts are named by where they are, as upstream names them. Undefined for what has no type: it cannot be asked about. */
function typeOf(schema: Schema, name: string, around: readonly Schema[]): CelType | undefined {
  switch (schema.type) {
    case 'lazy':
      return typeOf(schema.resolve(), name, around)
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
      return types.dyn
    case 'quantity':
      // Upstream's schema of one names no type.
      return undefined
    case 'any':
      return schema.object ? { kind: 'object', name, fields: new Map() } : undefined
    case 'list': {
      const element = typeOf(schema.items, `${name}.@idx`, around)
      return element === undefined ? undefined : listOf(element)
    }
    case 'map': {
      const value = typeOf(schema.values, `${name}.@elem`, around)
      return value === undefined ? undefined : mapOf(types.string, value)
    }
    case 'object': {
      if (around.includes(schema)) return { kind: 'object', name, fields: new Map() }
      const within = [...around, schema]
      const fields = Object.entries(schema.fields).flatMap(([field, { schema: of }]) => {
        const escaped = escapeName(field)
        const type = escaped === undefined ? undefined : typeOf(of, `${name}.${field}`, within)
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
