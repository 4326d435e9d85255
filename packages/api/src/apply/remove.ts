import { type JsonObject, withChanges } from '../json.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { elementIn, type FieldSet, isEmptySet, isMember, noFields, selfElement } from './field-set.ts'
import { compositionOf, isEmptyContainer, isNamedField, listElement, memberSchema, membersOf } from './typed-value.ts'

/**
 * A value without the fields of a set. An object or list of which nothing is left is null, and an atomic one of which a part is
 * to go, goes. What is not touched is shared. https://github.com/kubernetes-sigs/structured-merge-diff (typed.RemoveItems)
 */
export function removeFields(schema: Schema | undefined, value: unknown, fields: FieldSet): unknown {
  if (isEmptySet(fields) || typeof value !== 'object') return value
  const composition = compositionOf(schema, value)
  if (composition.type === 'atomic' || isEmptyContainer(value)) return null
  return composition.type === 'elements'
    ? removeElements(composition.list, value as readonly unknown[], fields)
    : removeMembers(schema, value as JsonObject, fields)
}

function removeMembers(schema: Schema | undefined, value: JsonObject, fields: FieldSet): JsonObject | null {
  const changes = new Map<string, unknown>()
  let left = 0
  for (const [element, name, each] of membersOf(value)) {
    const after = without(memberSchema(schema, name), each, elementIn(fields, element))
    if (after !== undefined) left += 1
    if (after !== each) changes.set(name, after)
  }
  if (changes.size === 0) return value
  return left === 0 ? null : withChanges(value, changes)
}

function removeElements(list: ListSchema, values: readonly unknown[], fields: FieldSet): readonly unknown[] | null {
  const kept: unknown[] = []
  let same = true
  for (const value of values) {
    const after = without(list.items, value, elementIn(fields, listElement(list, value)))
    if (after !== undefined) kept.push(after)
    same &&= after === value
  }
  if (same) return values
  return kept.length === 0 ? null : kept
}

/** What is left of a member or element; undefined where it goes itself. */
function without(schema: Schema | undefined, value: unknown, node: FieldSet | undefined): unknown {
  if (node === undefined) return value
  return isMember(node) ? undefined : removeFields(schema, value, node)
}

/**
 * The set with every named field that has something below it as a field of its own: when all that was in an object is
 * removed the object goes, too. Keys of maps and elements of lists are in a set by themselves where they are owned.
 */
export function withNamedFields(schema: Schema | undefined, fields: FieldSet): FieldSet {
  const changes = new Map<string, FieldSet>()
  for (const element in fields) {
    const below = fields[element] ?? noFields
    if (element === selfElement || isEmptySet(below)) continue
    const name = element.slice(2)
    const isField = element.startsWith('f:')
    const made = withNamedFields(isField ? memberSchema(schema, name) : itemsSchema(schema), below)
    const marked = isField && isNamedField(schema, name) ? { [selfElement]: noFields, ...made } : made
    if (marked !== below) changes.set(element, marked)
  }
  return changes.size === 0 ? fields : { ...fields, ...Object.fromEntries(changes) }
}

function itemsSchema(schema: Schema | undefined): Schema | undefined {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  return resolved?.type === 'list' ? resolved.items : undefined
}
