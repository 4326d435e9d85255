import { deepEqual } from '../equality.ts'
import { type JsonObject, member } from '../json.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { isEmptyStruct } from './empty-object.ts'
import { fieldElement } from './field-set.ts'
import { compositionOf, isAlwaysWritten, isEmptyContainer, listElement, memberSchema } from './typed-value.ts'

/**
 * How two values differ, as steps through both. `>element` goes down to an element, `+element`, `~element` and `-element` say
 * that it is added, modified or removed, `(` goes down to what is below it there, `)` goes up again. Objects of one template
 * that change alike have the same steps, whatever their values are.
 * https://github.com/kubernetes-sigs/structured-merge-diff (typed.Compare)
 */
export type Steps = readonly string[]

/** Costs what has changed where the values share structure: what is the same reference is not looked into. */
export function differenceSteps(schema: Schema | undefined, before: unknown, after: unknown): Steps {
  const steps: string[] = []
  if (before === after) return steps
  // The root itself is no field.
  if (before === undefined) addBelow(steps, '+', schema, after)
  else if (after === undefined) addBelow(steps, '-', schema, before)
  else compareBoth(steps, '', schema, before, after)
  return steps
}

/** What a step says of an element. */
export type Sign = '+' | '~' | '-'

/**
 * Steps about fields, by their sign and element. With the same strings for what is the same, steps are compared by reference, and
 * nothing is put together that has been.
 */
const fieldSteps = { '+': new Map(), '~': new Map(), '-': new Map(), '>': new Map() } satisfies Record<
  Sign | '>',
  Map<string, string>
>

/** Of so many fields, with names no longer than that, steps are kept: those of all schemas are fewer. Beyond that all are forgotten. */
const fieldStepsMax = 4096
const fieldLengthMax = 128

function stepOf(sign: Sign | '>', element: string): string {
  // Other elements of lists are as many as there are objects.
  if (!element.startsWith('f:') || element.length > fieldLengthMax) return sign + element
  const steps: Map<string, string> = fieldSteps[sign]
  const known = steps.get(element)
  if (known !== undefined) return known
  const step = sign + element
  if (steps.size >= fieldStepsMax) steps.clear()
  steps.set(element, step)
  return step
}

function compare(steps: string[], element: string, schema: Schema | undefined, before: unknown, after: unknown): void {
  if (before === after) return
  if (after === undefined) addWhole(steps, '-', element, schema, before)
  else if (before === undefined || isEmptyStruct(before)) compareNew(steps, element, schema, before, after)
  else compareBoth(steps, element, schema, before, after)
}

function compareBoth(
  steps: string[],
  element: string,
  schema: Schema | undefined,
  before: unknown,
  after: unknown,
): void {
  if (typeof before !== 'object' && typeof after !== 'object') {
    add(steps, '~', element)
    return
  }
  const composition = compositionOf(schema, before)
  const composed = compositionOf(schema, after)
  if (composition.type !== composed.type) {
    compareUnlike(steps, element, schema, before, after)
    return
  }
  if (composition.type === 'atomic' || (isEmptyContainer(before) && isEmptyContainer(after))) {
    if (!deepEqual(before, after)) add(steps, '~', element)
    return
  }
  const above = steps.length
  if (element !== '') steps.push(stepOf('>', element))
  const empty = steps.length
  if (composition.type === 'elements') {
    compareElements(steps, composition.list, elementsIn(before), elementsIn(after))
  } else {
    compareMembers(steps, schema, membersIn(before), membersIn(after))
  }
  if (steps.length === empty) steps.length = above
  else if (element !== '') steps.push(')')
}

const elementsIn = (value: unknown): readonly unknown[] => (value === null ? [] : (value as readonly unknown[]))
const membersIn = (value: unknown): JsonObject => (value === null ? {} : (value as JsonObject))

/** Values of which one has parts of its own and the other has none, or others: what is in them has come and gone. */
function compareUnlike(
  steps: string[],
  element: string,
  schema: Schema | undefined,
  before: unknown,
  after: unknown,
): void {
  const hasParts = (value: unknown) => compositionOf(schema, value).type !== 'atomic' && !isEmptyContainer(value)
  if (!hasParts(before) || !hasParts(after)) add(steps, '~', element)
  if (element !== '') steps.push(stepOf('>', element))
  if (hasParts(before)) addBelow(steps, '-', schema, before)
  if (hasParts(after)) addBelow(steps, '+', schema, after)
  if (element !== '') steps.push(')')
}

function add(steps: string[], sign: Sign, element: string): void {
  if (element !== '') steps.push(stepOf(sign, element))
}

