/**
 * Definitions as upstream's validation sees them: in a form of its own, in which what all versions have alike stands once, beside
 * them, and in which fields have the names of Go. Paths and values of its errors are that form's.
 */
import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'
import { deepEqual } from '../../equality.ts'
import { isJsonObject, setMember } from '../../json.ts'
import type { CustomResourceDefinitionSpec, CustomResourceVersion } from './custom-resource-definition-schema.ts'

/** What may stand beside the versions instead of in each of them. */
export const sharedFields = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const

/** The parts of a version that may be all versions'. */
export type VersionParts = Pick<CustomResourceVersion, (typeof sharedFields)[number]>

export interface InternalForm {
  /** What all versions have alike; without it each has its own. */
  readonly shared: VersionParts
  /** The versions with what they do not share. */
  readonly versions: readonly CustomResourceVersion[]
}

/** Upstream's form of the versions of a definition. */
export function internalForm({ versions = [] }: Partial<CustomResourceDefinitionSpec>): InternalForm {
  const [first, ...others] = versions
  if (first === undefined) return { shared: {}, versions }
  const alike = sharedFields.filter((field) => others.every((other) => isAlike(first[field], other[field])))
  return {
    shared: Object.fromEntries(
      alike.filter((field) => first[field] !== undefined).map((field) => [field, first[field]]),
    ),
    versions: versions.map((version) =>
      Object.fromEntries(Object.entries(version).filter(([field]) => !(alike as readonly string[]).includes(field))),
    ) as unknown as readonly CustomResourceVersion[],
  }
}

/** An empty list is as good as none. */
function isAlike(a: unknown, b: unknown): boolean {
  const [one, other] = [a, b].map((value) => (Array.isArray(value) && value.length === 0 ? undefined : value))
  return deepEqual(one, other)
}

/** How a field is shown where it is absent, and how its value is. */
interface ShownField {
  readonly name: string
  readonly absent: unknown
  readonly show?: (value: unknown) => unknown
}

/** An object with its fields as Go's struct has them. */
function shownObject(value: unknown, fields: Readonly<Record<string, ShownField>>): unknown {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(fields).map(([field, { name, absent, show = (each: unknown) => each }]) => [
      name,
      value[field] === undefined ? absent : show(value[field]),
    ]),
  )
}

const capital = (field: string): string => `${field.slice(0, 1).toUpperCase()}${field.slice(1)}`

