import type { IncomingMessage } from 'node:http'
import {
  badRequest,
  compile,
  deleteOptionsSchema,
  type ObjectSchema,
  requestTooLarge,
  tooManyRequests,
} from '@coracle/api'
import type { RegistryWriteOptions } from '../registry-contract.ts'
import { duplicateFields, jsonSyntaxError } from './json-text.ts'
import { bodyFormatOf, unknownBodyFormat } from './media-types.ts'
import { decodeProtobuf, hasProtobufFields, openProtobuf } from './protobuf.ts'
import { ProtobufError } from './protobuf-wire.ts'
import type { RawDeleteOptions } from './query.ts'

/** Upstream's limit of a request body. */
export const bodyBytesMax = 3 * 1024 * 1024

/** What all bodies being received may take together: more than this, and clients are asked to come back. */
export const bodiesBytesMax = 256 * 1024 * 1024

/** Deeper nesting is refused before anything walks the value. */
export const bodyDepthMax = 200

/** A body as parsed, and what was odd about it. */
export interface ParsedBody {
  readonly value: unknown
  /** `duplicate field "spec.replicas"`: texts for `Warning` headers. */
  readonly warnings: readonly string[]
}

/** Upstream's words for 429. */
export const busyMessage = 'too many requests, please try again later'

const tooLarge = () => requestTooLarge(`Request entity too large: limit is ${bodyBytesMax}`)

/**
 * What is received and thrown away of a body that is too long, so that its sender gets to read why. Beyond this the
 * connection is closed on it.
 */
export const discardedBytesMax = 32 * 1024 * 1024

/** Reads bodies within their limits, one by one and together. */
export class BodyReader {
  #heldBytes = 0

  /**
   * The whole body. Rejects with RequestEntityTooLarge (413) where it is too long, with TooManyRequests (429) where
   * all bodies together are too much.
   */
  read(request: IncomingMessage): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let chunks: Buffer[] = []
      let length = 0
      let held = 0
      let problem: unknown
      const release = () => {
        this.#heldBytes -= held
        held = 0
      }
      const settle = () => {
        release()
        request.off('data', onData).off('end', onEnd).off('error', fail).off('close', onClose)
      }
      const fail = (error: unknown) => {
        settle()
        reject(error)
      }
      const discard = (why: unknown) => {
        problem = why
        chunks = []
        release()
      }
      const onData = (chunk: Buffer) => {
        length += chunk.length
        if (problem !== undefined) {
          if (length > discardedBytesMax) fail(problem)
          return
        }
        held += chunk.length
        this.#heldBytes += chunk.length
        chunks.push(chunk)
        if (length > bodyBytesMax) discard(tooLarge())
        else if (this.#heldBytes > bodiesBytesMax) discard(tooManyRequests(busyMessage, 1))
      }
      const onEnd = () => {
        settle()
        const [only] = chunks
        if (problem !== undefined) reject(problem)
        else resolve(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length))
      }
      const onClose = () => fail(problem ?? badRequest('unexpected EOF'))
      if (Number(request.headers['content-length'] ?? 0) > discardedBytesMax) return reject(tooLarge())
      request.on('data', onData).on('end', onEnd).on('error', fail).on('close', onClose)
    })
  }
}

/** The kind a body should be of. */
export interface ExpectedKind {
  readonly kind: string
  readonly version: string
  /** Needed for protobuf alone. */
  readonly schema?: ObjectSchema
}

/**
 * An object from the body of a write. Fields that occur twice are an error in strict mode, warnings in warn mode.
 * Throws BadRequest (400) where the body cannot be read, UnsupportedMediaType (415) where it is of another type.
 */