interface NewValue {
  readonly element: string
  /** Undefined, or an empty struct. */
  readonly before: unknown
  readonly value: unknown
  readonly steps: Steps
}

/** What came last to new objects, by its schema: pods of one template come one after another with the very same desired state. */
const lastNew = new WeakMap<Schema, NewValue>()

/** A value where nobody has written one. The steps of one that cannot change are kept for the next object that comes with it. */
function compareNew(
  steps: string[],
  element: string,
  schema: Schema | undefined,
  before: unknown,
  value: unknown,
): void {
  if (schema === undefined || typeof value !== 'object' || !Object.isFrozen(value)) {
    compareAnew(steps, element, schema, before, value)
    return
  }
  let last = lastNew.get(schema)
  if (last?.value !== value || last.before !== before || last.element !== element) {
    const own: string[] = []
    compareAnew(own, element, schema, before, value)
    last = { element, before, value, steps: own }
    lastNew.set(schema, last)
  }
  for (const step of last.steps) steps.push(step)
}

function compareAnew(
  steps: string[],
  element: string,
  schema: Schema | undefined,
  before: unknown,
  value: unknown,
): void {
  if (before === undefined) addWhole(steps, '+', element, schema, value)
  else compareBoth(steps, element, schema, before, value)
}

/** A value that is on one side only: it, and everything in it. Unlike what somebody applies, objects count beside their fields. */
function addWhole(steps: string[], sign: Sign, element: string, schema: Schema | undefined, value: unknown): void {
  steps.push(stepOf(sign, element))
  if (typeof value !== 'object') return
  steps.push('(')
  const empty = steps.length
  addBelow(steps, sign, schema, value)
  if (steps.length === empty) steps.length -= 1
  else steps.push(')')
}

function addBelow(steps: string[], sign: Sign, schema: Schema | undefined, value: unknown): void {
  const composition = compositionOf(schema, value)
  if (composition.type === 'elements') {
    const { list } = composition
    for (const [element, values] of byElement(list, elementsIn(value))) {
      if (values.length > 1) steps.push(stepOf(sign, element))
      else addWhole(steps, sign, element, list.items, values[0])
    }
  } else if (composition.type === 'fields') {
    const object = membersIn(value)
    for (const name in object) {
      const each = object[name]
      if (each !== undefined) addWhole(steps, sign, fieldElement(name), memberSchema(schema, name), each)
    }
  }
}

function compareMembers(steps: string[], schema: Schema | undefined, before: JsonObject, after: JsonObject): void {
  // Most are the same on both sides, which is seen at once: what an object inherits is no value of JSON. Not `for in`: V8 gives the code
  // up that it has optimized for such a loop, over and over, where what the loop reads is compared with another object's.
  for (const name of Object.keys(after)) {
    const now = after[name]
    if (now !== undefined && before[name] === now) continue
    const known = member(before, name)
    const old = known === undefined ? writtenEmpty(schema, name) : known
    if (old !== now) compare(steps, fieldElement(name), memberSchema(schema, name), old, now)
  }
  for (const name of Object.keys(before)) {
    const old = before[name]
    if (old !== undefined && after[name] !== old && member(after, name) === undefined) {
      compare(steps, fieldElement(name), memberSchema(schema, name), old, undefined)
    }
  }
}

const noElements: readonly unknown[] = Object.freeze([])

/** What stands in JSON in place of a list that is written although there is nothing in it: to it elements come, and no list. */
function writtenEmpty(schema: Schema | undefined, name: string): unknown {
  return isAlwaysWritten(schema, name) && resolveSchema(memberSchema(schema, name) as Schema).type === 'list'
    ? noElements
    : undefined
}

function compareElements(
  steps: string[],
  list: ListSchema,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  const [old, now] = [byElement(list, before), byElement(list, after)]
  for (const [element, values] of old) compareElement(steps, element, list, values, now.get(element) ?? [])
  for (const [element, values] of now) {
    if (!old.has(element)) compareElement(steps, element, list, [], values)
  }
}

/** Elements that are there more than once are compared as one. */
function compareElement(
  steps: string[],
  element: string,
  { items }: ListSchema,
  before: readonly unknown[],
  after: readonly unknown[],
): void {
  if (before.length <= 1 && after.length <= 1) {
    compare(steps, element, items, before[0], after[0])
  } else if (before.length > 1 && after.length > 1) {
    if (!deepEqual(before, after)) steps.push(stepOf('~', element))
  } else if (before.length > 1) {
    steps.push(`-${element}`)
    if (after.length > 0) addWhole(steps, '+', element, items, after[0])
  } else {
    steps.push(`+${element}`)
    if (before.length > 0) addWhole(steps, '-', element, items, before[0])
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
