import { isJsonObject, type JsonObject } from '@coracle/api'

export type SerializedFormat = 'json' | 'yaml'

/** A value as `-o json` and `-o yaml` print it: keys in order, as kubectl does, and a line feed at the end. */
export async function serialize(value: unknown, format: SerializedFormat): Promise<string> {
  const sorted = sortKeys(value)
  if (format === 'json') return `${JSON.stringify(sorted, undefined, 4)}\n`
  const { stringify } = await import('yaml')
  return stringify(sorted, { indentSeq: false, lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' })
}

/** The same value, keys of objects sorted. */
export function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  )
}

/** The object without the record of who set which field, which nobody wants to read. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
