import { ApiError, badRequest, unsupportedMediaType } from '@coracle/api'

/** How a response is to look. */
export interface Rendering {
  readonly format: 'json' | 'yaml'
  /** Undefined: the object itself. The version of meta.k8s.io is that of the answer's apiVersion. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly metaVersion: 'v1' | 'v1beta1'
}

/** One entry of an `Accept` header. */
interface Clause {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

const plainJson: Rendering = { format: 'json', metaVersion: 'v1' }
const plainYaml: Rendering = { format: 'yaml', metaVersion: 'v1' }

/** Clients send few different headers, so what they mean is remembered, up to this many. */
const rememberedMax = 256
const remembered = new Map<string, Rendering>()

/** Media types that objects are offered in. Protobuf is none of them: clients that would rather have it take JSON too. */
const offered = ['application/json', 'application/yaml'] as const

/**
 * What an `Accept` header asks for: JSON where it says nothing. The first clause (by quality, then order) that can be
 * served wins; throws NotAcceptable (406) where none can.
 */
export function negotiate(accept: string | undefined): Rendering {
  if (accept === undefined || accept === '' || accept === 'application/json' || accept === '*/*') return plainJson
  const known = remembered.get(accept)
  if (known !== undefined) return known
  const rendering = clausesOf(accept)
    .map(renderingOf)
    .find((each) => each !== undefined)
  if (rendering === undefined) throw notAcceptable(offered)
  if (remembered.size >= rememberedMax) remembered.clear()
  remembered.set(accept, rendering)
  return rendering
}

export const notAcceptable = (accepted: readonly string[]): ApiError =>
  new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)

/** Whether an `Accept` header takes this media type, whatever its parameters. */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined || accept === '') return true
  return clausesOf(accept).some((clause) => matches(clause.type, mediaType))
}

/** The clauses of an `Accept` header, the best first. */
export function clausesOf(accept: string): readonly Clause[] {
  return accept
    .split(',')
    .map((text) => {
      const [type = '', ...rest] = text.split(';').map((part) => part.trim())
      const parameters = new Map(rest.map((part) => splitOnce(part, '=')))
      const quality = Number(parameters.get('q') ?? 1)
      return { type, parameters, quality: Number.isNaN(quality) ? 1 : quality }
    })
    .sort((a, b) => b.quality - a.quality)
}

const matches = (pattern: string, mediaType: string): boolean =>
  pattern === mediaType || pattern === '*/*' || pattern === `${mediaType.slice(0, mediaType.indexOf('/'))}/*`

function renderingOf(clause: Clause): Rendering | undefined {
  const format = matches(clause.type, offered[0]) ? 'json' : clause.type === offered[1] ? 'yaml' : undefined
  if (format === undefined) return undefined
  const { parameters } = clause
  const stream = parameters.get('stream') ?? ''
  if (stream !== '' && stream !== 'watch') return undefined
  if (!parameters.has('as') && !parameters.has('g') && !parameters.has('v')) {
    return format === 'json' ? plainJson : plainYaml
  }
  const as = parameters.get('as')
  const version = parameters.get('v')
  if (parameters.get('g') !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined
  if (as !== 'Table' && as !== 'PartialObjectMetadata' && as !== 'PartialObjectMetadataList') return undefined
  return { format, as, metaVersion: version }
}

function splitOnce(text: string, separator: string): [string, string] {
  const position = text.indexOf(separator)
  if (position < 0) return [text.trim(), '']
  return [text.slice(0, position).trim(), text.slice(position + separator.length).trim()]
}

/** The media type of a `Content-Type` header without its parameters; '' where there is none. */
export const mediaTypeOf = (contentType: string | undefined): string =>
  contentType === undefined ? '' : (contentType.split(';')[0] ?? '').trim().toLowerCase()

/** How a body is written. Nothing said means JSON; what is none of these is 415. */
export function bodyFormatOf(contentType: string | undefined): 'json' | 'yaml' | 'protobuf' {
  switch (mediaTypeOf(contentType)) {
    case '':
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

const patchTypes: ReadonlyMap<string, 'json' | 'merge' | 'strategic'> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
])

/** Which kind of patch a body is: 415 for those not served. */
export function patchTypeOf(contentType: string | undefined): 'json' | 'merge' | 'strategic' {
  const type = patchTypes.get(mediaTypeOf(contentType))
  if (type === undefined) throw unknownBodyFormat([...patchTypes.keys()])
  return type
}

/** The answer to a body of a type that is not taken; it names those that are. */
export const unknownBodyFormat = (accepted: readonly string[] = offered): ApiError =>
  unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

/** Which objects a table's rows carry; 400 for anything that is no such choice. */
export function includeObjectOf(value: string | undefined): 'None' | 'Metadata' | 'Object' {
  if (value === undefined || value === '') return 'Metadata'
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: ` +
      `must be 'Metadata', 'Object', 'None', or empty`,
  )
}
