import { mapList } from '../../../schema/builders.ts'
import type { Infer, ListSchema, PatchStrategy, Schema } from '../../../schema/schema.ts'

/**
 * A list with keys whose duplicates validation judges itself. Upstream's pod validation predates list types: it lets two
 * environment variables share a name (the last one wins), and words other duplicates in its own way.
 */
export function keyedList<S extends Schema>(
  items: S,
  keys: readonly [string, ...string[]],
  options: { readonly patchStrategy?: PatchStrategy | undefined } = {},
): ListSchema<Infer<S>> {
  return mapList(items, keys, { duplicates: 'allowed', ...options })
}
