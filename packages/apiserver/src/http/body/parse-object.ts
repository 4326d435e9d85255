import {
  apiVersionOf,
  badRequest,
  compile,
  type FieldValidation,
  isJsonObject,
  type JsonObject,
  jsonTypeOf,
} from '@coracle/api'
import { inGoTypes } from '../../go-types.ts'
import { pauseFor } from '../../registry/large-objects.ts'
import type { WorkTurns } from '../../work-turns.ts'
import { bodyFormatOf } from '../media-types.ts'
import { type ExpectedKind, isCustom, namedKind } from './expected-kind.ts'
import { hasRepeatedFields, oddFieldsOf, parseObjectJson, parseRepeatedJson } from './json-text.ts'
import { checkDepth, checkJsonText } from './limits.ts'
import { parseProtobuf } from './parse-protobuf.ts'
import { type ParsedText, parseUndecodable, parseYaml } from './parsed-text.ts'
import { decodeBrokenText, decodeText } from './utf8-text.ts'
import { duplicateKeysError, objectWording, unreadableType, type Wording } from './wording.ts'

/** A body as parsed, and what was odd about it. */
export interface ParsedObject {
  readonly value: unknown
  /** `duplicate field "spec.replicas"`: texts for `Warning` headers. */
  readonly warnings: readonly string[]
}

/** How a body is to be read. */
export interface ObjectReading {
  readonly contentType: string | undefined
  readonly expected: ExpectedKind
  /** Fields that occur twice are an error with `Strict`, warnings with `Warn`. */
  readonly fieldValidation: FieldValidation
  /** Others are served while a large body is read. */
  readonly turns?: WorkTurns
  /** By default the messages for an object that is written. */
  readonly wording?: Wording
}

type Format = 'json' | 'yaml'

/**
 * An object from the body of a write, in JSON, YAML or protobuf. Throws BadRequest (400) where it cannot be read as the expected kind, and
 * UnsupportedMediaType (415) where its content type is another. That the object is of another kind is for the registry to say.
 */
export async function parseObject(body: Buffer, reading: ObjectReading): Promise<ParsedObject> {
  const { contentType, expected, fieldValidation, wording = objectWording } = reading
  const format = bodyFormatOf(contentType)
  if (format === 'protobuf') return { value: await parseProtobuf(body, expected, wording), warnings: [] }
  const { text, parsed } = await parseText(body, format, reading)
  const { value } = parsed
  if (parsed.misfit !== undefined)
    throw badRequest(wording.undecodable(parsed.misfit, expected, namedKind(value, expected)))
  const problem = parsed.problem === undefined ? typeProblem(value, expected, text) : unreadableType(parsed.problem)
  if (problem !== undefined) throw badRequest(wording.unrecognized(problem, expected, body))
  checkDepth(value, format, body.length)
  const odd = parsed.duplicates.length === 0 ? [] : await oddities(text, format, parsed, reading)
  if (odd.length > 0 && fieldValidation === 'Strict') {
    const strict = `strict decoding error: ${odd.join(', ')}`
    throw badRequest(wording.undecodable(strict, expected, namedKind(value, expected)))
  }
  if (isCustom(expected) && isJsonObject(value)) requireVersion(value, expected)
  return { value, warnings: odd }
}

