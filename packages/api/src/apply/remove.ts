import { type JsonObject, setMember } from '../json.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import {
  elementIn,
  type FieldSet,
  fieldElement,
  inPasses,
  isEmptySet,
  isMember,
  nodeInPasses,
  noFields,
  selfElement,
} from './field-set.ts'
import { inOneGo, type Passes, PassParts } from './passes.ts'
import { compositionOf, isNamedField, listElement, memberSchema } from './typed-value.ts'

/** A value without the fields of a set. */
export const removeFields = (schema: Schema | undefined, value: unknown, fields: FieldSet): unknown =>
  inOneGo(removingFields(schema, value, fields))

/**
 * The same, in passes. An object or list of which nothing is left is null, and an atomic one of which a part is
 * to go, goes. What is not touched is shared. https://github.com/kubernetes-sigs/structured-merge-diff (typed.RemoveItems)
 */
export function* removingFields(
  schema: Schema | undefined,
  value: unknown,
  fields: FieldSet,
  parts = new PassParts(),
): Passes<unknown> {
  if (isEmptySet(fields) || typeof value !== 'object') return value
  const composition = compositionOf(schema, value)
  if (composition.type === 'atomic' || value === null) return null
  return composition.type === 'elements'
    ? yield* removingElements(composition.list, value as readonly unknown[], fields, parts)
    : yield* removingMembers(schema, value as JsonObject, fields, parts)
}

function* removingMembers(
  schema: Schema | undefined,
  value: JsonObject,
  fields: FieldSet,
  parts: PassParts,
): Passes<JsonObject | null> {
  const made: Record<string, unknown> = {}
  let same = true
  let isEmpty = true
  for (const name of Object.keys(value)) {
    if (parts.isFull()) yield
    const each = value[name]
    const node = each === undefined ? undefined : elementIn(fields, fieldElement(name))
    const after =
      node === undefined || isMember(node) || typeof each !== 'object'
        ? without(each, node)
        : yield* removingFields(memberSchema(schema, name), each, node, parts)
    same &&= after === each
    if (after === undefined) continue
    isEmpty = false
    setMember(made, name, after)
  }
  if (isEmpty) return null
  return same ? value : made
}

function* removingElements(
  list: ListSchema,
  values: readonly unknown[],
  fields: FieldSet,
  parts: PassParts,
): Passes<readonly unknown[] | null> {
  const kept: unknown[] = []
  let same = true
  for (const value of values) {
    if (parts.isFull()) yield
    const node = elementIn(fields, listElement(list, value))
    const after =
      node === undefined || isMember(node) || typeof value !== 'object'
        ? without(value, node)
        : yield* removingFields(list.items, value, node, parts)
    if (after !== undefined) kept.push(after)
    same &&= after === value
  }
  if (kept.length === 0) return null
  return same ? values : kept
}

/** What is left of what has nothing below it that goes by itself; undefined where it goes. */
const without = (value: unknown, node: FieldSet | undefined): unknown =>
  node !== undefined && isMember(node) ? undefined : value

/** The set with every named field that has something below it as a field of its own. */
export const withNamedFields = (schema: Schema | undefined, fields: FieldSet): FieldSet =>
  inOneGo(namingFields(schema, fields))

/**
 * The same, in passes: when all that was in an object is
 * removed the object goes, too. Keys of maps and elements of lists are in a set by themselves where they are owned.
 */
export function* namingFields(schema: Schema | undefined, fields: FieldSet, parts = new PassParts()): Passes<FieldSet> {
  const nodes: [string, FieldSet][] = []
  let same = true
  for (const element in fields) {
    if (parts.isFull()) yield
    const below = fields[element] ?? noFields
    const isNamed = element !== selfElement && below !== noFields && !isEmptySet(below)
    const node = isNamed ? yield* namingBelow(schema, element, below, parts) : below
    same &&= node === below
    nodes.push([element, node])
  }
  return same ? fields : yield* inPasses(nodes)
}

function* namingBelow(
  schema: Schema | undefined,
  element: string,
  below: FieldSet,
  parts: PassParts,
): Passes<FieldSet> {
  const name = element.slice(2)
  const isField = element.startsWith('f:')
  const made = yield* namingFields(isField ? memberSchema(schema, name) : itemsSchema(schema), below, parts)
  if (!isField || !isNamedField(schema, name) || isMember(made)) return made
  return (yield* nodeInPasses(true, made)) ?? noFields
}

function itemsSchema(schema: Schema | undefined): Schema | undefined {
  const resolved = schema === undefined ? undefined : resolveSchema(schema)
  return resolved?.type === 'list' ? resolved.items : undefined
}
