import { isJsonObject, member } from '../json.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { Schema } from '../schema/schema.ts'

/**
 * The paths of all objects and lists in a value that only exist as a whole: who merges them in replaces what was there.
 * Keys of maps are not looked into, as upstream (apiserver's policy/mutating/patch).
 */
export function atomicParts(schema: Schema, value: unknown, path = ''): readonly string[] {
  const resolved = resolveSchema(schema)
  if (Array.isArray(value)) {
    if (resolved.type === 'any') return [path]
    if (resolved.type !== 'list') return []
    const isWhole = resolved.listType !== 'set' && resolved.listType !== 'map'
    const inside = value.flatMap((each, index) => atomicParts(resolved.items, each, `${path}[${index}]`))
    return isWhole ? [path, ...inside] : inside
  }
  if (!isJsonObject(value) || (resolved.type !== 'object' && resolved.type !== 'map')) return []
  const isWhole = resolved.mapType === 'atomic'
  const fields = resolved.type === 'object' ? Object.entries(resolved.fields) : []
  const inside = fields.flatMap(([name, field]) => atomicParts(field.schema, member(value, name), `${path}.${name}`))
  return isWhole ? [path, ...inside] : inside
}
