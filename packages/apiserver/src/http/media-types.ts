import { ApiError, type ResourceDefinition, unsupportedMediaType } from '@coracle/api'
import type { PatchType } from '@coracle/client'

/** One entry of an `Accept` header. */
export interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

/** What is read of an `Accept` header: so many clauses, and parts of each. A header may be long, and anybody may send one. */
export const clausesMax = 200
export const clausePartsMax = 50

/** Media types that bodies may be written in; protobuf only of kinds that have it. */
const bodyTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf'] as const

export const notAcceptable = (accepted: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)

/**
 * Throws a 406 unless an `Accept` header names one of the types that a path is served in, or any type. Upstream's routes, which are those
 * of built-in kinds and of what the server says of itself, judge before anybody looks closer: parameters do not count, and a pattern
 * such as `application/*` is no type.
 */
export function requireServedType(accept: string | undefined, served: readonly string[]): void {
  if (accept === undefined || accept === '') return
  const types = accept.split(',', clausesMax).map((clause) => (clause.split(';', 1)[0] ?? '').trim())
  if (types.some((type) => type === '*/*' || served.includes(type))) return
  throw new ApiError(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${served.join(', ')}`, {})
}

/** The clauses of an `Accept` header, the best first; of equal ones those that name a type before those that take any. */
export function clausesOf(accept: string): readonly Clause[] {
  return accept
    .split(',', clausesMax)
    .map((text) => {
      const [type = '', ...rest] = text.split(';', clausePartsMax).map(trimSpaces)
      const parameters = new Map(rest.flatMap(parameterOf))
      const quality = Number(parameters.get('q') ?? 1)
      return { type, parameters, quality: Number.isNaN(quality) ? 0 : quality }
    })
    .sort((a, b) => b.quality - a.quality || wildcardsIn(a) - wildcardsIn(b))
}

const wildcardsIn = ({ type }: Clause): number => type.split('*').length - 1

/** Whether an entry of an `Accept` header, or a part of it, takes in this media type. */
export const matches = (pattern: string, mediaType: string): boolean =>
  pattern === mediaType || pattern === '*/*' || pattern === `${mediaType.slice(0, mediaType.indexOf('/'))}/*`

/** Of white space upstream takes none but spaces here. Without a pattern: it would look at spaces within the text again and again. */
function trimSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) === space) start += 1
  while (end > start && text.charCodeAt(end - 1) === space) end -= 1
  return text.slice(start, end)
}

const space = 0x20

/** What is no name and one value is passed over. */
function parameterOf(text: string): readonly [string, string][] {
  const [name = '', value = '', ...more] = text.split('=', 3)
  return value === '' || more.length > 0 ? [] : [[trimSpaces(name), trimSpaces(value)]]
}

/** The media type of a `Content-Type` header without its parameters; '' where it is malformed, as Go's mime.ParseMediaType has it. */
function mediaTypeOf(contentType: string): string {
  const [text = ''] = contentType.split(';', 1)
  const type = text.trim().toLowerCase()
  return mediaTypePattern.test(type) && hasParameters(contentType.slice(text.length)) ? type : ''
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const mediaTypePattern = new RegExp(`^${token}(?:/${token})?$`)
const parameterPattern = new RegExp(`^\\s*;\\s*(${token})\\s*=\\s*(${token}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`)

/** Whether what follows a media type is parameters, none of them with two values. One semicolon may follow them. */
function hasParameters(text: string): boolean {
  const values = new Map<string, string>()
  let rest = text
  while (rest.trim() !== '' && rest.trim() !== ';') {
    const [all, name = '', value = ''] = parameterPattern.exec(rest) ?? []
    if (all === undefined) return false
    const key = name.toLowerCase()
    if ((values.get(key) ?? value) !== value) return false
    values.set(key, value)
    rest = rest.slice(all.length)
  }
  return true
}

/** How a body is written. Nothing said means JSON; what is none of these is 415. */
export function bodyFormatOf(contentType: string | undefined): 'json' | 'yaml' | 'protobuf' {
  // What nearly all clients say needs no closer look.
  if (contentType === undefined || contentType === '' || contentType === 'application/json') return 'json'
  switch (mediaTypeOf(contentType)) {
    case 'application/json':
      return 'json'
    case 'application/yaml':
      return 'yaml'
    case 'application/vnd.kubernetes.protobuf':
      return 'protobuf'
    default:
      throw unknownBodyFormat()
  }
}

const patchTypes: ReadonlyMap<string, PatchType> = new Map<string, PatchType>([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
])

/**
 * Which kind of patch a body is: 415 for those not served. Upstream's routes of built-in kinds refuse these before anybody reads them,
 * and say no more than that.
 */
export function patchTypeOf(
  contentType: string | undefined,
  { schema }: Pick<ResourceDefinition, 'schema'>,
): PatchType {
  // Unlike other types these are compared letter by letter, and what follows them is not read.
  const type = patchTypes.get((contentType ?? '').split(';', 1)[0] ?? '')
  const isCustom = schema.dialect === 'structural'
  // Strategic patches need types of Go.
  if (type !== undefined && !(isCustom && type === 'strategic')) return type
  if (!isCustom) throw new ApiError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {})
  throw unknownBodyFormat([...patchTypes.keys()].filter((each) => patchTypes.get(each) !== 'strategic'))
}

/** The answer to a body of a type that is not taken; it names those that are. */
export const unknownBodyFormat = (accepted: readonly string[] = bodyTypes): ApiError =>
  unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
