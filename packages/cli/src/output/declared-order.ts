import { type Field, isJsonObject, type Resource, resolveSchema, type Schema, sortKeys } from '@coracle/api'
import { declaredFields } from '@coracle/api/go-structs'
import { schemaOf } from '../manifests/patch-between.ts'

/**
 * An object with its fields in the order in which its kind declares them, as programs print it that hold objects of its Go type. Keys of
 * maps are sorted, and so is all that no schema tells of.
 */
export function inDeclaredOrder(resource: Resource, object: unknown): unknown {
  const schema = schemaOf(resource)
  if (schema === undefined || !isJsonObject(object)) return sortKeys(object)
  const { kind, apiVersion, ...rest } = object
  return { kind, apiVersion, ...(ordered(schema, rest) as object) }
}

const orderedField = (field: Field | undefined, value: unknown): unknown =>
  field === undefined ? sortKeys(value) : ordered(field.schema, value)

function ordered(schema: Schema, value: unknown): unknown {
  const resolved = resolveSchema(schema)
  if (resolved.type === 'list' && Array.isArray(value)) return value.map((each) => ordered(resolved.items, each))
  if (!isJsonObject(value)) return value
  if (resolved.type === 'map') {
    const keys = Object.keys(value).sort()
    return Object.fromEntries(keys.map((key) => [key, ordered(resolved.values, value[key])]))
  }
  if (resolved.type !== 'object') return sortKeys(value)
  const named = declaredFields(resolved).filter((name) => value[name] !== undefined)
  const others = Object.keys(value)
    .filter((name) => !Object.hasOwn(resolved.fields, name))
    .sort()
  return Object.fromEntries([
    ...named.map((name) => [name, orderedField(resolved.fields[name], value[name])]),
    ...others.map((name) => [name, sortKeys(value[name])]),
  ])
}