export async function parseObject(
  body: Buffer,
  contentType: string | undefined,
  definition: ExpectedKind,
  fieldValidation: RegistryWriteOptions['fieldValidation'],
): Promise<ParsedBody> {
  const format = bodyFormatOf(contentType)
  if (format === 'protobuf') return parseProtobuf(body, definition)
  const text = decodeText(body)
  const parsed = format === 'json' ? parseJson(text, fieldValidation) : await parseYaml(text, fieldValidation)
  if (parsed.problem !== undefined) {
    const summary = summaryOf(body)
    throw badRequest(
      `the object provided is unrecognized (must be of type ${definition.kind}): couldn't get version/kind; ` +
        `json parse error: ${parsed.problem} (${summary})`,
    )
  }
  refuseDepth(body, parsed.value)
  if (parsed.duplicates.length > 0 && fieldValidation === 'Strict') {
    const { kind, version } = namedKind(parsed.value, definition)
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${definition.kind}: ` +
        `strict decoding error: ${parsed.duplicates.join(', ')}`,
    )
  }
  return { value: parsed.value, warnings: parsed.duplicates }
}

function parseProtobuf(body: Buffer, definition: ExpectedKind): ParsedBody {
  const { kind, schema } = definition
  if (schema === undefined || !hasProtobufFields(schema)) throw unknownBodyFormat()
  const envelope = orBadRequest(
    () => openProtobuf(body),
    (why) => `the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(body)})`,
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
    (why) => `${named.kind} in version ${JSON.stringify(named.version)} cannot be handled as a ${kind}: ${why}`,
  )
  return { value: { ...type, ...value }, warnings: [] }
}

function orBadRequest<T>(read: () => T, explain: (why: string) => string): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(explain(error.message))
    throw error
  }
}

/** A patch: always JSON. */
export function parsePatch(body: Buffer, fieldValidation: RegistryWriteOptions['fieldValidation']): ParsedBody {
  const parsed = parseJson(decodeText(body), fieldValidation)
  if (parsed.problem !== undefined) throw badRequest(`error decoding patch: ${parsed.problem}`)
  refuseDepth(body, parsed.value)
  if (parsed.duplicates.length > 0 && fieldValidation === 'Strict') {
    throw badRequest(`strict decoding error: ${parsed.duplicates.join(', ')}`)
  }
  return { value: parsed.value, warnings: parsed.duplicates }
}

const deleteOptionsKind: ExpectedKind = { kind: 'DeleteOptions', version: 'v1', schema: deleteOptionsSchema }

/** A DeleteOptions object; undefined for an empty body. */
export async function parseDeleteOptions(
  body: Buffer,
  contentType: string | undefined,
): Promise<RawDeleteOptions | undefined> {
  if (body.length === 0) return undefined
  const { value } = await parseObject(body, contentType, deleteOptionsKind, 'Ignore')
  const { kind = 'DeleteOptions' } = (value ?? {}) as { readonly kind?: unknown }
  if (kind !== 'DeleteOptions') throw badRequest('decoded object cannot be converted to DeleteOptions')
  const decoded = compile(deleteOptionsSchema).decode(value, deleteOptionsKind)
  return decoded.value
}

interface Parsed {
  readonly value: unknown
  readonly duplicates: readonly string[]
  /** Why it could not be parsed. */
  readonly problem?: string
}

function parseJson(text: string, fieldValidation: RegistryWriteOptions['fieldValidation']): Parsed {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { value: undefined, duplicates: [], problem: jsonSyntaxError(text) }
  }
  if (fieldValidation === 'Ignore') return { value, duplicates: [] }
  // Deep values are refused by the caller; looking for duplicates in them would recurse as deep.
  if (text.length > 2 * bodyDepthMax && nestsTooDeep(value, bodyDepthMax)) return { value, duplicates: [] }
  return { value, duplicates: duplicateFields(text, value).map((path) => `duplicate field ${JSON.stringify(path)}`) }
}

async function parseYaml(text: string, fieldValidation: RegistryWriteOptions['fieldValidation']): Promise<Parsed> {
  const { LineCounter, parseAllDocuments } = await import('yaml')
  const lines = new LineCounter()
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    prettyErrors: false,
    // Go's reader takes `yes` and `0755` as YAML 1.1 does, but neither times nor numbers to the base of 60.
    version: '1.1',
    customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !isForeign(tag)),
  })
  const [document] = Array.isArray(documents) ? documents : []
  if (document === undefined) return { value: null, duplicates: [] }
  const isDuplicate = (error: { readonly code: string }): boolean => error.code === 'DUPLICATE_KEY'
  const problem = document.errors.find((error) => !isDuplicate(error))
  if (problem !== undefined) {
    const { line } = lines.linePos(problem.pos[0])
    return { value: undefined, duplicates: [], problem: `yaml: line ${line}: ${problem.message}` }
  }
  const duplicates = document.errors.filter(isDuplicate).map((error) => {
    const { line } = lines.linePos(error.pos[0])
    const key = /^[^:\n]*/.exec(text.slice(error.pos[0]))?.[0].trim() ?? ''
    return `yaml: unmarshal errors:\n  line ${line}: key ${JSON.stringify(key)} already set in map`
  })
  try {
    // The limit on aliases keeps a short text from standing for a huge value.
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return { value, duplicates: fieldValidation === 'Ignore' ? [] : duplicates }
  } catch (error) {
    return { value: undefined, duplicates: [], problem: `yaml: ${(error as Error).message}` }
  }
}

/** YAML 1.1 types that JSON has no place for: their texts stay texts. */
const isForeign = (tag: { readonly tag: string; readonly format?: string | undefined }): boolean =>
  /:(timestamp|binary|omap|pairs|set)$/.test(tag.tag) || tag.format === 'TIME'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decodeText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw badRequest('the body of the request is not valid UTF-8')
  }
}

function refuseDepth(body: Buffer, value: unknown): void {
  if (body.length > bodyDepthMax && nestsTooDeep(value, bodyDepthMax)) throw badRequest('exceeded max depth')
}

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
