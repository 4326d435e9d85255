import {
  type ApiError,
  apiVersionOf,
  badRequest,
  checkValuesCount,
  compile,
  deleteOptionsSchema,
  finiteNumber,
  InfiniteNumberError,
  isJsonObject,
  type JsonObject,
  jsonTypeOf,
  type ObjectSchema,
  oddNumber,
  parseFiniteJson,
  parseJsonOf,
  tooManyRequests,
  withNumbersOf,
  writtenNumber,
} from '@coracle/api'
import { jsonBytesError } from '@coracle/api/json-syntax'
import type { PatchType } from '@coracle/client'
import { inGoTypes } from '../go-types.ts'
import { pauseFor } from '../registry/large-objects.ts'
import { notRegisteredAsOptions } from '../registry/schemes.ts'
import type { RegistryWriteOptions, RequestedPatch } from '../registry-contract.ts'
import { busyMessage } from '../store-errors.ts'
import type { WorkTurns } from '../work-turns.ts'
import { hasDuplicateFields } from './duplicate-fields.ts'
import { bodyFormatOf, unknownBodyFormat } from './media-types.ts'
import { hasProtobufFields } from './protobuf.ts'
import type { RawDeleteOptions } from './query.ts'
import { yamlInlineLengthMax } from './representation/format.ts'
import { decodeBrokenText, decodeText } from './utf8-text.ts'

/** Deeper nesting is refused before anything walks the value. */
export const bodyDepthMax = 200

/** A body as parsed, and what was odd about it. */
export interface ParsedBody {
  readonly value: unknown
  /** `duplicate field "spec.replicas"`: texts for `Warning` headers. */
  readonly warnings: readonly string[]
}

/** A patch as parsed, with texts for `Warning` headers. */
export interface ParsedPatch {
  readonly change: RequestedPatch
  readonly warnings: readonly string[]
}

/** The kind a body should be of. */
export interface ExpectedKind {
  readonly group: string
  readonly kind: string
  readonly version: string
  /** Needed for protobuf alone. */
  readonly schema?: ObjectSchema
}

/** How it is said what is wrong with a body. */
interface Wording {
  /** Nobody can tell what it is. */
  unrecognized(problem: string, expected: ExpectedKind, body: Buffer): string
  /** It does not fit the kind. */
  undecodable(problem: string, expected: ExpectedKind, named: Pick<ExpectedKind, 'kind' | 'version'>): string
}

