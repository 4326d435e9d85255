import { isJsonObject, type JsonObject, sortKeys } from '@coracle/api'

export type SerializedFormat = 'json' | 'yaml'

/** A value as `-o json` and `-o yaml` print it: keys in order, as kubectl does, and a line feed at the end. */
export async function serialize(value: unknown, format: SerializedFormat): Promise<string> {
  const sorted = sortKeys(value)
  if (format === 'json') return `${JSON.stringify(sorted, undefined, 4)}\n`
  const { stringify } = await import('yaml')
  return stringify(sorted, { indentSeq: false, lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' })
}

/** The object without the record of who set which field, which nobody wants to read. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
