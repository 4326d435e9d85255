import {
  ApiError,
  apiVersionOf,
  builtinResources,
  isJsonObject,
  type JsonObject,
  type KubernetesObject,
  parseExactJson,
  sortKeys,
} from '@coracle/api'
import { findJsonFault } from '@coracle/api/json-syntax'
import { convertFormerVersion, convertLegacy } from '@coracle/api/legacy'
import { asGoReads, GoYamlError, goTags, withExactIntegers } from '@coracle/client/go-yaml'
import { type Document, isCollection, parseAllDocuments, parseDocument, type Tags, visit } from 'yaml'
import { CliError } from '../cli-error.ts'
import { heldAsStruct } from './as-struct.ts'
import { readDocument } from './go-yaml/find-fault.ts'
import { readEntries } from './read-entries.ts'

/** An object as a file has it, in today's form. */
export interface Manifest {
  readonly object: KubernetesObject
  /** The file, as messages name it. */
  readonly source: string
  /** The list of the file that it is an item of. */
  readonly list?: ManifestList
  /** It was read to be written. */
  readonly isWritten?: true
  /** The version in which the file has it, where that is served no more. */
  readonly formerVersion?: string
}

/** Stands for one list of a file: what is wrong with its items is, as with kubectl, one error. */
export type ManifestList = Readonly<Record<never, never>>

/**
 * The objects in a text of JSON or YAML, one document after another; lists are taken apart, the oldest form (v1beta1)
 * and versions that are served no more are converted. Throws a CliError that names the place, in the words of kubectl's validation
 * where objects are written; or an ApiError where an object of the old form is invalid.
 */
export function parseManifests(text: string, source: string, decoding?: Decoding): readonly Manifest[] {
  const { manifests, failures } = readManifests(text, source, decoding === undefined ? {} : { decoding })
  if (failures.length > 0) throw failures[0]
  return manifests
}

/**
 * What is expected of objects, and so the words for what they lack: those that are written are checked as kubectl's validation does,
 * and some of its commands know only the kinds that are built in.
 */
export type Decoding = 'unstructured' | 'written' | 'typed'

/** How the values of a text are read. */
export interface Reading {
  /** `unstructured` unless given. */
  readonly decoding?: Decoding
  /** False: lists are objects, and not taken apart. */
  readonly flattens?: boolean
}

/** What a text has: objects, and why others are none. */
export interface ReadManifests {
  readonly manifests: readonly Manifest[]
  readonly failures: readonly unknown[]
  /** Both, in their order. */
  readonly entries: readonly (Manifest | UnreadableDocument)[]
}

/** A part of a text that is no object. */
export interface UnreadableDocument {
  readonly failure: unknown
  /** The list that it is an item of. */
  readonly list?: ManifestList
}

/** As `parseManifests`, for who goes on with the objects that can be read: of a text that is no YAML those before the mistake. */
export function readManifests(
  text: string,
  source: string,
  { decoding = 'unstructured', flattens = true }: Reading = {},
): ReadManifests {
  const { values, failure, isJson = false } = parseDocuments(text, source)
  const entries: (Manifest | UnreadableDocument)[] = []
  for (const value of values) {
    try {
      // One by one: as arguments of one call a long list would be too many.
      for (const entry of flatten(value, { source, decoding, flattens, isJson }, {})) entries.push(entry)
    } catch (error) {
      entries.push({ failure: error })
    }
  }
  return readEntries(failure === undefined ? entries : [...entries, { failure }])
}

/** What a text has; `failure` is why no more. */
interface Documents {
  readonly values: readonly unknown[]
  readonly failure?: CliError
  /** Messages show what they hold as it is written. */
  readonly isJson?: true
}

