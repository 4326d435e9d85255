import { deepEqual } from '../equality.ts'
import { isJsonObject, type JsonObject, member } from '../json.ts'
import type { Schema } from '../schema/schema.ts'
import { itemsOf, type PatchMetadata, patchMetadata } from './patch-metadata.ts'

/**
 * The fields that two strategic merge patches of one object both change, each in another way: `spec.replicas`. Elements of
 * merged lists are told apart by their merge key: `spec.containers[web].image`.
 */
export function patchConflicts(schema: Schema, left: JsonObject, right: JsonObject): readonly string[] {
  return conflictsOf({ schema, strategy: '', retainKeys: false, mergeKey: undefined }, '', left, right)
}

function conflictsOf(field: PatchMetadata, path: string, left: unknown, right: unknown): readonly string[] {
  if (deepEqual(left, right)) return []
  if (isJsonObject(left) && isJsonObject(right)) {
    // Directives say how a field is patched: the field itself is compared.
    const shared = Object.keys(left).filter((key) => !key.startsWith('$') && member(right, key) !== undefined)
    return shared.flatMap((key) => {
      const below = path === '' ? key : `${path}.${key}`
      return conflictsOf(patchMetadata(field.schema, key), below, left[key], right[key])
    })
  }
  if (!Array.isArray(left) || !Array.isArray(right) || field.strategy !== 'merge') return [path]
  const { mergeKey } = field
  // Scalars are added to each other.
  if (mergeKey === undefined) return []
  const items: PatchMetadata = { ...field, schema: itemsOf(field.schema), strategy: '' }
  return left.flatMap((element) => {
    const name = isJsonObject(element) ? element[mergeKey] : undefined
    const other = right.find((each) => isJsonObject(each) && each[mergeKey] === name)
    return other === undefined ? [] : conflictsOf(items, `${path}[${name}]`, element, other)
  })
}
