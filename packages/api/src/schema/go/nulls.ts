/**
 * The nulls of Go's JSON. A nil list, map or pointer without omitempty is written as null, and so is a time that is held by value and
 * not set. In objects that is absence, or an empty list where there always is one: null stands in their JSON alone.
 */
import { isJsonObject } from '../../json.ts'
import { inFieldOrder } from '../field-order.ts'
import { type ResolvedSchema, resolveSchema } from '../resolve.ts'
import type { Field, ObjectSchema, Schema } from '../schema.ts'

/** Whether JSON has a null for the field where it is absent or empty. */
export function isWrittenAsNull({ schema, required, byValue, alwaysWritten }: Field): boolean {
  const { type } = resolveSchema(schema)
  if (type === 'list' || type === 'map') return required || alwaysWritten === true
  return alwaysWritten === true || (type === 'time' && (required || byValue === true))
}

/** An object as its JSON has it: with a null for each field that is written although there is nothing in it. */
export function withNulls<T>(schema: Schema<T>, value: T): T {
  return (rewriterOf(schema, writing)?.(value) ?? value) as T
}

/** An object as its schema has it, made of its JSON: the reverse of `withNulls`. */
export function withoutNulls<T>(schema: Schema<T>, value: T): T {
  return (rewriterOf(schema, reading)?.(value) ?? value) as T
}

/** Returns the value itself where there is nothing to change. */
type Rewriter = (value: unknown) => unknown

interface Direction {
  readonly rewriters: WeakMap<object, Rewriter | undefined>
  /** What becomes of a field that is written as null. */
  rewrite(value: unknown, empty: unknown): unknown
  /** What becomes of a time in a map, which has an empty text for one that is not set. */
  rewriteTime(value: unknown): unknown
}

const writing: Direction = {
  rewriters: new WeakMap(),
  rewrite: (value, empty) => (value === undefined || (empty !== undefined && isEmpty(value)) ? null : value),
  rewriteTime: (value) => (value === '' ? null : value),
}

const reading: Direction = {
  rewriters: new WeakMap(),
  rewrite: (value, empty) => (value === null ? empty : value),
  rewriteTime: (value) => (value === null ? '' : value),
}

/** Undefined where no value of the schema has such a field. */
function rewriterOf(schema: Schema, direction: Direction): Rewriter | undefined {
  const resolved = resolveSchema(schema)
  const { rewriters } = direction
  if (rewriters.has(resolved)) return rewriters.get(resolved)
  // For what is met again below itself.
  rewriters.set(resolved, (value) => rewriters.get(resolved)?.(value) ?? value)
  const made = makeRewriter(resolved, direction)
  rewriters.set(resolved, made)
  return made
}

function makeRewriter(schema: ResolvedSchema, direction: Direction): Rewriter | undefined {
  switch (schema.type) {
    case 'object':
      return schema.dialect === 'structural' ? undefined : objectRewriter(schema, direction)
    case 'list': {
      const items = rewriterOf(schema.items, direction)
      return items && ((value) => rewriteItems(value, items))
    }
    case 'map': {
      const isTimes = resolveSchema(schema.values).type === 'time'
      const values = isTimes ? direction.rewriteTime : rewriterOf(schema.values, direction)
      return values && ((value) => rewriteMembers(value, values))
    }
    default:
      return undefined
  }
}

interface RewrittenField {
  readonly name: string
  readonly rewrite: Rewriter
}

function objectRewriter(schema: ObjectSchema, direction: Direction): Rewriter | undefined {
  const fields = Object.entries(schema.fields).flatMap(([name, field]): readonly RewrittenField[] => {
    const rewrite = fieldRewriter(field, direction)
    return rewrite === undefined ? [] : [{ name, rewrite }]
  })
  if (fields.length === 0) return undefined
  return (value) => {
    if (!isJsonObject(value)) return value
    let isOrdered = true
    let changed: Record<string, unknown> | undefined
    for (const { name, rewrite } of fields) {
      const before = value[name]
      const after = rewrite(before)
      if (after === before) continue
      if (before === undefined || after === undefined) isOrdered = false
      changed ??= { ...value }
      changed[name] = after
    }
    if (changed === undefined || isOrdered) return changed ?? value
    return inFieldOrder(schema, changed)
  }
}

function fieldRewriter(field: Field, direction: Direction): Rewriter | undefined {
  const below = rewriterOf(field.schema, direction)
  if (!isWrittenAsNull(field)) return below && ((value) => (value === undefined ? undefined : below(value)))
  const { type } = resolveSchema(field.schema)
  const empty = field.required ? { list: noItems, map: noMembers }[type as string] : undefined
  const own: Rewriter = (value) => direction.rewrite(value, empty)
  return below === undefined ? own : (value) => own(value === undefined ? undefined : below(value))
}

const noItems: readonly unknown[] = Object.freeze([])
const noMembers: Readonly<Record<string, unknown>> = Object.freeze({})

function rewriteItems(value: unknown, items: Rewriter): unknown {
  if (!Array.isArray(value)) return value
  let copy: unknown[] | undefined
  for (let index = 0; index < value.length; index += 1) {
    const before: unknown = value[index]
    const after = items(before)
    if (after === before) continue
    copy ??= value.slice()
    copy[index] = after
  }
  return copy ?? value
}

function rewriteMembers(value: unknown, values: Rewriter): unknown {
  if (!isJsonObject(value)) return value
  let copy: Record<string, unknown> | undefined
  for (const key of Object.keys(value)) {
    const after = values(value[key])
    if (after === value[key]) continue
    copy ??= { ...value }
    copy[key] = after
  }
  return copy ?? value
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (!isJsonObject(value)) return false
  for (const _ in value) return false
  return true
}