/** The documents of a text, up to the first that cannot be parsed. */
function parseDocuments(text: string, source: string): Documents {
  const json = parseJson(text)
  if (json !== undefined) return { values: [json], isJson: true }
  // What stands between documents in another form is not read as the YAML parser does.
  if (/^(\.\.\.|%|---\s*[^\s#])/m.test(text)) return parseOneByOne(text, source)
  const documents = parseAllDocuments(text, yamlOptions)
  const values: unknown[] = []
  for (const document of Array.isArray(documents) ? documents : []) {
    if (document.errors.length > 0 || problemOf(document) !== undefined) return parseOneByOne(text, source)
    const value: unknown = document.toJS()
    if (value !== null && value !== undefined) values.push(value)
  }
  return { values }
}

/** How the YAML library reads what Kubernetes reads. */
export const yamlOptions = {
  version: '1.1',
  customTags: (tags: Tags) => withExactIntegers(goTags(tags)),
  uniqueKeys: false,
} as const

/** What Go's reader, unlike the library's, has against a document, which is then as Go reads it; undefined where there is nothing. */
function problemOf(document: Document.Parsed): string | undefined {
  const invalidKey = invalidKeyOf(document)
  if (invalidKey !== undefined) return `yaml: invalid map key: ${invalidKey}`
  try {
    asGoReads(document)
    return undefined
  } catch (error) {
    if (error instanceof GoYamlError) return error.message
    throw error
  }
}

/** The documents of a text in which one is wrong, told in the words of kubectl, which reads each by itself. */
function parseOneByOne(text: string, source: string): Documents {
  const fail = (values: readonly unknown[], reason: string) => ({
    values,
    failure: new CliError(`error parsing ${source}: ${reason}`),
  })
  if (/^\s*\{/.test(text)) {
    const { values, rest, failure } = leadingJson(text)
    if (failure !== undefined) return fail(values, failure)
    if (values.length > 0) {
      // What follows one JSON value may be YAML; where it is none, it is the JSON that is told of.
      const others = parseOneByOne(rest, source)
      const isNoYaml = others.failure !== undefined && parseOneByOne(firstDocument(rest), source).failure !== undefined
      return isNoYaml
        ? fail(values, jsonReason(rest, text.length - rest.length))
        : { ...others, values: [...values, ...others.values] }
    }
  }
  const values: unknown[] = []
  for (const part of splitDocuments(text)) {
    const [, separator] = /^---\s*([^\s#].*)$/m.exec(part) ?? []
    if (separator !== undefined) return fail(values, `invalid Yaml document separator: ${separator.trimEnd()}`)
    const { fault, end } = readDocument(part)
    const looksLikeJson = values.length === 0 && /^\s*\{/.test(text)
    if (fault !== undefined) return fail(values, looksLikeJson ? jsonReason(text) : yamlReason(fault))
    const document = parseDocument(part.slice(0, end), yamlOptions)
    const [error] = document.errors
    const invalidKey = invalidKeyOf(document)
    const problem = error === undefined || invalidKey !== undefined ? problemOf(document) : undefined
    if (problem !== undefined) return fail(values, looksLikeJson ? jsonReason(text) : `${conversion}${problem}`)
    // Go's YAML takes it: what this parser says of it has to do.
    if (error !== undefined) return fail(values, yamlReason(`${error.message.split('\n')[0]}`))
    const value: unknown = document.toJS()
    if (value !== null && value !== undefined) values.push(value)
  }
  return { values }
}

/** The JSON values that a text begins with, one after another, and the rest where that is not JSON but may be YAML. */
function leadingJson(text: string): { values: readonly unknown[]; rest: string; failure?: string } {
  const values: unknown[] = []
  let rest = text
  while (rest.trim() !== '') {
    const fault = findJsonFault(rest)
    const length = fault === undefined ? rest.length : fault.offset - 1
    const isValue = fault === undefined || fault.message.endsWith('after top-level value')
    if (!isValue && values.length > 0 && fault.isEnd) return { values, rest, failure: 'unexpected EOF' }
    if (!isValue && values.length > 1) return { values, rest, failure: fault.message }
    if (!isValue) return { values, rest }
    values.push(parseExactJson(rest.slice(0, length)))
    rest = rest.slice(length)
  }
  return { values, rest: '' }
}

/** What stands before the next separator of documents; one at the beginning is part of it. */
function firstDocument(text: string): string {
  const lines = text.trimStart().split('\n')
  const end = lines.findIndex((line, index) => index > 0 && line.startsWith('---'))
  return (end < 0 ? lines : lines.slice(0, end)).join('\n')
}

const conversion = 'error converting YAML to JSON: '

const yamlReason = (problem: string): string => `${conversion}yaml: ${problem}`

/** Why a text that begins as JSON does is none; `before` is how much of it stands before this text. */
function jsonReason(text: string, before = 0): string {
  const { message, offset, isEnd } = findJsonFault(text) ?? { message: '', offset: 0, isEnd: true }
  return isEnd
    ? 'unexpected EOF'
    : `json: offset ${before + offset}: ${message.replace('after top-level value', 'looking for beginning of value')}`
}

/** The documents of a text, each with a line feed at its end. */
function splitDocuments(text: string): readonly string[] {
  const parts = ['']
  for (const line of text.split(/(?<=\n)/)) {
    if (/^---\s*(#.*)?$/.test(line.trimEnd())) parts.push('')
    else parts.push(`${parts.pop() ?? ''}${line}`)
  }
  return parts.filter((part) => part !== '').map((part) => (part.endsWith('\n') ? part : `${part}\n`))
}

/** The first key that is no text, number or the like, as Go writes it: that of an unquoted template, `{{ .Values.name }}`. */
function invalidKeyOf(document: Document.Parsed): string | undefined {
  let found: string | undefined
  visit(document, {
    Pair(_, { key }) {
      if (!isCollection(key)) return undefined
      found = goSyntax(key.toJS(document, { mapAsMap: true }))
      return visit.BREAK
    },
  })
  return found
}

/** A value as Go's `%#v` writes it. */
function goSyntax(value: unknown): string {
  if (value instanceof Map) {
    const pairs = [...value].map(([key, each]) => `${goSyntax(key)}:${goSyntax(each)}`)
    return `map[interface {}]interface {}{${pairs.sort().join(', ')}}`
  }
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  return value === null || value === undefined ? 'interface {}(nil)' : JSON.stringify(value)
}

/** Most JSON files are large ones that programs wrote; they need no YAML parser. */
function parseJson(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}

/** Kind and version of a typed list's items, which do not repeat them. */
interface ItemType {
  readonly apiVersion?: string
  readonly kind?: string
}

/** Where documents come from, and what is expected of what they hold. */
interface Origin {
  readonly source: string
  readonly decoding: Decoding
  readonly flattens: boolean
  readonly isJson: boolean
}

function flatten(
  value: unknown,
  origin: Origin,
  type: ItemType,
  list?: ManifestList,
): readonly (Manifest | UnreadableDocument)[] {
  const { source } = origin
  if (!isJsonObject(value)) {
    if (origin.decoding === 'written') throw invalid(source, 'invalid object to validate')
    const reason = `json: cannot unmarshal ${jsonType(value)} into Go value of type`
    throw new CliError(
      origin.decoding === 'typed'
        ? `unable to decode "${source}": couldn't get version/kind; json parse error: ${reason} ${typeMeta}`
        : `unable to decode "${source}": ${reason} unstructured.detector`,
    )
  }
  const object = { ...type, ...value }
  checkType(object, origin)
  if (object.kind.endsWith('List') && Array.isArray(object.items)) {
    if (!origin.flattens) return [{ object: toObject(object), source }]
    const itemType =
      object.kind === 'List' ? {} : { apiVersion: object.apiVersion, kind: object.kind.slice(0, -'List'.length) }
    const itemsList = list ?? {}
    return object.items.flatMap((item: unknown) => flatten(item, origin, itemType, itemsList))
  }
  const ofList = list === undefined ? {} : { list }
  const former = convertFormerVersion(object)
  if (list === undefined && former === undefined && origin.decoding !== 'typed') checkMetadata(object, source)
  if (origin.decoding === 'typed' && former === undefined) {
    if (list !== undefined && !isBuiltin(object)) return [{ failure: new CliError(unknownItem), list }]
    requireBuiltin(object, source)
    return [{ object: toObject(held(object, source)), source, ...ofList }]
  }
  if (former !== undefined) {
    return [{ object: toObject(former.object), source, formerVersion: object.apiVersion, ...ofList }]
  }
  const written = origin.decoding === 'written' ? { isWritten: true as const } : {}
  return [{ object: toObject(convert(object, source)), source, ...written, ...ofList }]
}

/** Go's name of the type that has what every object has. */
const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`

/** kubectl's words, of its Go types, for an item of a list that is of no kind which is built in. */
const unknownItem =
  'unable to get type info from the object "*runtime.Unknown": no kind is registered for the type runtime.Unknown in scheme "pkg/scheme/scheme.go:28"'

interface TypeMeta {
  readonly apiVersion: string
  readonly kind: string
}

const isBuiltin = ({ apiVersion, kind }: TypeMeta): boolean =>
  builtinResources.some((each) => each.kind === kind && apiVersionOf(each) === apiVersion)

function requireBuiltin(object: TypeMeta, source: string): void {
  if (isBuiltin(object)) return
  const { apiVersion, kind } = object
  throw new CliError(
    `unable to decode "${source}": no kind "${kind}" is registered for version "${apiVersion}" in scheme "pkg/scheme/scheme.go:28"`,
  )
}

/** An object of a built-in kind as its struct takes it. */
function held(object: JsonObject, source: string): unknown {
  try {
    return heldAsStruct(object as unknown as KubernetesObject)
  } catch (error) {
    throw new CliError(`unable to decode "${source}": ${error instanceof Error ? error.message : error}`)
  }
}

/** Throws a CliError, in kubectl's words, where metadata are not of the types that every kind has them of. Items of lists it passes on as they are. */
function checkMetadata({ metadata }: JsonObject, source: string): void {
  if (metadata === undefined) return
  try {
    heldAsStruct({ apiVersion: 'v1', kind: 'ConfigMap', metadata } as KubernetesObject)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    const ofMetadata = problem.replace('ConfigMap.metadata', 'metadataOnlyObject.metadata')
    throw new CliError(`unable to decode "${source}": ${ofMetadata}`)
  }
}

/** What Go calls a JSON value that is no object. */
const jsonType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value === 'boolean' ? 'bool' : typeof value

function checkType(
  object: JsonObject,
  { source, decoding, isJson }: Origin,
): asserts object is JsonObject & { apiVersion: string; kind: string } {
  const missing = ['apiVersion', 'kind'].filter((field) => typeof object[field] !== 'string' || object[field] === '')
  if (missing.length === 0) return
  const problems = missing.map((field) => `${field} not set`).join(', ')
  if (decoding === 'written') throw invalid(source, missing.length === 1 ? problems : `[${problems}]`)
  if (missing.includes('kind')) {
    throw new CliError(
      `unable to decode "${source}": Object 'Kind' is missing in '${JSON.stringify(isJson ? object : sortKeys(object))}'`,
    )
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
