import { isJsonObject, type JsonObject, member, setMember } from '../json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { compositionOf, isEmptyContainer, listElement, memberSchema } from './typed-value.ts'

/**
 * What an apply makes of an object, with each object that was applied as `{}` there, and empty: all that its manager had applied in it
 * is pruned, which leaves null. Null stays where it was applied. Upstream did so in 1.36.0
 * (https://github.com/kubernetes-sigs/structured-merge-diff/pull/306) and went back, since it made an object of such a null, too;
 * before and since, a custom resource that may not be null there is refused
 * (https://github.com/kubernetes/kubernetes/issues/135841).
 */
export function withAppliedEmpty(schema: Schema | undefined, value: unknown, configuration: unknown): unknown {
  if (configuration === null || typeof configuration !== 'object') return value
  if (isJsonObject(configuration) && isEmptyContainer(configuration)) {
    return value === null || value === undefined ? configuration : value
  }
  // Pruned as a whole: nothing in it is left that could have been applied empty.
  if (value === null || value === undefined) return value
  const composition = compositionOf(schema, value)
  if (composition.type === 'elements') {
    return elementsWith(composition.list, value as readonly unknown[], configuration as readonly unknown[])
  }
  if (composition.type === 'atomic' || !isJsonObject(value) || !isJsonObject(configuration)) return value
  return membersWith(schema, value, configuration)
}

function membersWith(schema: Schema | undefined, value: JsonObject, configuration: JsonObject): JsonObject {
  let changed: Record<string, unknown> | undefined
  for (const name of Object.keys(configuration)) {
    const before = member(value, name)
    const after = withAppliedEmpty(memberSchema(schema, name), before, member(configuration, name))
    if (after === before) continue
    changed ??= { ...value }
    setMember(changed, name, after)
  }
  return changed ?? value
}

function elementsWith(
  list: ListSchema,
  values: readonly unknown[],
  configuration: readonly unknown[],
): readonly unknown[] {
  if (list.listType !== 'map') return values
  const applied = new Map(configuration.map((each) => [listElement(list, each), each]))
  const made = values.map((each) => withAppliedEmpty(list.items, each, applied.get(listElement(list, each))))
  return made.some((each, index) => each !== values[index]) ? made : values
}
