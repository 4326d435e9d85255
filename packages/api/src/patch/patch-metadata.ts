import { resolveSchema } from '../schema/resolve.ts'
import type { PatchStrategy, Schema } from '../schema/schema.ts'

/** How strategic merge patches treat a value. */
export interface PatchMetadata {
  /** Undefined where the schema says nothing of the value: objects merge, lists are replaced. */
  readonly schema: Schema | undefined
  /** Lists with `merge` are merged element by element, objects with `replace` are replaced. */
  readonly strategy: 'merge' | 'replace' | ''
  /** A patch that changes an object's fields lists those that stay (`$retainKeys`). */
  readonly retainKeys: boolean
  /** The field that identifies an element of a merged list. Undefined for lists of scalars. */
  readonly mergeKey: string | undefined
}

const unknown: PatchMetadata = { schema: undefined, strategy: '', retainKeys: false, mergeKey: undefined }

/** How the member `key` of an object of `schema` is patched. */
export function patchMetadata(schema: Schema | undefined, key: string): PatchMetadata {
  if (schema === undefined) return unknown
  const owner = resolveSchema(schema)
  if (owner.type === 'map') return { ...unknown, schema: owner.values }
  if (owner.type !== 'object' || !Object.hasOwn(owner.fields, key)) return unknown
  const field = owner.fields[key]
  if (field === undefined) return unknown
  const value = resolveSchema(field.schema)
  const own = value.type === 'list' ? value.patchStrategy : undefined
  const strategy: PatchStrategy | undefined = field.patchStrategy ?? own
  return {
    schema: value,
    strategy:
      strategy === 'merge' || strategy === 'merge,retainKeys' ? 'merge' : strategy === 'replace' ? 'replace' : '',
    retainKeys: strategy === 'retainKeys' || strategy === 'merge,retainKeys',
    mergeKey: value.type === 'list' ? value.patchMergeKey : undefined,
  }
}

/** The schema of a list's elements. */
export function itemsOf(schema: Schema | undefined): Schema | undefined {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  return resolved?.type === 'list' ? resolved.items : undefined
}

/** Names in patches that say what to do instead of naming a field. */
export const directives = {
  patch: '$patch',
  retainKeys: '$retainKeys',
  deleteFromPrimitiveList: '$deleteFromPrimitiveList/',
  setElementOrder: '$setElementOrder/',
} as const
