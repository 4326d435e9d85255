import { deepEqual } from '../equality.ts'
import { type JsonObject, member } from '../json.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { type FieldSet, FieldSetBuilder, type FieldSetNode, fieldElement, nodeBelow } from './field-set.ts'
import {
  type Composition,
  compositionOf,
  isEmptyContainer,
  listElement,
  memberSchema,
  membersOf,
} from './typed-value.ts'

/** How two values differ, field by field. */
export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/**
 * What is different in `after`. Costs what has changed where the two share structure: what is the same reference is not
 * looked into. https://github.com/kubernetes-sigs/structured-merge-diff (typed.Compare)
 */
export function compareFields(schema: Schema | undefined, before: unknown, after: unknown): Comparison {
  const changes = { added: new FieldSetBuilder(), modified: new FieldSetBuilder(), removed: new FieldSetBuilder() }
  const { added, modified, removed } = changes
  compare({ added: added.root, modified: modified.root, removed: removed.root }, schema, before, after)
  return { added: added.build(), modified: modified.build(), removed: removed.build() }
}

/** Whether nothing differs. */
export function isSame({ added, modified, removed }: Comparison): boolean {
  return [added, modified, removed].every((set) => Object.keys(set).length === 0)
}

/** The same place in the three sets. Nodes are made on the way to a difference only. */
interface Place {
  readonly added: FieldSetNode
  readonly modified: FieldSetNode
  readonly removed: FieldSetNode
}

function below(place: Place, element: string): Place {
  return {
    added: nodeBelow(place.added, element),
    modified: nodeBelow(place.modified, element),
    removed: nodeBelow(place.removed, element),
  }
}

function compare(place: Place, schema: Schema | undefined, before: unknown, after: unknown): void {
  if (before === after) return
  if (before === undefined) addWhole(place.added, schema, after)
  else if (after === undefined) addWhole(place.removed, schema, before)
  else compareBoth(place, schema, before, after)
}

function compareBoth(place: Place, schema: Schema | undefined, before: unknown, after: unknown): void {
  const composition = compositionOf(schema, before)
  if (!areComparable(composition, compositionOf(schema, after)) || bothEmpty(before, after)) {
    if (!deepEqual(before, after)) place.modified.member = true
  } else if (composition.type === 'elements') {
    compareElements(place, composition.list, before as readonly unknown[], after as readonly unknown[])
  } else {
    compareMembers(place, schema, before as JsonObject, after as JsonObject)
  }
}

const areComparable = (a: Composition, b: Composition): boolean => a.type !== 'atomic' && a.type === b.type
const bothEmpty = (a: unknown, b: unknown): boolean => isEmptyContainer(a) && isEmptyContainer(b)

/** A value that is on one side only: it, and everything in it. Unlike what somebody applies, objects count beside their fields. */
function addWhole(node: FieldSetNode, schema: Schema | undefined, value: unknown): void {
  node.member = true
  const composition = compositionOf(schema, value)
  if (composition.type === 'elements') {
    const { list } = composition
    for (const [element, values] of byElement(list, value as readonly unknown[])) {
      const below = nodeBelow(node, element)
      if (values.length > 1) below.member = true
      else addWhole(below, list.items, values[0])
    }
  } else if (composition.type === 'fields') {
    for (const [element, name, each] of membersOf(value as JsonObject)) {
      addWhole(nodeBelow(node, element), memberSchema(schema, name), each)
    }
  }
}

function compareMembers(place: Place, schema: Schema | undefined, before: JsonObject, after: JsonObject): void {
  for (const name of Object.keys(after)) compareMember(place, schema, name, member(before, name), after[name])
  for (const name of Object.keys(before)) {
    if (member(after, name) === undefined) compareMember(place, schema, name, before[name], undefined)
  }
}

function compareMember(place: Place, schema: Schema | undefined, name: string, before: unknown, after: unknown): void {
  if (before !== after) compare(below(place, fieldElement(name)), memberSchema(schema, name), before, after)
}

function compareElements(place: Place, list: ListSchema, before: readonly unknown[], after: readonly unknown[]): void {
  const [old, now] = [byElement(list, before), byElement(list, after)]
  for (const element of new Set([...old.keys(), ...now.keys()])) {
    compareElement(place, list, element, old.get(element) ?? [], now.get(element) ?? [])
  }
}

/** Elements that are there more than once are compared as one. */
function compareElement(
  place: Place,
  { items }: ListSchema,
  element: string,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  if (before.length <= 1 && after.length <= 1) {
    if (before[0] !== after[0]) compare(below(place, element), items, before[0], after[0])
  } else if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) nodeBelow(place.modified, element).member = true
  } else if (before.length > 1) {
    if (after.length > 0) compare(below(place, element), items, undefined, after[0])
    nodeBelow(place.removed, element).member = true
  } else {
    if (before.length > 0) compare(below(place, element), items, before[0], undefined)
    nodeBelow(place.added, element).member = true
  }
}

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