/** Fields by what Go has in place of an absent one; `?` before a name: nothing but null. */
function shownFields(
  names: string,
  special: Readonly<Record<string, Partial<ShownField>>> = {},
): Readonly<Record<string, ShownField>> {
  return Object.fromEntries(
    names.split(' ').map((each) => {
      const [, mark = '', field = ''] = /^([?!#]?)(.*)$/.exec(each) ?? []
      const absent = mark === '?' ? null : mark === '!' ? false : mark === '#' ? 0 : ''
      return [field, { name: capital(field), absent, ...special[field] }]
    }),
  )
}

const listOf = (show: (value: unknown) => unknown) => (value: unknown) =>
  Array.isArray(value) ? value.map(show) : value

const mapOf = (show: (value: unknown) => unknown) => (value: unknown) => {
  if (!isJsonObject(value)) return value
  const shown: Record<string, unknown> = {}
  for (const [key, each] of Object.entries(value)) setMember(shown, key, show(each))
  return shown
}

const schemaOrFlag = (value: unknown): unknown =>
  typeof value === 'boolean' ? { Allows: value, Schema: null } : { Allows: true, Schema: shownSchema(value) }

const schemaOrList = (value: unknown): unknown =>
  Array.isArray(value)
    ? { Schema: null, JSONSchemas: value.map(shownSchema) }
    : { Schema: shownSchema(value), JSONSchemas: null }

const schemaOrNames = (value: unknown): unknown =>
  Array.isArray(value) ? { Schema: null, Property: value } : { Schema: shownSchema(value), Property: null }

const ruleFields = shownFields('rule message messageExpression ?reason fieldPath ?optionalOldSelf')

const schemaFields: Readonly<Record<string, ShownField>> = shownFields(
  'id $schema ?$ref description type !nullable format title ?default ?maximum !exclusiveMaximum ?minimum ' +
    '!exclusiveMinimum ?maxLength ?minLength pattern ?maxItems ?minItems !uniqueItems ?multipleOf ?enum ' +
    '?maxProperties ?minProperties ?required ?items ?allOf ?oneOf ?anyOf ?not ?properties ?additionalProperties ' +
    '?patternProperties ?dependencies ?additionalItems ?definitions ?externalDocs ?example ' +
    '?x-kubernetes-preserve-unknown-fields !x-kubernetes-embedded-resource !x-kubernetes-int-or-string ' +
    '?x-kubernetes-list-map-keys ?x-kubernetes-list-type ?x-kubernetes-map-type ?x-kubernetes-validations',
  {
    id: { name: 'ID' },
    $schema: { name: 'Schema' },
    $ref: { name: 'Ref' },
    items: { show: schemaOrList },
    allOf: { show: listOf(shownSchema) },
    oneOf: { show: listOf(shownSchema) },
    anyOf: { show: listOf(shownSchema) },
    not: { show: shownSchema },
    properties: { show: mapOf(shownSchema) },
    patternProperties: { show: mapOf(shownSchema) },
    definitions: { show: mapOf(shownSchema) },
    dependencies: { show: mapOf(schemaOrNames) },
    additionalProperties: { show: schemaOrFlag },
    additionalItems: { show: schemaOrFlag },
    externalDocs: {
      show: (docs) => shownObject(docs, shownFields('description url', { url: { name: 'URL' } })),
    },
    'x-kubernetes-preserve-unknown-fields': { name: 'XPreserveUnknownFields' },
    'x-kubernetes-embedded-resource': { name: 'XEmbeddedResource' },
    'x-kubernetes-int-or-string': { name: 'XIntOrString' },
    'x-kubernetes-list-map-keys': { name: 'XListMapKeys' },
    'x-kubernetes-list-type': { name: 'XListType' },
    'x-kubernetes-map-type': { name: 'XMapType' },
    'x-kubernetes-validations': { name: 'XValidations', show: listOf(shownRule) },
  },
)

/** A schema as upstream's messages show it. */
export function shownSchema(schema: unknown): unknown {
  return shownObject(schema, schemaFields)
}

/** A rule as upstream's messages show it. */
export function shownRule(rule: unknown): unknown {
  return shownObject(rule, ruleFields)
}

/** Names of a schema's fields in Go's struct, in its order. */
export const schemaFieldNames: readonly (readonly [field: keyof JsonSchemaProps, name: string])[] = Object.entries(
  schemaFields,
).map(([field, { name }]) => [field as keyof JsonSchemaProps, name])

const columnFields = shownFields('name type format description #priority jsonPath', { jsonPath: { name: 'JSONPath' } })
const scaleFields = shownFields('specReplicasPath statusReplicasPath ?labelSelectorPath')
const subresourceFields = shownFields('?status ?scale', {
  scale: { show: (scale) => shownObject(scale, scaleFields) },
})
const versionFields = shownFields(
  'name !served !storage !deprecated ?deprecationWarning ?schema ?subresources ?additionalPrinterColumns ?selectableFields',
  {
    schema: {
      show: (schema) =>
        shownObject(schema, { openAPIV3Schema: { name: 'OpenAPIV3Schema', absent: null, show: shownSchema } }),
    },
    subresources: { show: (subresources) => shownObject(subresources, subresourceFields) },
    additionalPrinterColumns: { show: listOf((column) => shownObject(column, columnFields)) },
    selectableFields: {
      show: listOf((field) => shownObject(field, shownFields('jsonPath', { jsonPath: { name: 'JSONPath' } }))),
    },
  },
)

/** Versions as upstream's messages show them. */
export function shownVersions(versions: readonly CustomResourceVersion[]): readonly unknown[] {
  return versions.map((version) => shownObject(version, versionFields))
}
