import { isJsonObject } from '../json.ts'
import type { KubernetesObject } from '../meta.ts'
import { compile } from '../schema/compile.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ObjectSchema, Schema } from '../schema/schema.ts'

/**
 * An object without what of its metadata, and of that of objects in it, has the wrong type: it may have been stored before its schema said
 * that there is an object, or by another program. As upstream, each field goes alone, and the others stay.
 */
export function withoutMalformedMetadata(schema: ObjectSchema, object: KubernetesObject): KubernetesObject {
  return mended({ ...schema, embeddedResource: true }, object) as KubernetesObject
}

function mended(schema: Schema, value: unknown): unknown {
  if (schema.type === 'list' && Array.isArray(value)) return value.map((each) => mended(schema.items, each))
  if (!isJsonObject(value)) return value
  if (schema.type === 'map') return mappedMembers(value, (_, each) => mended(schema.values, each))
  if (schema.type !== 'object') return value
  return mappedMembers(value, (name, each) => {
    const isOfResource = schema.embeddedResource === true
    if (isOfResource && (name === 'apiVersion' || name === 'kind')) return typeof each === 'string' ? each : undefined
    const field = Object.hasOwn(schema.fields, name) ? schema.fields[name]?.schema : undefined
    if (field === undefined) return each
    return isOfResource && name === 'metadata' ? decodable(field, each) : mended(field, each)
  })
}

/** The fields of metadata that can be decoded; undefined where it has no fields. */
function decodable(schema: Schema, metadata: unknown): unknown {
  if (!isJsonObject(metadata)) return undefined
  return mappedMembers(metadata, (name, each) => (canBeDecoded(schema, { [name]: each }) ? each : undefined))
}

function canBeDecoded(schema: Schema, value: object): boolean {
  try {
    compile(resolveSchema(schema)).decode(value)
    return true
  } catch {
    return false
  }
}

/** An object with what `map` makes of its members, and without those that it makes undefined. */
function mappedMembers(
  object: Readonly<Record<string, unknown>>,
  map: (name: string, value: unknown) => unknown,
): Readonly<Record<string, unknown>> {
  const members = Object.entries(object).map(([name, value]) => [name, map(name, value)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
