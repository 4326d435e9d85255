/** Random values of a schema, for property tests with fast-check. */
import * as fc from 'fast-check'
import { omittedZero } from '../schema/go/go-types.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { Field, ListSchema, ObjectSchema, Schema, StringSchema } from '../schema/schema.ts'
import { formatMicroTime, formatTime } from '../time.ts'

/** Objects nest no deeper than this, where the schema leaves a choice. */
const depthMax = 6
const listLengthMax = 4

export interface ArbitraryOptions {
  /** Leaves at the ends of what their type holds: the largest numbers, texts that mean something to somebody. */
  readonly extreme?: boolean
  /** Leaves out required fields as it does others. */
  readonly lacking?: boolean
}

/**
 * Values as they are once decoded: no nulls, no zero values of optional fields that are no pointers, elements of merged lists
 * distinct in their keys. Leaves that are extreme may be zero anywhere. Strings that have a format or a pattern are not made to match it.
 */
export function arbitraryOf<T>(schema: Schema<T>, options: ArbitraryOptions = {}): fc.Arbitrary<T> {
  return valueFor(schema, 0, options) as fc.Arbitrary<T>
}

function valueFor(schema: Schema, depth: number, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const resolved = resolveSchema(schema)
  const leaf = options.extreme === true ? extremeOf(resolved) : undefined
  if (leaf !== undefined) return leaf
  switch (resolved.type) {
    case 'string':
      return stringOf(resolved)
    case 'integer':
      return fc.integer({ min: resolved.minimum ?? -1000, max: resolved.maximum ?? 1000 })
    case 'number':
      return fc
        .double({ min: resolved.minimum ?? -1000, max: resolved.maximum ?? 1000, noNaN: true })
        .map((each) => each + 0)
    case 'boolean':
      return fc.boolean()
    case 'int-or-string':
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom('http', '25%', 'web'))
    case 'quantity':
      return fc.constantFrom('100m', '1', '2Gi', '512Mi', '1500m', '0', '3k')
    case 'time':
      return fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => {
        return resolved.micro ? formatMicroTime(seconds * 1000) : formatTime(seconds * 1000)
      })
    case 'bytes':
      return fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('base64'))
    case 'any':
      return resolved.object ? fc.dictionary(key, fc.integer(), { maxKeys: 3 }) : fc.oneof(fc.integer(), word)
    case 'list':
      return listOf(resolved, depth, options)
    case 'map':
      return fc.dictionary(key, valueFor(resolved.values, depth + 1, options), { minKeys: 1, maxKeys: 3 })
    case 'object':
      return objectOf(resolved, depth, options)
  }
}

const word = fc.constantFrom('a', 'b', 'c', 'web', 'db', 'x-1')
const key = fc.constantFrom('app', 'tier', 'example.com/role', 'k', 'constructor')

/** Undefined where the schema is of no leaf, or leaves no choice. */
function extremeOf(schema: Schema): fc.Arbitrary<unknown> | undefined {
  switch (schema.type) {
    case 'string':
      return schema.enum === undefined || schema.enum.length === 0 ? fc.constantFrom(...extremeTexts) : undefined
    case 'integer': {
      const { format, minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
      const largest = format === 'int32' ? 2 ** 31 - 1 : Number.MAX_SAFE_INTEGER
      return fc.constantFrom(0, 1, -1, largest, -largest).map((each) => Math.min(maximum, Math.max(minimum, each)))
    }
    case 'int-or-string':
      return fc.constantFrom(-1, 0, 2 ** 31 - 1, '', '-5%', '200%', '99999999999999999999%', 'http')
    case 'quantity':
      return fc.constantFrom('0', '-1', '1n', '9E18', '-9E18', '1e64', '8Ei')
    case 'time':
      return fc.constantFrom(0, 1, -62_135_596_800, 253_402_300_799).map((seconds) => {
        return schema.micro ? formatMicroTime(seconds * 1000) : formatTime(seconds * 1000)
      })
    default:
      return undefined
  }
}

const extremeTexts = [
  '',
  'a',
  '0',
  '-1',
  '1e9',
  '%',
  '*',
  '/',
  '..',
  '../../x',
  '(a+)+$',
  '[',
  '$(a)$(a)',
  'a\0b',
  '\n',
  'é',
  '\ud800',
  'x'.repeat(300),
  '__proto__',
  'constructor',
  '127.0.0.1',
  '99999999999999999999',
]

function stringOf(schema: StringSchema): fc.Arbitrary<string> {
  return schema.enum === undefined || schema.enum.length === 0 ? word : fc.constantFrom(...schema.enum)
}

function listOf(schema: ListSchema, depth: number, options: ArbitraryOptions): fc.Arbitrary<readonly unknown[]> {
  const distinct = schema.patchMergeKey ?? schema.mapKeys?.[0]
  const resolved = resolveSchema(schema.items)
  // However deep a list is, its elements have the key by which they differ.
  const items =
    resolved.type === 'object'
      ? objectOf(resolved, depth + 1, options, distinct)
      : valueFor(schema.items, depth + 1, options)
  const lengths = {
    minLength: Math.max(schema.minItems ?? 0, 1),
    maxLength: Math.max(schema.maxItems ?? listLengthMax, 1),
  }
  if (schema.listType === 'set' || (schema.patchStrategy !== undefined && distinct === undefined)) {
    return fc.uniqueArray(items, { ...lengths, selector: (each) => JSON.stringify(each) })
  }
  if (distinct === undefined) return fc.array(items, lengths)
  const keyed = items.filter((each) => keyOf(each, distinct) !== undefined)
  return fc.uniqueArray(keyed, { ...lengths, selector: (each) => keyOf(each, distinct) })
}

const keyOf = (element: unknown, name: string): string | undefined =>
  JSON.stringify((element as Readonly<Record<string, unknown>>)[name])

/** `kept` is an optional field that is not left out for being too deep. */
function objectOf(
  schema: ObjectSchema,
  depth: number,
  options: ArbitraryOptions,
  kept?: string,
): fc.Arbitrary<unknown> {
  const isShown = (name: string, required: boolean) => required || name === kept || depth < depthMax
  const entries = Object.entries(schema.fields).filter(([name, field]) => isShown(name, field.required))
  const values = entries.map(([name, field]) => {
    const value = fc.constant(undefined).chain(() => valueFor(field.schema, depth + 1, options))
    return [
      name,
      field.required && options.lacking !== true ? value : fc.option(value, { nil: undefined, freq: 2 }),
    ] as const
  })
  return fc.record(Object.fromEntries(values)).map((record) => {
    // In the order of the schema, and absent rather than undefined.
    return Object.fromEntries(
      entries.flatMap(([name, field]) => (isAbsent(record[name], field, options) ? [] : [[name, record[name]]])),
    )
  })
}

const isAbsent = (value: unknown, field: Field, { extreme }: ArbitraryOptions): boolean =>
  value === undefined || (extreme !== true && value === omittedZero(field))
