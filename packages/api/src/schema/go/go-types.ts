/** What stands for a schema in Go: the types of upstream's structs and their zero values. */
import { resolveSchema, shortName, versionOf } from '../resolve.ts'
import type { Field, Schema } from '../schema.ts'

/** What Go makes of a null where it cannot be absence: in a list or map. */
export function zeroOf(schema: Schema): unknown {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'integer':
    case 'number':
    case 'int-or-string':
      return 0
    case 'boolean':
      return false
    case 'quantity':
      return '0'
    case 'list':
      return []
    case 'map':
    case 'object':
      return {}
    case 'any':
      return resolved.object ? {} : null
    default:
      return ''
  }
}

const scalars: ReadonlySet<string> = new Set(['string', 'boolean', 'integer', 'number', 'bytes'])

/** Whether a field holds a scalar that is no pointer in Go. */
const isPlainScalar = ({ schema, pointer }: Field): boolean =>
  pointer !== true && scalars.has(resolveSchema(schema).type)

/** Whether a field holds a scalar that is written even where it is zero: in Go it is no pointer and has no omitempty. */
export const isWrittenZero = (field: Field): boolean =>
  isPlainScalar(field) && (field.required || field.default === zeroOf(field.schema))

/** The value of a field that is absence, as Go's omitempty has it; undefined where there is none. */
export const omittedZero = (field: Field): unknown =>
  isPlainScalar(field) && !isWrittenZero(field) ? zeroOf(field.schema) : undefined

/** The type upstream's structs have for a schema, as messages show it. */
export function goType(schema: Schema): string {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'integer':
      return resolved.format
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'int-or-string':
      return 'intstr.IntOrString'
    case 'quantity':
      return 'resource.Quantity'
    case 'time':
      return resolved.micro ? 'v1.MicroTime' : 'v1.Time'
    case 'bytes':
      return '[]uint8'
    case 'any':
      return resolved.name === undefined
        ? 'map[string]interface {}'
        : `${versionOf(resolved.name)}.${shortName(resolved.name)}`
    case 'list':
      return `[]${goType(resolved.items)}`
    case 'map':
      return `map[string]${goType(resolved.values)}`
    case 'object':
      return resolved.name === '' ? 'struct' : `${versionOf(resolved.name)}.${shortName(resolved.name)}`
    case 'string':
      return 'string'
  }
}