const objectWording: Wording = {
  unrecognized: (problem, expected, body) =>
    `the object provided is unrecognized (must be of type ${expected.kind}): ${problem} (${summaryOf(body)})`,
  undecodable: (problem, expected, { kind, version }) =>
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${problem}`,
}

/** Of options nothing more is said than the problem. */
const optionsWording: Wording = { unrecognized: (problem) => problem, undecodable: (problem) => problem }

/**
 * An object from the body of a write. Fields that occur twice are an error in strict mode, warnings in warn mode. While a large body is
 * read others are served, where there are `turns`. Throws BadRequest (400) where the body cannot be read, UnsupportedMediaType (415) where it is of another type.
 */
export async function parseObject(
  body: Buffer,
  contentType: string | undefined,
  definition: ExpectedKind,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
  turns?: WorkTurns,
  wording: Wording = objectWording,
): Promise<ParsedBody> {
  const format = bodyFormatOf(contentType)
  if (format === 'protobuf') return parseProtobuf(body, definition, wording)
  if (format === 'json') checkText(body)
  const text = decodeText(body) ?? (format === 'json' ? decodeBrokenText(body) : undefined)
  const pause = turns && pauseFor(turns, 0, body.length)
  let parsed =
    text === undefined
      ? unreadable(body)
      : format === 'json'
        ? parseJson(text, body, definition)
        : await parseYaml(text, fieldValidation)
  if (pause !== undefined) await pause()
  // How a built-in kind reads them does not depend on what the request wants to hear.
  const looksFor = isCustom(definition) ? fieldValidation : 'Warn'
  if (format === 'json' && repeatsFields(parsed, text, looksFor)) {
    parsed = await withRepeated(parsed, text ?? '', body, definition, fieldValidation)
  }
  if (parsed.misfit !== undefined) {
    throw badRequest(wording.undecodable(parsed.misfit, definition, namedKind(parsed.value, definition)))
  }
  const problem =
    parsed.problem === undefined ? typeProblem(parsed.value, definition, text) : unreadableType(parsed.problem)
  if (problem !== undefined) throw badRequest(wording.unrecognized(problem, definition, body))
  // By its aliases a short YAML may hold itself.
  if ((format === 'yaml' || mayNestTooDeep(body.length)) && nestsTooDeep(parsed.value, bodyDepthMax)) throw tooDeep()
  const odd =
    parsed.duplicates.length === 0 ? [] : await oddities(format, text ?? '', parsed, definition, fieldValidation)
  if (odd.length > 0 && fieldValidation === 'Strict') {
    const problem = `strict decoding error: ${odd.join(', ')}`
    throw badRequest(wording.undecodable(problem, definition, namedKind(parsed.value, definition)))
  }
  if (isCustom(definition) && isJsonObject(parsed.value)) requireVersion(parsed.value, definition)
  return { value: parsed.value, warnings: odd }
}

/** What is said of a body in which fields occur twice: of these, and of those that the kind does not have. */
async function oddities(
  format: 'json' | 'yaml',
  text: string,
  { value, duplicates }: Parsed,
  definition: ExpectedKind,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
): Promise<readonly string[]> {
  const unknown = await unknownFields(value, definition)
  // Built-in kinds have one reader for both; custom ones are read first and looked through then, and so is YAML.
  if (format === 'json' && !isCustom(definition)) return (await loadOddFields())(text, new Set(unknown))
  return [...(fieldValidation === 'Strict' ? strictText(format, duplicates) : duplicates), ...unknown]
}

/** What is said of fields that the kind does not have. Throws BadRequest where the value does not fit it at all. */
function unknownFields(value: unknown, definition: ExpectedKind): readonly string[] | Promise<readonly string[]> {
  const { kind, version, schema } = definition
  // That it is of another kind is for the registry to say, and so is what does not fit it then.
  if (schema === undefined || !isJsonObject(value) || namedKind(value, definition).kind !== kind) return []
  return inGoTypes(
    (goTypes) => compile(schema).decode(value, { fieldValidation: 'Warn', kind, version, goTypes }).warnings,
  )
}

const isCustom = ({ schema }: Pick<ExpectedKind, 'schema'>): boolean => schema?.dialect === 'structural'

/** Throws where an object of a custom kind does not name the version it is written in: no default stands in for it. */
function requireVersion({ apiVersion }: JsonObject, definition: ExpectedKind): void {
  const given = asGroupVersion(typeof apiVersion === 'string' ? apiVersion : '')
  const expected = apiVersionOf(definition)
  if (given === expected) return
  throw badRequest(`the API version in the data (${given}) does not match the expected API version (${expected})`)
}

/** A group and version as upstream writes them once they are read: `/v1` is that of the core group. */
const asGroupVersion = (apiVersion: string): string => apiVersion.replace(/^\//, '')

/** Go's reader of YAML tells of all keys that occur twice in one error. */
const strictText = (format: 'json' | 'yaml', duplicates: readonly string[]): readonly string[] =>
  format === 'json' ? duplicates : [`yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`]

const unreadableType = (problem: string): string => `couldn't get version/kind; json parse error: ${problem}`

/**
 * Why nobody can tell what kind of object a value is: its `apiVersion` or `kind` is no such thing, or it is to be of a custom kind, which
 * has no type in Go to tell, and names none.
 */
function typeProblem(value: unknown, expected: ExpectedKind, text: string | undefined): string | undefined {
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

const missingKind = (text = ''): string => `Object 'Kind' is missing in '${text}'`

async function parseProtobuf(body: Buffer, definition: ExpectedKind, wording: Wording): Promise<ParsedBody> {
  const { kind, schema } = definition
  if (schema === undefined || !hasProtobufFields(schema)) throw unknownBodyFormat()
  const { decodeProtobuf, openProtobuf, ProtobufError } = await import('./protobuf-decode.ts')
  const orBadRequest = <T>(read: () => T, explain: (why: string) => string): T => {
    try {
      return read()
    } catch (error) {
      if (error instanceof ProtobufError) throw badRequest(explain(error.message))
      throw error
    }
  }
  const envelope = orBadRequest(
    () => openProtobuf(body),
    (why) => wording.unrecognized(why, definition, body),
  )
  const named = namedKind(envelope, definition)
  const type = {
    ...(envelope.apiVersion === '' ? {} : { apiVersion: envelope.apiVersion }),
    ...(envelope.kind === '' ? {} : { kind: envelope.kind }),
  }
  // The message of another kind would make no sense; that it is of another kind is for the registry to say.
  if (named.kind !== kind) return { value: type, warnings: [] }
  const value = orBadRequest(
    () => decodeProtobuf(schema, envelope.raw),
    (why) => wording.undecodable(why, definition, named),
  )
  return { value: { ...type, ...value }, warnings: [] }
}

/**
 * A patch: JSON, or YAML where a configuration is applied. Of fields that occur twice is warned; in strict mode they are refused, together with
 * what is found in the patched object (`decodePatched`), and in a configuration that is applied at once.
 */
export async function parsePatch(
  body: Buffer,
  type: PatchType,
  definition: Pick<ExpectedKind, 'schema'>,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
  turns?: WorkTurns,
): Promise<ParsedPatch> {
  const text = decodeText(body) ?? (type === 'apply' ? undefined : decodeBrokenText(body))
  let isYaml = type === 'apply' && text !== undefined && !text.startsWith('{')
  // In YAML brackets and commas may be text without quotes.
  if (!isYaml) checkText(body)
  const pause = turns && pauseFor(turns, 0, body.length)
  // Upstream makes JSON of these two and the object, and decodes that.
  const hasWrittenNumbers =
    (type === 'merge' || type === 'json') && !isCustom(definition) && text !== undefined && oddNumber.test(text)
  let parsed =
    text === undefined ? unreadable(body) : isYaml ? undefined : parsePatchJson(text, body, hasWrittenNumbers)
  if (pause !== undefined) await pause()
  if (parsed !== undefined && repeatsFields(parsed, text, fieldValidation)) parsed = await withDuplicates(parsed, text)
  // What is not quite JSON may still be YAML.
  if (type === 'apply' && (parsed?.problem !== undefined || (parsed?.duplicates.length ?? 0) > 0))
    isYaml = text !== undefined
  if (isYaml || parsed === undefined) {
    parsed = await parseYaml(text ?? '', fieldValidation)
  }
  if (parsed.misfit !== undefined) throw badRequest(parsed.misfit)
  if (parsed.problem !== undefined) throw badRequest(unreadablePatch(type, parsed.problem, fieldValidation))
  if ((isYaml || mayNestTooDeep(body.length)) && nestsTooDeep(parsed.value, bodyDepthMax)) throw tooDeep()
  const { value } = parsed
  if (type === 'json' && text !== undefined && fieldValidation !== 'Ignore') {
    const { checkOperations, unknownOperationFields } = await import('./json-patch-operations.ts')
    checkOperations(value)
    const unknown = unknownOperationFields(value)
    const odd = unknown.size + parsed.duplicates.length === 0 ? [] : (await loadOddFields())(text, unknown)
    parsed = { value, duplicates: odd.map((each) => `json patch ${each}`) }
  }
  const change = { type, body: value, hasWrittenNumbers }
  const { duplicates } = parsed
  if (fieldValidation !== 'Strict') return { change, warnings: duplicates }
  if (type === 'apply' && duplicates.length > 0) {
    throw badRequest(
      `error strict decoding YAML: error converting YAML to JSON: ${strictText('yaml', duplicates).join(', ')}`,
    )
  }
  return { change: { ...change, duplicates }, warnings: [] }
}

/** Each kind of patch is read by another library, and a second one looks for unknown and duplicate fields where that is wanted. */
function unreadablePatch(
  type: PatchType,
  problem: string,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
): string {
  if (type === 'apply') return `error decoding YAML: error converting YAML to JSON: ${problem}`
  if (type === 'strategic') return problem
  if (fieldValidation !== 'Ignore') return `error decoding patch: ${problem}`
  return type === 'merge' ? 'Invalid JSON Patch' : problem
}

const deleteOptionsKind: ExpectedKind = {
  group: 'meta.k8s.io',
  kind: 'DeleteOptions',
  version: 'v1',
  schema: deleteOptionsSchema,
}

/** A DeleteOptions object; undefined for an empty body. Throws as `parseObject`, and BadRequest for another kind. */
export async function parseDeleteOptions(
  body: Buffer,
  contentType: string | undefined,
): Promise<RawDeleteOptions | undefined> {
  if (body.length === 0) return undefined
  const { value } = await parseObject(body, contentType, deleteOptionsKind, 'Ignore', undefined, optionsWording)
  const options = value ?? {}
  if (!isJsonObject(options)) throw badRequest(unreadableType(noTyped(options)))
  const { kind = 'DeleteOptions', apiVersion = 'meta.k8s.io/v1' } = options
  if (kind !== 'DeleteOptions') throw badRequest(notRegisteredAsOptions(String(apiVersion), String(kind)))
  // Without a kind: of options nothing more is said than the problem.
  return inGoTypes((goTypes) => compile(deleteOptionsSchema).decode(options, { kind: '', version: '', goTypes }).value)
}

/** What Go says of JSON that has neither a version nor a kind. */
const noTyped = (value: unknown): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ` +
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

interface Parsed {
  readonly value: unknown
  readonly duplicates: readonly string[]
  /** Why it could not be parsed. */
  readonly problem?: string
  /** Why no object can be made of it, although it is JSON. */
  readonly misfit?: string
}

/** Of what is no text JSON may be made; YAML is none, mostly from its first byte. */
function unreadable(body: Buffer): Parsed {
  const problem = jsonBytesError(body)
  if (!problem.startsWith('invalid character')) throw noText()
  return { value: undefined, duplicates: [], problem }
}

/**
 * Whole numbers stay what is written, though no JavaScript number holds them. Of an object of a built-in kind so do others, as far as it
 * matters how they are written.
 */
function parseJson(text: string, body: Buffer, definition: ExpectedKind): Parsed {
  const { schema } = definition
  return readJson(text, body, (isOdd) => {
    if (isCustom(definition)) return isOdd ? parseWellFormed(text, finiteNumber) : parseFiniteJson(text)
    return isOdd ? withNumbersOf(schema, parseWellFormed(text, writtenNumber)) : parseJsonOf(schema, text)
  })
}

/** A patch, whole numbers as `parseJson` has them, and others as they are written where that is asked. */
function parsePatchJson(text: string, body: Buffer, keepsWritten: boolean): Parsed {
  const readNumber = keepsWritten ? finiteWrittenNumber : finiteNumber
  return readJson(text, body, (isOdd) => {
    if (isOdd) return parseWellFormed(text, readNumber)
    return keepsWritten ? JSON.parse(text, readNumber) : parseFiniteJson(text)
  })
}

const finiteWrittenNumber: typeof finiteNumber = (key, value, context) => {
  finiteNumber(key, value, context)
  return writtenNumber(key, value, context)
}

/** `parse` is told whether a text may have half a character in it. */
function readJson(text: string, body: Buffer, parse: (isOdd: boolean) => unknown): Parsed {
  try {
    return { value: parse(text.includes('\\') && halfSurrogate.test(text)), duplicates: [] }
  } catch (error) {
    if (error instanceof InfiniteNumberError) return { value: undefined, duplicates: [], misfit: error.message }
    return { value: undefined, duplicates: [], problem: jsonBytesError(body) }
  }
}

/** Whether fields occur twice in a JSON text, where the request wants to hear of them. */
function repeatsFields(
  { value, problem, misfit }: Parsed,
  text: string | undefined,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
): boolean {
  if (text === undefined || (problem ?? misfit) !== undefined || fieldValidation === 'Ignore') return false
  // Deep values are refused by the caller; looking for duplicates in them would recurse as deep.
  if (mayNestTooDeep(text.length) && nestsTooDeep(value, bodyDepthMax)) return false
  return hasDuplicateFields(text, value)
}

/** What was parsed of a JSON text, with the fields that occur twice in it. */
async function withDuplicates({ value }: Parsed, text = ''): Promise<Parsed> {
  return { value, duplicates: (await loadOddFields())(text, new Set()) }
}

/** The same of an object, as the decoder of its kind reads it. */
async function withRepeated(
  parsed: Parsed,
  text: string,
  body: Buffer,
  definition: ExpectedKind,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
): Promise<Parsed> {
  const { schema } = definition
  const { duplicates } = fieldValidation === 'Ignore' ? { duplicates: [] } : await withDuplicates(parsed, text)
  // Custom ones are read into maps: the last is what counts.
  if (schema === undefined || isCustom(definition)) return { ...parsed, duplicates }
  const { parseRepeated } = await import('./repeated-fields.ts')
  return { ...readJson(text, body, () => withNumbersOf(schema, parseRepeated(text, schema))), duplicates }
}

/** Few bodies have such fields. */
const loadOddFields = async () => (await import('./odd-fields.ts')).oddFields

/** May be half of a surrogate pair, which is no character alone. */
const halfSurrogate = /\\u[dD][89a-fA-F]/

/** Halves of surrogate pairs become U+FFFD, as Go has it: they could not be written as UTF-8. */
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

async function parseYaml(text: string, fieldValidation: RegistryWriteOptions['fieldValidation']): Promise<Parsed> {
  const parsed = await readYaml(text)
  if (parsed === undefined) throw tooManyRequests(busyMessage, 1)
  return fieldValidation === 'Ignore' ? { ...parsed, duplicates: [] } : parsed
}

/** Neither is loaded before the first YAML comes. */
async function readYaml(text: string): Promise<Parsed | undefined> {
  if (text.length <= yamlInlineLengthMax) return (await import('./yaml-text.ts')).parseYamlText(text, true)
  return (await import('./yaml-thread.ts')).parseYamlInThread(text, true)
}

const noText = (): ApiError => badRequest('the body of the request is not valid UTF-8')

const tooDeep = (): ApiError => badRequest('exceeded max depth')

/** Bodies of this size are looked at before they are parsed, which takes half a second for millions of brackets. */
const scannedBytesMin = 64 * 1024

/** Of JSON: the shorter has no room for it, the longer was looked at as text. Characters are no more than bytes. */
const mayNestTooDeep = (length: number): boolean => length > 2 * bodyDepthMax && length < scannedBytesMin * 3

/** Throws where a JSON text nests too deep or holds too many values. Whether its brackets match is for the parser to say. */
function checkText(body: Buffer): void {
  if (body.length < scannedBytesMin) return
  let depth = 0
  /** An item begins a list or an object, or follows a comma. */
  let items = 0
  let isEmpty = false
  let inString = false
  for (let position = 0; position < body.length; position++) {
    const byte = body[position]
    if (byte === quote) inString = !inString
    else if (inString) {
      if (byte === backslash) position++
    } else if (byte === openBrace || byte === openBracket) {
      if (++depth > bodyDepthMax) throw tooDeep()
      items++
      isEmpty = true
      continue
    } else if (byte === closeBrace || byte === closeBracket) {
      depth--
      if (isEmpty) items--
    } else if (byte === comma) items++
    else if (byte === space || byte === lineFeed) continue
    isEmpty = false
  }
  checkValuesCount(items)
}

const lineFeed = 0x0a
const space = 0x20
const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

function nestsTooDeep(value: unknown, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthLeft === 0) return true
  for (const key in value) if (nestsTooDeep((value as Record<string, unknown>)[key], depthLeft - 1)) return true
  return false
}

function namedKind(value: unknown, definition: ExpectedKind) {
  const { kind, apiVersion } = (value ?? {}) as { readonly kind?: unknown; readonly apiVersion?: unknown }
  return {
    kind: typeof kind === 'string' && kind !== '' ? kind : definition.kind,
    version:
      typeof apiVersion === 'string' && apiVersion !== '' ? (apiVersion.split('/').at(-1) ?? '') : definition.version,
  }
}

const summaryBytesMax = 30

/** The beginning of a body as upstream shows it: text where it looks like JSON, else in hexadecimal. */
function summaryOf(body: Buffer): string {
  if (body.length === 0) return '<empty>'
  const head = body.subarray(0, summaryBytesMax)
  const shown = body[0] === 0x7b ? head.toString() : head.toString('hex')
  return body.length > summaryBytesMax ? `${shown} ...` : shown
}
