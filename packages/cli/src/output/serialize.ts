import { isJsonObject, type JsonObject, sortKeys } from '@coracle/api'
import { safeInHtml } from './go-json.ts'
import { kyaml } from './kyaml.ts'

export type SerializedFormat = 'json' | 'kyaml' | 'yaml'

/**
 * A value as `-o json` and `-o yaml` print it: keys in order and texts quoted as kubectl does, and a line feed at the end. What stands in
 * an order of its own (`isOrdered`) keeps that where the format can.
 */
export async function serialize(value: unknown, format: SerializedFormat, isOrdered = false): Promise<string> {
  const sorted = isOrdered || format === 'yaml' ? value : sortKeys(value)
  if (format === 'json') return `${safeInHtml(JSON.stringify(sorted, undefined, 4))}\n`
  if (format === 'kyaml') return kyaml(sorted)
  return (await import('@coracle/client/go-yaml')).goYamlText(value)
}

/** The object, or list of objects, without the record of who set which field, which nobody wants to read. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  if (Array.isArray(object.items)) {
    const items = object.items.map((item) => (isJsonObject(item) ? withoutManagedFields(item) : item))
    return { ...withoutManagedFields({ ...object, items: undefined }), items }
  }
  if (!isJsonObject(object.metadata) || object.metadata.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
