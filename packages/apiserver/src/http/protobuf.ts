import { type Field, type ObjectSchema, resolveSchema, type Schema } from '@coracle/api'
import { type ProtobufField, protobufFieldsOf } from './protobuf-messages.ts'

/** What readers (`protobuf-decode.ts`) and writers (`protobuf-encode.ts`) of upstream's protobuf have in common. */

/** What every message begins with: upstream's mark for its envelope. */
export const protobufMark = Buffer.from('k8s\0')

const covered = new WeakMap<ObjectSchema, boolean>()

/** Whether the messages of this schema, and of all that it holds, are known. */
export function hasProtobufFields(schema: ObjectSchema): boolean {
  let known = covered.get(schema)
  if (known === undefined) {
    known = isCovered(schema, new Set())
    covered.set(schema, known)
  }
  return known
}

function isCovered(schema: Schema, seen: Set<Schema>): boolean {
  const resolved = resolveSchema(schema)
  if (seen.has(resolved)) return true
  seen.add(resolved)
  if (resolved.type === 'list') return isElement(resolved.items) && isCovered(resolved.items, seen)
  if (resolved.type === 'map') return isMapValue(resolved.values) && isCovered(resolved.values, seen)
  if (resolved.type !== 'object') return true
  const fields = protobufFieldsOf(resolved.name)
  return fields !== undefined && namesIn(fields).every((name) => isCoveredField(resolved.fields[name], seen))
}

const isCoveredField = (field: Field | undefined, seen: Set<Schema>): boolean =>
  field === undefined || isCovered(field.schema, seen)

/** Lists of lists and the like need messages of their own. */
const isElement = (schema: Schema): boolean => !['list', 'map'].includes(resolveSchema(schema).type)

/** A list that is the value of a map has a message of its own, in which it is field 1. */
const isMapValue = (schema: Schema): boolean => resolveSchema(schema).type !== 'map'

const namesIn = (fields: readonly ProtobufField[]): readonly string[] =>
  fields.flatMap((field) => ('name' in field ? [field.name] : namesIn(field.embedded)))

/** The name of what may be a schema or something simpler. */
export const schemaOr = (name: string) =>
  `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps${name}`
