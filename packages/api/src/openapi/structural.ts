/** Schemas of custom resources as OpenAPI shows them: what their CustomResourceDefinition says, as far as clients can cope with it. */
import { deepEqual } from '../equality.ts'
import type { JsonObject } from '../json.ts'
import { setMember } from '../json.ts'
import type { Field, ObjectSchema, Schema, ValueChecks } from '../schema/schema.ts'
import type { OpenApiVersion } from './definitions.ts'

/** Writes a field of a built-in type, such as metadata. */
type BuiltInField = (field: Field) => JsonObject

/** The definition of a custom kind. */
export function customKindOpenApi(schema: ObjectSchema, version: OpenApiVersion, builtIn: BuiltInField): JsonObject {
  // kubectl refuses each field that is not named beside those that are, so it is told of none.
  if (version === 'v2' && isUntyped(schema)) return { type: 'object' }
  return structuralOpenApi(schema, version, builtIn)
}

/** The schema of a part of a custom kind. */
function structuralOpenApi(schema: Schema, version: OpenApiVersion, builtIn: BuiltInField): JsonObject {
  const { annotations = {}, checks = {}, cel, nullable, default: byDefault } = schema
  const structure = structureOf(schema, version, builtIn)
  // Swagger 2.0 has no null, and kubectl refuses values of a type that its schema does not state: it is told nothing.
  const hidesType = version === 'v2' && (nullable === true || isUntyped(schema))
  const { properties, items, additionalProperties, ...extensions } = structure
  return defined({
    ...annotations,
    ...(hidesType ? {} : { type: typeOf(schema, version, structure) }),
    ...(nullable === true && version === 'v3' ? { nullable } : {}),
    // Upstream's Swagger 2.0 document states no defaults.
    default: version === 'v3' ? byDefault : undefined,
    ...writtenChecks(unfolded(schema, requiredOf(schema, checks, version)), version),
    ...(hidesType && nullable === true ? {} : { properties, items }),
    additionalProperties,
    ...extensions,
    'x-kubernetes-validations': cel,
  })
}

/** What kubectl cannot take with parts: it would refuse those that are not described. */
function isUntyped(schema: Schema): boolean {
  return (schema.type === 'object' || schema.type === 'list') && schema.preserveUnknownFields === true
}

function typeOf(schema: Schema, version: OpenApiVersion, structure: JsonObject): unknown {
  const types = schema.checks?.types ?? []
  if (schema.type === 'int-or-string' || types.length !== 1) return undefined
  return version === 'v2' && types[0] === 'array' && structure.items === undefined ? undefined : types[0]
}

function structureOf(schema: Schema, version: OpenApiVersion, builtIn: BuiltInField): JsonObject {
  const hidesParts = version === 'v2' && isUntyped(schema)
  switch (schema.type) {
    case 'object':
      return {
        properties: hidesParts ? undefined : propertiesOf(schema, version, builtIn),
        'x-kubernetes-map-type': schema.mapType,
        'x-kubernetes-preserve-unknown-fields': schema.preserveUnknownFields,
        'x-kubernetes-embedded-resource': schema.embeddedResource,
      }
    case 'map':
      return {
        additionalProperties:
          schema.values.type === 'any' && schema.values.checks === undefined
            ? true
            : structuralOpenApi(schema.values, version, builtIn),
        'x-kubernetes-map-type': schema.mapType,
      }
    case 'list':
      return {
        items: hidesParts ? undefined : structuralOpenApi(schema.items, version, builtIn),
        'x-kubernetes-list-type': schema.listType,
        'x-kubernetes-list-map-keys': schema.mapKeys,
        'x-kubernetes-preserve-unknown-fields': schema.preserveUnknownFields,
      }
    case 'int-or-string':
      return { 'x-kubernetes-int-or-string': true }
    case 'any':
      return { 'x-kubernetes-preserve-unknown-fields': true }
    default:
      return {}
  }
}

function propertiesOf(
  { fields }: ObjectSchema,
  version: OpenApiVersion,
  builtIn: BuiltInField,
): JsonObject | undefined {
  const properties: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const { schema } = field
    if (schema.type === 'object' && schema.dialect === 'go') setMember(properties, name, builtIn(field))
    else {
      const described = field.doc === '' ? {} : { description: field.doc }
      setMember(properties, name, { ...described, ...structuralOpenApi(schema, version, builtIn) })
    }
  }
  return Object.keys(properties).length === 0 ? undefined : properties
}

/**
 * A field that may be null looks to clients of Swagger 2.0 as if it might be missing. An object within another says what it is, where
 * its fields are told.
 */
function requiredOf(schema: Schema, checks: ValueChecks, version: OpenApiVersion): ValueChecks {
  const { required: given = [], ...rest } = checks
  const mayBeNull = (name: string): boolean =>
    schema.type === 'map' ? schema.values.nullable === true : fieldOf(schema, name)?.nullable === true
  const stated = version === 'v3' ? given : given.filter((name) => !mayBeNull(name))
  const isEmbedded = schema.type === 'object' && schema.embeddedResource === true
  const ofObjects = isEmbedded && !(version === 'v2' && isUntyped(schema)) ? ['kind', 'apiVersion'] : []
  const required = [...stated, ...ofObjects.filter((name) => !stated.includes(name))]
  return required.length === 0 ? rest : { ...rest, required }
}

const fieldOf = (schema: Schema, name: string): Schema | undefined =>
  schema.type === 'object' ? schema.fields[name]?.schema : undefined

const intOrString: readonly ValueChecks[] = [{ types: ['integer'] }, { types: ['string'] }]

/** What may be a number or a text says so in alternatives, unless it does already. */
function unfolded(schema: Schema, checks: ValueChecks): ValueChecks {
  const { anyOf, allOf = [] } = checks
  if (schema.type !== 'int-or-string' || deepEqual(anyOf, intOrString) || deepEqual(allOf[0]?.anyOf, intOrString)) {
    return checks
  }
  return anyOf === undefined
    ? { ...checks, anyOf: intOrString }
    : { ...checks, allOf: [{ anyOf: intOrString }, ...allOf] }
}

/** Checks as JSON Schema writes them. Swagger 2.0 knows no alternatives beside allOf, which upstream leaves out as well. */
function writtenChecks(checks: ValueChecks, version: OpenApiVersion): JsonObject {
  const { types: _, pattern, allOf, anyOf, oneOf, not, properties: __, items: ___, ...rest } = checks
  const alternatives =
    version === 'v2'
      ? {}
      : {
          allOf: allOf?.map(writtenAlternative),
          anyOf: anyOf?.map(writtenAlternative),
          oneOf: oneOf?.map(writtenAlternative),
          not: not === undefined ? undefined : writtenAlternative(not),
        }
  return { ...rest, pattern: pattern?.source, ...alternatives }
}

function writtenAlternative(checks: ValueChecks): JsonObject {
  const properties: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(checks.properties ?? {})) {
    setMember(properties, name, writtenAlternative(each))
  }
  return defined({
    type: checks.types?.[0],
    ...writtenChecks(checks, 'v3'),
    properties: checks.properties === undefined ? undefined : properties,
    items: checks.items === undefined ? undefined : writtenAlternative(checks.items),
  })
}

const defined = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
