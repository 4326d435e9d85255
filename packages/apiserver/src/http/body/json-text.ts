import {
  type FieldValidation,
  finiteNumber,
  InfiniteNumberError,
  type ObjectSchema,
  parseFiniteJson,
  parseJsonOf,
  withNumbersOf,
  writtenNumber,
} from '@coracle/api'
import { jsonBytesError } from '@coracle/api/json-syntax'
import { hasDuplicateFields } from './duplicate-fields.ts'
import { type ExpectedKind, isCustom } from './expected-kind.ts'
import { nestsTooDeep } from './limits.ts'
import type { ParsedText } from './parsed-text.ts'

/**
 * An object. Integers keep all their digits, though a JavaScript number may not hold them. So do other numbers of built-in kinds, as far
 * as it matters how they are written. `body` holds the text's bytes.
 */
export function parseObjectJson(text: string, body: Buffer, expected: ExpectedKind): ParsedText {
  const { schema } = expected
  return readJson(text, body, (hasHalves) => {
    if (isCustom(expected)) return hasHalves ? parseWellFormed(text, finiteNumber) : parseFiniteJson(text)
    return hasHalves ? withNumbersOf(schema, parseWellFormed(text, writtenNumber)) : parseJsonOf(schema, text)
  })
}

/** A patch. Integers keep all their digits; with `keepsWritten` other numbers stay as they are written, too. */
export function parsePatchJson(text: string, body: Buffer, keepsWritten: boolean): ParsedText {
  const readNumber = keepsWritten ? finiteWrittenNumber : finiteNumber
  return readJson(text, body, (hasHalves) => {
    if (hasHalves) return parseWellFormed(text, readNumber)
    return keepsWritten ? JSON.parse(text, readNumber) : parseFiniteJson(text)
  })
}

/** An object of a built-in kind in which fields occur twice, as Go's decoder fills a struct from it. */
export async function parseRepeatedJson(text: string, body: Buffer, schema: ObjectSchema): Promise<ParsedText> {
  const { parseRepeated } = await import('./repeated-fields.ts')
  return readJson(text, body, () => withNumbersOf(schema, parseRepeated(text, schema)))
}

/** Whether fields occur twice in a text that was parsed. False where the request does not want to hear of them. */
export function hasRepeatedFields(
  { value, problem, misfit }: ParsedText,
  text: string,
  fieldValidation: FieldValidation,
): boolean {
  if ((problem ?? misfit) !== undefined || fieldValidation === 'Ignore') return false
  // Such values are refused later; looking for duplicates in them would recurse as deep.
  if (nestsTooDeep(value, text.length)) return false
  return hasDuplicateFields(text, value)
}

/** What strict decoding says of a text's fields that occur twice, and of those in `unknown`; see `oddFields`. */
export async function oddFieldsOf(text: string, unknown: ReadonlySet<string> = new Set()): Promise<readonly string[]> {
  // Loaded here because few bodies have such fields.
  const { oddFields } = await import('./odd-fields.ts')
  return oddFields(text, unknown)
}

/** `parse` is told whether escapes in the text may be halves of surrogate pairs. */
function readJson(text: string, body: Buffer, parse: (hasHalves: boolean) => unknown): ParsedText {
  try {
    return { value: parse(text.includes('\\') && halfSurrogate.test(text)), duplicates: [] }
  } catch (error) {
    if (error instanceof InfiniteNumberError) return { value: undefined, duplicates: [], misfit: error.message }
    return { value: undefined, duplicates: [], problem: jsonBytesError(body) }
  }
}

/** An escape that may be half of a surrogate pair; alone it is no character. */
const halfSurrogate = /\\u[dD][89a-fA-F]/

/** Replaces halves of surrogate pairs by U+FFFD, as Go does: UTF-8 cannot express them. */
function parseWellFormed(text: string, readNumber: typeof finiteNumber): unknown {
  return JSON.parse(text, (key: string, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value === 'string') return value.toWellFormed()
    if (typeof value === 'number') return readNumber(key, value, context)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const entries = Object.entries(value)
    if (entries.every(([key]) => key.isWellFormed())) return value
    return Object.fromEntries(entries.map(([key, each]) => [key.toWellFormed(), each]))
  })
}

const finiteWrittenNumber: typeof finiteNumber = (key, value, context) => {
  finiteNumber(key, value, context)
  return writtenNumber(key, value, context)
}
