import { isJsonObject } from '../json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { type FieldSet, FieldSetBuilder, type FieldSetNode, nodeBelow } from './field-set.ts'
import { inOneGo, type Passes, PassParts } from './passes.ts'
import { compositionOf, isEmptyContainer, isNamedField, listElement, memberSchema, membersOf } from './typed-value.ts'

/**
 * The fields a value has: what somebody who sets it owns. Scalars, atomic lists and maps, empty objects and nulls are fields;
 * so are the elements of lists and the keys of maps, beside what is in them; objects with named fields are not, nor are
 * empty lists.
 */
export function fieldSetOf(schema: Schema | undefined, value: unknown): FieldSet {
  return inOneGo(fieldSetBuilding(schema, value))
}

/** The same, in passes. */
export function* fieldSetBuilding(schema: Schema | undefined, value: unknown): Passes<FieldSet> {
  const builder = new FieldSetBuilder()
  yield* addingFields(schema, value, builder.root, new PassParts())
  return yield* builder.building()
}

/** `addFields`, in passes. The elements of one list are added at once. */
function* addingFields(schema: Schema | undefined, value: unknown, node: FieldSetNode, parts: PassParts): Passes<void> {
  if (!isJsonObject(value) || compositionOf(schema, value).type !== 'fields') return addFields(schema, value, node)
  for (const [element, name, each] of membersOf(value)) {
    if (parts.isFull()) yield
    const below = nodeBelow(node, element)
    const own = memberSchema(schema, name)
    if (isJsonObject(each)) yield* addingFields(own, each, below, parts)
    else addFields(own, each, below)
    if (isEmptyObject(each) || !isNamedField(schema, name)) below.member = true
  }
}

/** Puts what a value has below `node`, and `node` itself where the value is one field. */
export function addFields(schema: Schema | undefined, value: unknown, node: FieldSetNode): void {
  const composition = compositionOf(schema, value)
  if (composition.type === 'atomic') node.member = true
  else if (composition.type === 'fields') addMembers(schema, value, node)
  else addElements(composition.list, (value ?? []) as readonly unknown[], node)
}

function addMembers(schema: Schema | undefined, value: unknown, node: FieldSetNode): void {
  if (!isJsonObject(value)) return
  for (const [element, name, each] of membersOf(value)) {
    const below = nodeBelow(node, element)
    addFields(memberSchema(schema, name), each, below)
    if (isEmptyObject(each) || !isNamedField(schema, name)) below.member = true
  }
}

const isEmptyObject = (value: unknown): boolean => !Array.isArray(value) && isEmptyContainer(value)

/** Elements that are there twice are owned as one, without what is in them. */
function addElements(list: ListSchema, values: readonly unknown[], node: FieldSetNode): void {
  const counts = new Map<string, number>()
  const elements = values.map((value) => listElement(list, value))
  for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1)
  values.forEach((value, index) => {
    const element = elements[index] ?? ''
    const below = nodeBelow(node, element)
    below.member = true
    if (counts.get(element) === 1) addFields(list.items, value, below)
  })
}
