import { isJsonObject, type JsonObject } from '../json.ts'
import type { GroupVersionKind } from './definitions.ts'

/** Schemas of OpenAPI documents (version 3.0, as Kubernetes serves them) by name. */
export type OpenApiDefinitions = Readonly<Record<string, JsonObject>>

/** The definitions of several documents: one that says whose kind it is comes before one that is only referred to. */
export function mergeOpenApiDefinitions(documents: readonly OpenApiDefinitions[]): OpenApiDefinitions {
  const merged: Record<string, JsonObject> = {}
  for (const [name, schema] of documents.flatMap((document) => Object.entries(document))) {
    if (merged[name]?.[kindsKeyword] === undefined) merged[name] = schema
  }
  return merged
}

const kindsKeyword = 'x-kubernetes-group-version-kind'

/** What editors and validators of manifests agree on: yaml-language-server, VS Code, IntelliJ, kubeconform, Ajv. */
const draft = 'http://json-schema.org/draft-07/schema#'

/**
 * A JSON Schema of one kind that needs nothing beside it. Fields that the kind does not have are refused. Throws a RangeError where
 * no definition is of that kind.
 */
export function jsonSchemaOfKind(definitions: OpenApiDefinitions, kind: GroupVersionKind): JsonObject {
  const root = rootOf(definitions, kind)
  const { description } = definitions[root] ?? {}
  return {
    $schema: draft,
    title: `${kind.kind} (${apiVersionOf(kind)})`,
    ...(description === undefined ? {} : { description }),
    ...shapeOf(kind, root),
    definitions: converted(definitions, [root]),
  }
}

/** A JSON Schema that any object of these kinds fulfils, and lists of them. */
export function jsonSchemaOfKinds(definitions: OpenApiDefinitions, kinds: readonly GroupVersionKind[]): JsonObject {
  const roots = kinds.map((kind) => ({ kind, root: rootOf(definitions, kind) }))
  return {
    $schema: draft,
    title: 'Objects of the Kubernetes API',
    oneOf: [...roots.map(({ kind, root }) => shapeOf(kind, root)), list],
    definitions: converted(
      definitions,
      roots.map(({ root }) => root),
    ),
  }
}

/** Several objects in one document, as `kubectl get -o yaml` prints them. */
const list: JsonObject = {
  type: 'object',
  properties: {
    apiVersion: { const: 'v1' },
    kind: { const: 'List' },
    metadata: { type: 'object' },
    items: { type: 'array', items: { $ref: '#' } },
  },
  required: ['apiVersion', 'kind', 'items'],
  additionalProperties: false,
}

const apiVersionOf = ({ group, version }: GroupVersionKind): string => (group === '' ? version : `${group}/${version}`)

/** An object that says to be of this kind, and is. */
const shapeOf = (kind: GroupVersionKind, root: string): JsonObject => ({
  type: 'object',
  properties: { apiVersion: { const: apiVersionOf(kind) }, kind: { const: kind.kind } },
  required: ['apiVersion', 'kind'],
  allOf: [{ $ref: `#/definitions/${root}` }],
})

function rootOf(definitions: OpenApiDefinitions, { group, version, kind }: GroupVersionKind): string {
  const found = Object.entries(definitions).find(([, schema]) => {
    const kinds = schema[kindsKeyword]
    return (
      Array.isArray(kinds) &&
      kinds.some((each) => isJsonObject(each) && each.group === group && each.version === version && each.kind === kind)
    )
  })
  if (found === undefined) throw new RangeError(`no definition is of kind ${kind} in ${group}/${version}`)
  return found[0]
}

/** These definitions and all they refer to. */
function converted(definitions: OpenApiDefinitions, roots: readonly string[]): JsonObject {
  const result: Record<string, unknown> = {}
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const schema = definitions[name]
    if (name in result || schema === undefined) continue
    result[name] = nullableDefinitions.has(name)
      ? { ...convert(schema, true), type: ['string', 'null'] }
      : convert(schema, true)
    open.push(...referencesIn(schema))
  }
  return result
}

