import { deepEqual } from '../equality.ts'
import { type JsonObject, member } from '../json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { type FieldSet, fieldElement, isEmptySet, nodeOf, noFields, setOfElements } from './field-set.ts'
import { type Composition, compositionOf, isEmptyContainer, listElement, memberSchema } from './typed-value.ts'

/** How two values differ, field by field. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** Two values without a difference. */
export const noDifference: Comparison = { added: noFields, modified: noFields, removed: noFields }

/**
 * What is different in `after`. Costs what has changed where the two share structure: what is the same reference is not
 * looked into. https://github.com/kubernetes-sigs/structured-merge-diff (typed.Compare)
 */
export function compareFields(schema: Schema | undefined, before: unknown, after: unknown): Comparison {
  const difference = compare(schema, before, after)
  if (difference === undefined) return noDifference
  const { added, modified, removed } = difference
  return { added: belowRoot(added), modified: belowRoot(modified), removed: belowRoot(removed) }
}

/** Whether nothing differs. */
export function isSame({ added, modified, removed }: Comparison): boolean {
  return [added, modified, removed].every(isEmptySet)
}

/** The difference at one place: nodes of the three sets, undefined where a set has nothing there. */
interface Difference {
  readonly added: FieldSet | undefined
  readonly modified: FieldSet | undefined
  readonly removed: FieldSet | undefined
}

const isModified: Difference = { added: undefined, modified: noFields, removed: undefined }

/** The root itself is no field. */
function belowRoot(node: FieldSet | undefined): FieldSet {
  if (node === undefined) return noFields
  const { '.': _self, ...below } = node
  return '.' in node ? Object.freeze(below) : node
}

function compare(schema: Schema | undefined, before: unknown, after: unknown): Difference | undefined {
  if (before === after) return undefined
  if (before === undefined) return { added: wholeOf(schema, after), modified: undefined, removed: undefined }
  if (after === undefined) return { added: undefined, modified: undefined, removed: wholeOf(schema, before) }
  return compareBoth(schema, before, after)
}

function compareBoth(schema: Schema | undefined, before: unknown, after: unknown): Difference | undefined {
  if (typeof before !== 'object' && typeof after !== 'object') return isModified
  const composition = compositionOf(schema, before)
  if (!areComparable(composition, compositionOf(schema, after)) || bothEmpty(before, after)) {
    return deepEqual(before, after) ? undefined : isModified
  }
  return composition.type === 'elements'
    ? compareElements(composition.list, before as readonly unknown[], after as readonly unknown[])
    : compareMembers(schema, before as JsonObject, after as JsonObject)
}

const areComparable = (a: Composition, b: Composition): boolean => a.type !== 'atomic' && a.type === b.type
const bothEmpty = (a: unknown, b: unknown): boolean => isEmptyContainer(a) && isEmptyContainer(b)

/** A value that is on one side only: it, and everything in it. Unlike what somebody applies, objects count beside their fields. */
function wholeOf(schema: Schema | undefined, value: unknown): FieldSet {
  if (typeof value !== 'object') return noFields
  const composition = compositionOf(schema, value)
  const nodes: [string, FieldSet][] = []
  if (composition.type === 'elements') {
    const { list } = composition
    for (const [element, values] of byElement(list, value as readonly unknown[])) {
      nodes.push([element, values.length > 1 ? noFields : wholeOf(list.items, values[0])])
    }
  } else if (composition.type === 'fields') {
    const object = value as JsonObject
    for (const name in object) {
      const each = object[name]
      if (each !== undefined) nodes.push([fieldElement(name), wholeOf(memberSchema(schema, name), each)])
    }
  }
  return nodes.length === 0 ? noFields : (nodeOf(true, setOfElements(nodes)) ?? noFields)
}

function compareMembers(schema: Schema | undefined, before: JsonObject, after: JsonObject): Difference | undefined {
  const found = new Differences()
  for (const name in after) {
    const [old, now] = [member(before, name), after[name]]
    if (old !== now) found.add(fieldElement(name), compare(memberSchema(schema, name), old, now))
  }
  for (const name in before) {
    const old = before[name]
    if (old !== undefined && member(after, name) === undefined) {
      found.add(fieldElement(name), compare(memberSchema(schema, name), old, undefined))
    }
  }
  return found.build()
}

function compareElements(
  list: ListSchema,
  before: readonly unknown[],
  after: readonly unknown[],
): Difference | undefined {
  const found = new Differences()
  const [old, now] = [byElement(list, before), byElement(list, after)]
  for (const [element, values] of old) {
    found.add(element, compareElement(list, values, now.get(element) ?? []))
  }
  for (const [element, values] of now) {
    if (!old.has(element)) found.add(element, compareElement(list, [], values))
  }
  return found.build()
}

/** Elements that are there more than once are compared as one. */
function compareElement(
  { items }: ListSchema,
  before: readonly unknown[],
  after: readonly unknown[],
): Difference | undefined {
  if (before.length <= 1 && after.length <= 1) return compare(items, before[0], after[0])
  if (before.length > 1 && after.length > 1) return deepEqual(before, after) ? undefined : isModified
  const added = before.length > 1 ? (after.length > 0 ? wholeOf(items, after[0]) : undefined) : noFields
  const removed = before.length > 1 ? noFields : before.length > 0 ? wholeOf(items, before[0]) : undefined
  return { added, modified: undefined, removed }
}

/** The differences of the members of a value. Nothing is made where there are none. */
class Differences {
  readonly #added: [string, FieldSet][] = []
  readonly #modified: [string, FieldSet][] = []
  readonly #removed: [string, FieldSet][] = []

  add(element: string, difference: Difference | undefined): void {
    if (difference === undefined) return
    const { added, modified, removed } = difference
    if (added !== undefined) this.#added.push([element, added])
    if (modified !== undefined) this.#modified.push([element, modified])
    if (removed !== undefined) this.#removed.push([element, removed])
  }

  build(): Difference | undefined {
    const [added, modified, removed] = [made(this.#added), made(this.#modified), made(this.#removed)]
    return (added ?? modified ?? removed) === undefined ? undefined : { added, modified, removed }
  }
}

const made = (nodes: [string, FieldSet][]): FieldSet | undefined =>
  nodes.length === 0 ? undefined : setOfElements(nodes)

function byElement(list: ListSchema, values: readonly unknown[]): ReadonlyMap<string, readonly unknown[]> {
  const found = new Map<string, unknown[]>()
  for (const value of values) {
    const element = listElement(list, value)
    const same = found.get(element)
    if (same === undefined) found.set(element, [value])
    else same.push(value)
  }
  return found
}
