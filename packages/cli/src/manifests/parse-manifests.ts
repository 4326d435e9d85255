import { ApiError, isJsonObject, type JsonObject, type KubernetesObject } from '@coracle/api'
import { convertFormerVersion, convertLegacy } from '@coracle/api/legacy'
import { parseAllDocuments, type Tags } from 'yaml'
import { CliError } from '../cli-error.ts'

/** An object as a file has it, in today's form. */
export interface Manifest {
  readonly object: KubernetesObject
  /** The file, as messages name it. */
  readonly source: string
  /** The version in which the file has it, where that is served no more. */
  readonly formerVersion?: string
}

/**
 * The objects in a text of JSON or YAML, one document after another; lists are taken apart, the oldest form (v1beta1)
 * and versions that are served no more are converted. Throws a CliError that names the place, in the words of kubectl's validation
 * where objects are written; or an ApiError where an object of the old form is invalid.
 */
export function parseManifests(text: string, source: string, isWritten = false): readonly Manifest[] {
  const { manifests, failures } = readManifests(text, source, isWritten)
  if (failures.length > 0) throw failures[0]
  return manifests
}

/** What a text has: objects, and why others are none. */
export interface ReadManifests {
  readonly manifests: readonly Manifest[]
  readonly failures: readonly unknown[]
}

/** As `parseManifests`, for who goes on with the objects that can be read: of a text that is no YAML those before the mistake. */
export function readManifests(text: string, source: string, isWritten = false): ReadManifests {
  const { values, failure } = parseDocuments(text, source)
  const manifests: Manifest[] = []
  const failures: unknown[] = []
  for (const value of values) {
    try {
      manifests.push(...flatten(value, { source, isWritten }, {}))
    } catch (error) {
      failures.push(error)
    }
  }
  return { manifests, failures: failure === undefined ? failures : [...failures, failure] }
}

/** YAML as Kubernetes reads it: 1.1 (`yes` is true, 0644 is octal), but times, clock times as numbers, and dates stay text. */
const kubernetesTags = (tags: Tags): Tags =>
  tags.filter(
    (tag) =>
      typeof tag !== 'object' ||
      (tag.tag !== 'tag:yaml.org,2002:timestamp' && !('format' in tag && tag.format === 'TIME')),
  )

/** The documents of a text, up to the first that cannot be parsed. */
function parseDocuments(
  text: string,
  source: string,
): { readonly values: readonly unknown[]; readonly failure?: CliError } {
  const json = parseJson(text)
  if (json !== undefined) return { values: [json] }
  const documents = parseAllDocuments(text, { version: '1.1', customTags: kubernetesTags })
  const values: unknown[] = []
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors
    if (error !== undefined) {
      const [start] = error.linePos ?? []
      const place = start === undefined ? source : `${source}:${start.line}:${start.col}`
      const message = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '')
      return { values, failure: new CliError(`${place}: ${message}`) }
    }
    const value: unknown = document.toJS()
    if (value !== null && value !== undefined) values.push(value)
  }
  return { values }
}

/** Most JSON files are large ones that programs wrote; they need no YAML parser. */
function parseJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Kind and version of a typed list's items, which do not repeat them. */
interface ItemType {
  readonly apiVersion?: string
  readonly kind?: string
}

/** Where documents come from, and whether what they hold is written. */
interface Origin {
  readonly source: string
  readonly isWritten: boolean
}

function flatten(value: unknown, origin: Origin, type: ItemType): readonly Manifest[] {
  const { source } = origin
  if (!isJsonObject(value)) {
    if (origin.isWritten) throw invalid(source, 'invalid object to validate')
    throw new CliError(`${source}: an object is expected, and this is ${JSON.stringify(value)?.slice(0, 40)}`)
  }
  const object = { ...type, ...value }
  checkType(object, origin)
  if (object.kind.endsWith('List') && Array.isArray(object.items)) {
    const itemType =
      object.kind === 'List' ? {} : { apiVersion: object.apiVersion, kind: object.kind.slice(0, -'List'.length) }
    return object.items.flatMap((item: unknown) => flatten(item, origin, itemType))
  }
  const former = convertFormerVersion(object)
  if (former !== undefined) return [{ object: toObject(former.object), source, formerVersion: object.apiVersion }]
  return [{ object: toObject(convert(object, source)), source }]
}

function checkType(
  object: JsonObject,
  { source, isWritten }: Origin,
): asserts object is JsonObject & { apiVersion: string; kind: string } {
  const missing = ['apiVersion', 'kind'].filter((field) => typeof object[field] !== 'string' || object[field] === '')
  if (missing.length === 0) return
  const problems = missing.map((field) => `${field} not set`).join(', ')
  if (isWritten) throw invalid(source, missing.length === 1 ? problems : `[${problems}]`)
  if (missing.includes('kind')) {
    throw new CliError(`unable to decode "${source}": Object 'Kind' is missing in '${JSON.stringify(object)}'`)
  }
  throw new CliError(`${source}: ${problems}`)
}

/** As kubectl's validation puts it, which Coracle's server does: what lacks its type cannot be sent to it. */
const invalid = (source: string, problem: string): CliError =>
  new CliError(
    `error validating "${source}": error validating data: ${problem}; if you choose to ignore these errors, turn validation off with --validate=false`,
  )

function convert(object: JsonObject, source: string): unknown {
  try {
    return convertLegacy(object)
  } catch (error) {
    if (error instanceof ApiError) throw error
    throw new CliError(`${source}: ${error instanceof Error ? error.message : error}`)
  }
}

function toObject(value: unknown): KubernetesObject {
  const object = value as KubernetesObject
  return isJsonObject(object.metadata) ? object : { ...object, metadata: {} }
}