/** Written as `creationTimestamp: null` by generators; the API takes it for absent. */
const nullableDefinitions = new Set([
  'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
])

const referencePrefix = '#/components/schemas/'

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, each]) =>
    name === '$ref' && typeof each === 'string' ? [each.slice(referencePrefix.length)] : referencesIn(each),
  )
}

/** Keywords that mean the same in both languages. */
const sharedKeywords = [
  'title',
  'description',
  'required',
  'enum',
  'multipleOf',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxProperties',
  'minProperties',
]

/** Formats that JSON Schema knows; others are for generators of code. */
const sharedFormats = new Set(['date-time', 'date', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'])

const int32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

/** `isClosed`: fields that are not named are refused. They are not where a schema only adds conditions to another. */
function convert(schema: JsonObject, isClosed: boolean): JsonObject {
  const { $ref, format, pattern } = schema
  if (typeof $ref === 'string') return { $ref: `#/definitions/${$ref.slice(referencePrefix.length)}` }
  return {
    ...Object.fromEntries(
      sharedKeywords.filter((name) => schema[name] !== undefined).map((name) => [name, schema[name]]),
    ),
    ...typeOf(schema),
    ...(typeof format === 'string' && sharedFormats.has(format) ? { format } : {}),
    ...(format === 'byte' ? { contentEncoding: 'base64' } : {}),
    ...(format === 'int32' && schema.type === 'integer' ? int32 : {}),
    ...bounds(schema),
    ...(typeof pattern === 'string' && isPattern(pattern) ? { pattern } : {}),
    ...(isScalar(schema.default) ? { default: schema.default } : {}),
    ...fieldsOf(schema, isClosed),
    ...(isJsonObject(schema.items) ? { items: convert(schema.items, isClosed) } : {}),
    ...conditions(schema),
  }
}

function typeOf({ type, nullable, ...schema }: JsonObject): JsonObject {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return { type: nullable === true ? ['integer', 'string', 'null'] : ['integer', 'string'] }
  }
  if (type === undefined) return {}
  if (nullable !== true) return { type }
  const { enum: values } = schema
  return {
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}),
  }
}

/** An exclusive bound is a truth beside the bound in OpenAPI 3.0, and the bound itself here. */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): JsonObject {
  return {
    ...(minimum === undefined ? {} : { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum === undefined ? {} : { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum }),
  }
}

function fieldsOf(schema: JsonObject, isClosed: boolean): JsonObject {
  const { properties, additionalProperties } = schema
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
  const own = isJsonObject(properties) ? properties : {}
  const all = isEmbedded ? { ...objectFields, ...own } : own
  if (Object.keys(all).length === 0) {
    return isJsonObject(additionalProperties) ? { additionalProperties: convert(additionalProperties, isClosed) } : {}
  }
  return {
    properties: Object.fromEntries(
      Object.entries(all).map(([name, field]) => [name, isJsonObject(field) ? convert(field, isClosed) : true]),
    ),
    ...(isClosed && !keepsUnknown && additionalProperties === undefined ? { additionalProperties: false } : {}),
  }
}

/** What every object has. */
const objectFields: JsonObject = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object' },
}

function conditions(schema: JsonObject): JsonObject {
  // A single reference is what the field is; anything else only narrows it.
  const { not } = schema
  const all = ['allOf', 'anyOf', 'oneOf'].flatMap((name) => {
    const parts = schema[name]
    if (!Array.isArray(parts)) return []
    return [[name, parts.filter(isJsonObject).map((part) => convert(part, false))] as const]
  })
  return { ...Object.fromEntries(all), ...(isJsonObject(not) ? { not: convert(not, false) } : {}) }
}

const isScalar = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

/** Patterns of custom kinds are written for RE2: one that means nothing in JavaScript is left out. */
function isPattern(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u')
    return true
  } catch {
    return false
  }
}
