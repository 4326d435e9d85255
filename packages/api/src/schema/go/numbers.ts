/** How numbers of JSON are held in values of built-in kinds. */
import {
  InfiniteNumberError,
  nearestNumber,
  oddNumber,
  parseExactJson,
  WrittenNumber,
  writtenNumber,
} from '../../exact-json.ts'
import { isJsonObject, type JsonObject, withChanges } from '../../json.ts'
import { resolveSchema } from '../resolve.ts'
import type { ObjectSchema, Schema } from '../schema.ts'

/**
 * As `JSON.parse`, with the numbers of the value as `withNumbersOf` has them, for a client's object of a built-in kind. Throws a
 * SyntaxError or an InfiniteNumberError.
 */
export function parseJsonOf(schema: Schema | undefined, text: string): unknown {
  return oddNumber.test(text) ? withNumbersOf(schema, JSON.parse(text, writtenNumber)) : JSON.parse(text)
}

/**
 * A value, as the reviver `writtenNumber` leaves it, with its numbers as decoding by this schema takes them: as they are written where a type of Go
 * reads them itself, and as any others where it does not matter. Without a schema: nobody knows it. Throws an InfiniteNumberError.
 */
export function withNumbersOf(schema: Schema | undefined, value: unknown): unknown {
  if (value instanceof WrittenNumber) return numberOf(schema, value)
  if (typeof value === 'bigint') return integerOf(schema, value)
  if (Array.isArray(value)) return withItems(itemsOf(schema), value)
  return isJsonObject(value) ? withMembers(schema, value) : value
}

function withItems(schema: Schema | undefined, list: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [index, before] of list.entries()) {
    const after = withNumbersOf(schema, before)
    if (after === before) continue
    copy ??= list.slice()
    copy[index] = after
  }
  return copy ?? list
}

function withMembers(schema: Schema | undefined, object: JsonObject): JsonObject {
  const memberOf = membersOf(schema)
  const changes = new Map<string, unknown>()
  for (const [key, before] of Object.entries(object)) {
    const after = withNumbersOf(memberOf(key), before)
    if (after !== before) changes.set(key, after)
  }
  return changes.size === 0 ? object : withChanges(object, changes)
}

/** What is in any JSON is any JSON, unless its objects are said to be something else. */
function itemsOf(schema: Schema | undefined): Schema | undefined {
  const resolved = schema && resolveSchema(schema)
  if (resolved?.type === 'list') return resolved.items
  return resolved?.type === 'any' ? resolved : undefined
}

function membersOf(schema: Schema | undefined): (key: string) => Schema | undefined {
  const resolved = schema && resolveSchema(schema)
  switch (resolved?.type) {
    case 'object':
      return (key) => (Object.hasOwn(resolved.fields, key) ? resolved.fields[key]?.schema : undefined)
    case 'map':
      return () => resolved.values
    case 'any':
      return resolved.objects === undefined ? () => resolved : membersOf(resolved.objects)
    default:
      return () => undefined
  }
}

function numberOf(schema: Schema | undefined, number: WrittenNumber): unknown {
  const hasFloat = Number.isFinite(number.valueOf())
  switch (schema && resolveSchema(schema).type) {
    case 'integer':
    case 'int-or-string':
      // It is none.
      return number
    case 'quantity':
      return number.toString()
    case 'number':
      return hasFloat ? number.valueOf() : number
    case 'any':
      if (!hasFloat) throw new InfiniteNumberError(number.toString())
      return number.valueOf()
    default:
      return number.valueOf()
  }
}

/** Whole numbers stay as they are written where any JSON may be, and where they are too large for a field. */
function integerOf(schema: Schema | undefined, value: bigint): unknown {
  const resolved = schema && resolveSchema(schema)
  switch (resolved?.type) {
    case 'any':
    case 'int-or-string':
      return value
    case 'integer':
      return resolved.exact === true ? value : nearestNumber(value)
    case 'quantity':
      return value.toString()
    default:
      return Number(value)
  }
}

/** May have a number in it that no JavaScript number holds exactly, in JSON without white space: texts and digests rarely look like that. */
const longNumber = /[:[,]-?\d{16}/

/** How JSON of objects of a kind is read that was written by this program. */
export function jsonReaderOf(schema: ObjectSchema): (text: string) => unknown {
  if (schema.dialect === 'structural') return parseExactJson
  if (!holdsLongNumbers(schema, new Set())) return JSON.parse
  return (text) => (longNumber.test(text) ? withNumbersOf(schema, parseExactJson(text)) : JSON.parse(text))
}

/** The JSON of who owns which fields has no numbers. */
const ownedFields = 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1'

/** Whether there may be numbers in it that are held as they are written. */
function holdsLongNumbers(schema: Schema, seen: Set<Schema>): boolean {
  const resolved = resolveSchema(schema)
  if (seen.has(resolved)) return false
  seen.add(resolved)
  switch (resolved.type) {
    case 'any':
      return resolved.name !== ownedFields
    case 'integer':
      return resolved.exact === true
    case 'list':
      return holdsLongNumbers(resolved.items, seen)
    case 'map':
      return holdsLongNumbers(resolved.values, seen)
    case 'object':
      return Object.values(resolved.fields).some((field) => holdsLongNumbers(field.schema, seen))
    default:
      return false
  }
}
