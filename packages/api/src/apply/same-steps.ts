import { deepEqual } from '../equality.ts'
import { isJsonObject, type JsonObject, member } from '../json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { compositionOf, isEmptyContainer, memberSchema } from './typed-value.ts'

/** Two states of a value. */
export interface Change {
  readonly before: unknown
  readonly after: unknown
}

/**
 * Whether two changes of values of a schema are known to have the same steps (`differenceSteps`). No steps are made for it: objects of
 * one template have the same members, and that is seen sooner. False also where members go or elements change: only the steps tell.
 */
export const haveSameSteps = (schema: Schema, { before, after }: Change, other: Change): boolean =>
  areAlike(schema, undefined, before, after, other.before, other.after)

/** The values have the schema, or are members of this name in what has it. */
function areAlike(
  above: Schema | undefined,
  name: string | undefined,
  before: unknown,
  after: unknown,
  otherBefore: unknown,
  otherAfter: unknown,
): boolean {
  if (before === otherBefore && after === otherAfter) return true
  const isSame = before === after
  if (isSame || otherBefore === otherAfter) return isSame && otherBefore === otherAfter
  if (!haveSameType(after, otherAfter) || !haveSameType(before, otherBefore)) return false
  if (typeof after !== 'object') return typeof before !== 'object' && after !== undefined
  if (before !== undefined && !haveSameType(before, after)) return false
  const schema = name === undefined ? above : memberSchema(above, name)
  const composition = compositionOf(schema, after)
  if (composition.type === 'fields') {
    return areMembersAlike(
      schema,
      (before ?? nothing) as JsonObject,
      after as JsonObject,
      (otherBefore ?? nothing) as JsonObject,
      otherAfter as JsonObject,
    )
  }
  if (composition.type === 'elements') {
    const areNew = isEmptyContainer(before ?? null) && isEmptyContainer(otherBefore ?? null)
    return areNew && areElementsAlike(composition.list, after as readonly unknown[], otherAfter as readonly unknown[])
  }
  return before === undefined
    ? isEmptyContainer(after) === isEmptyContainer(otherAfter)
    : deepEqual(before, after) === deepEqual(otherBefore, otherAfter)
}

const nothing: JsonObject = {}

/** Whether values are of one type of JSON, and not null, which stands for several. */
const haveSameType = (a: unknown, b: unknown): boolean =>
  typeof a === typeof b && a !== null && b !== null && Array.isArray(a) === Array.isArray(b)

function areMembersAlike(
  schema: Schema | undefined,
  before: JsonObject,
  after: JsonObject,
  otherBefore: JsonObject,
  otherAfter: JsonObject,
): boolean {
  const [names, others] = [Object.keys(after), Object.keys(otherAfter)]
  const isKept = (name: string) => Object.hasOwn(after, name)
  return (
    names.length === others.length &&
    names.every(
      (name, index) =>
        name === others[index] &&
        areAlike(schema, name, member(before, name), after[name], member(otherBefore, name), otherAfter[name]),
    ) &&
    (before === otherBefore || [before, otherBefore].every((old) => Object.keys(old).every(isKept)))
  )
}

/** Whether new elements have the same names, one after the other, and what is in them the same steps. */
function areElementsAlike(
  { listType, mapKeys = [], items }: ListSchema,
  values: readonly unknown[],
  others: readonly unknown[],
): boolean {
  const haveSameName = (value: unknown, other: unknown) =>
    listType === 'map' && isJsonObject(value) && isJsonObject(other)
      ? mapKeys.every((key) => value[key] === other[key])
      : value === other
  return (
    values.length === others.length &&
    values.every((value, index) => {
      const other = others[index]
      return haveSameName(value, other) && areAlike(items, undefined, undefined, value, undefined, other)
    })
  )
}