/** What is in a body of text, read as its kind reads it where fields occur twice. The text is '' where the body is no UTF-8. */
async function parseText(
  body: Buffer,
  format: Format,
  { expected, fieldValidation, turns }: ObjectReading,
): Promise<{ readonly text: string; readonly parsed: ParsedText }> {
  if (format === 'json') checkJsonText(body)
  const text = decodeText(body) ?? (format === 'json' ? decodeBrokenText(body) : undefined)
  const pause = turns && pauseFor(turns, 0, body.length)
  if (text === undefined) {
    const parsed = parseUndecodable(body)
    if (pause !== undefined) await pause()
    return { text: '', parsed }
  }
  if (format === 'yaml') {
    const parsed = await parseYaml(text)
    if (pause !== undefined) await pause()
    return { text, parsed: fieldValidation === 'Ignore' ? { ...parsed, duplicates: [] } : parsed }
  }
  const parsed = parseObjectJson(text, body, expected)
  if (pause !== undefined) await pause()
  // What a built-in kind makes of them is the same, whether or not the request wants to hear of them.
  const looksFor = isCustom(expected) ? fieldValidation : 'Warn'
  if (!hasRepeatedFields(parsed, text, looksFor)) return { text, parsed }
  const duplicates = fieldValidation === 'Ignore' ? [] : await oddFieldsOf(text)
  const { schema } = expected
  // Objects of custom kinds are read into maps, where the last of them counts, as it does for JSON.parse.
  const repeated = schema === undefined || isCustom(expected) ? parsed : await parseRepeatedJson(text, body, schema)
  return { text, parsed: { ...repeated, duplicates } }
}

/** What is said of a body in which fields occur twice: of these, and of those that the kind does not have. */
async function oddities(
  text: string,
  format: Format,
  { value, duplicates }: ParsedText,
  { expected, fieldValidation }: ObjectReading,
): Promise<readonly string[]> {
  const unknown = await unknownFields(value, expected)
  // Upstream reads JSON of built-in kinds once, and finds both in the order of the text; all else it reads first and checks then.
  if (format === 'json' && !isCustom(expected)) return oddFieldsOf(text, new Set(unknown))
  const isOneError = format === 'yaml' && fieldValidation === 'Strict'
  return [...(isOneError ? [duplicateKeysError(duplicates)] : duplicates), ...unknown]
}

/** What is said of fields that the kind does not have. Throws BadRequest where the value does not fit the kind at all. */
function unknownFields(value: unknown, expected: ExpectedKind): readonly string[] | Promise<readonly string[]> {
  const { kind, version, schema } = expected
  // An object of another kind is refused by the registry.
  if (schema === undefined || !isJsonObject(value) || namedKind(value, expected).kind !== kind) return []
  return inGoTypes(
    (goTypes) => compile(schema).decode(value, { fieldValidation: 'Warn', kind, version, goTypes }).warnings,
  )
}

/**
 * Why the kind of a value cannot be told: its `apiVersion` or `kind` is malformed, or names none where a custom kind is expected. Those of
 * built-in kinds may name none, as upstream knows them by their Go types.
 */
function typeProblem(value: unknown, expected: ExpectedKind, text: string): string | undefined {
  if (!isJsonObject(value)) return value === null && isCustom(expected) ? missingKind(text) : undefined
  for (const field of ['apiVersion', 'kind']) {
    const found = value[field]
    if (typeof found === 'string' || found === undefined || found === null) continue
    return unreadableType(`json: cannot unmarshal ${jsonTypeOf(found)} into Go struct field .${field} of type string`)
  }
  const { apiVersion } = value
  const isVersion = typeof apiVersion !== 'string' || apiVersion.split('/').length <= 2
  if (!isVersion) return `unexpected GroupVersion string: ${apiVersion}`
  return isCustom(expected) && (value.kind ?? '') === '' ? missingKind(text) : undefined
}

const missingKind = (text: string): string => `Object 'Kind' is missing in '${text}'`

/** Throws BadRequest where an object of a custom kind does not name the version it is written in: that has no default. */
function requireVersion({ apiVersion }: JsonObject, expected: ExpectedKind): void {
  const given = asGroupVersion(typeof apiVersion === 'string' ? apiVersion : '')
  const wanted = apiVersionOf(expected)
  if (given === wanted) return
  throw badRequest(`the API version in the data (${given}) does not match the expected API version (${wanted})`)
}

/** A group and version as upstream writes them once they are read: `/v1` is that of the core group. */
const asGroupVersion = (apiVersion: string): string => apiVersion.replace(/^\//, '')
