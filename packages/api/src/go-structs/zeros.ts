import { isJsonObject } from '../json.ts'
import { compile } from '../schema/compile.ts'
import { isWrittenZero, zeroOf } from '../schema/go/go-types.ts'
import { withNulls } from '../schema/go/nulls.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { Schema } from '../schema/schema.ts'
import { ApiError } from '../status.ts'
import { isHeldByValue, isNullWithoutStruct, isZeroWithoutPort } from './declared-fields.ts'

/**
 * What Go's decoder makes of JSON for a struct: fields that it does not have are passed over. Throws an Error in the words of the decoder
 * where a value has the wrong type.
 */
export function decodedAsStruct<T>(schema: Schema<T>, value: unknown): T {
  try {
    return compile(schema).decode(value).value
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new Error(error.message.replace(/^.*? cannot be handled as a \w+: /, ''), { cause: error })
  }
}

/** A decoded value with what a struct has in any case: structs that it holds by value, and zeros that Go's JSON does not omit. */
export function withZeros<T>(schema: Schema<T>, value: T): T {
  return withZerosOf(schema, value, false) as T
}

/** The same as Go's JSON has it: also with a null for each list, map, pointer or time that is not set and not omitted. */
export function writtenByGo<T>(schema: Schema<T>, value: T): T {
  return withNulls(schema, withZerosOf(schema, value, true) as T)
}

function withZerosOf(schema: Schema, value: unknown, isWritten: boolean): unknown {
  const resolved = resolveSchema(schema)
  if (resolved.type === 'list') {
    return Array.isArray(value) ? value.map((each) => withZerosOf(resolved.items, each, isWritten)) : value
  }
  if (!isJsonObject(value)) return value
  if (resolved.type === 'map') {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, withZerosOf(resolved.values, each, isWritten)]),
    )
  }
  if (resolved.type !== 'object') return value
  const complete: Record<string, unknown> = { ...value }
  for (const [name, field] of Object.entries(resolved.fields)) {
    const present = value[name]
    if (present !== undefined) complete[name] = withZerosOf(field.schema, present, isWritten)
    else if (resolveSchema(field.schema).type === 'object' && isHeldByValue(resolved, name)) {
      complete[name] = withZerosOf(field.schema, {}, isWritten)
    } else if (isWrittenZero(field) || isZeroWithoutPort(resolved, name)) complete[name] = zeroOf(field.schema)
    else if (isWritten && isNullWithoutStruct(resolved, name)) complete[name] = null
  }
  return complete
}
