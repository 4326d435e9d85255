import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'
import { isJsonObject, setMember } from '../../json.ts'
import {
  any,
  atomicList,
  boolean,
  double,
  exactInt64,
  lazy,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../schema/builders.ts'
import { compile } from '../../schema/compile.ts'
import type { AnySchema, ObjectSchema, Schema } from '../../schema/schema.ts'
import { badRequest } from '../../status.ts'
import { apiextensionsV1 } from '../meta/names.ts'

export const externalDocumentation = object(`${apiextensionsV1}.ExternalDocumentation`, 'A page with documentation.', {
  description: optional(string(), 'What is found there.'),
  url: optional(string(), 'Where it is.'),
})

export const validationRule = object(
  `${apiextensionsV1}.ValidationRule`,
  'A rule in the Common Expression Language that values must fulfil.',
  {
    rule: required(string(), 'The expression: over self and, on updates, oldSelf. It must be true.', { default: '' }),
    message: optional(string(), 'What is said where it is not.'),
    messageExpression: optional(string(), 'An expression for what is said.'),
    reason: pointer(string(), 'The reason of the error: FieldValueInvalid unless said otherwise.'),
    fieldPath: optional(string(), 'The field below this one that the error names.'),
    optionalOldSelf: pointer(boolean, 'Whether the rule applies to new values as well, with an optional oldSelf.'),
  },
)

const json: AnySchema = { ...any, name: `${apiextensionsV1}.JSON`, doc: 'Any JSON value.' }
const props: Schema = lazy(() => jsonSchemaProps as Schema)

/** Something that is a schema or something simpler: what it is, `canonicalProps` looks at. */
const schemaOr = (what: string, doc: string): AnySchema => ({
  ...any,
  name: `${apiextensionsV1}.${what}`,
  doc,
  objects: props,
})
const propsOrBool = schemaOr('JSONSchemaPropsOrBool', 'A schema, or whether anything is allowed.')

/** `JSONSchemaProps`: a schema in OpenAPI v3, as far as custom resources know it. */
export const jsonSchemaProps: ObjectSchema<JsonSchemaProps> = object(
  `${apiextensionsV1}.JSONSchemaProps`,
  'A schema in the vocabulary of OpenAPI v3.',
  {
    id: optional(string(), 'Not supported.'),
    $schema: optional(string(), 'Not supported.'),
    $ref: pointer(string(), 'Not supported.'),
    description: optional(string(), 'What the value is for.'),
    type: optional(string(), 'object, array, string, integer, number or boolean.'),
    format: optional(string(), 'How a string or number is written. Formats that are not known are not checked.'),
    title: optional(string(), 'A short name.'),
    default: optional(json, 'The value of a field that is absent.'),
    maximum: pointer(double(), 'The largest number.'),
    exclusiveMaximum: optional(boolean, 'Whether the maximum itself is too large.'),
    minimum: pointer(double(), 'The smallest number.'),
    exclusiveMinimum: optional(boolean, 'Whether the minimum itself is too small.'),
    maxLength: pointer(exactInt64(), 'Most characters of a string.'),
    minLength: pointer(exactInt64(), 'Fewest characters of a string.'),
    pattern: optional(string(), 'A regular expression (RE2) that is found in the string.'),
    maxItems: pointer(exactInt64(), 'Most elements of a list.'),
    minItems: pointer(exactInt64(), 'Fewest elements of a list.'),
    uniqueItems: optional(boolean, 'Not supported: use a set list.'),
    multipleOf: pointer(double(), 'Numbers are a multiple of this.'),
    enum: optional(atomicList(json), 'The values allowed.'),
    maxProperties: pointer(exactInt64(), 'Most members of an object.'),
    minProperties: pointer(exactInt64(), 'Fewest members of an object.'),
    required: optional(atomicList(string()), 'Fields that must be there.'),
    items: optional(schemaOr('JSONSchemaPropsOrArray', 'A schema, or a list of them.'), 'The elements of a list.'),
    allOf: optional(atomicList(props), 'All of these hold.'),
    oneOf: optional(atomicList(props), 'Exactly one of these holds.'),
    anyOf: optional(atomicList(props), 'At least one of these holds.'),
    not: optional(props, 'This does not hold.'),
    properties: optional(mapOf(props), 'The fields of an object.'),
    additionalProperties: optional(propsOrBool, 'The values of a map with any keys.'),
    patternProperties: optional(mapOf(props), 'Not supported.'),
    dependencies: optional(
      mapOf(schemaOr('JSONSchemaPropsOrStringArray', 'A schema, or names of fields.')),
      'Not supported.',
    ),
    additionalItems: optional(propsOrBool, 'Not supported.'),
    definitions: optional(mapOf(props), 'Not supported.'),
    externalDocs: optional(externalDocumentation, 'Where more is written.'),
    example: optional(json, 'A value as it may be.'),
    nullable: optional(boolean, 'Whether null is a value.'),
    'x-kubernetes-preserve-unknown-fields': pointer(boolean, 'Whether fields that are not named are kept.'),
    'x-kubernetes-embedded-resource': optional(boolean, 'Whether it is a whole object of the API.'),
    'x-kubernetes-int-or-string': optional(boolean, 'Whether it is an integer or a string.'),
    'x-kubernetes-list-map-keys': optional(atomicList(string()), 'The fields that tell elements of a map list apart.'),
    'x-kubernetes-list-type': pointer(string(), 'atomic, set or map: who may own what of a list.'),
    'x-kubernetes-map-type': pointer(string(), 'granular or atomic: who may own what of an object.'),
    'x-kubernetes-validations': optional(
      mapList(validationRule, ['rule'], { duplicates: 'allowed' }),
      'Rules that the value must fulfil.',
    ),
  },
) as unknown as ObjectSchema<JsonSchemaProps>

const schemaFields = ['not'] as const
const schemaLists = ['allOf', 'oneOf', 'anyOf'] as const
const schemaMaps = ['properties', 'patternProperties', 'definitions'] as const

/**
 * A decoded schema with all the schemas in it decoded, also those that may be something else instead. Idempotent; the same
 * reference where there is nothing to change. Throws a BadRequest for what is neither.
 */
export function canonicalProps(schema: JsonSchemaProps): JsonSchemaProps {
  const changed: Record<string, unknown> = {}
  const put = (name: keyof JsonSchemaProps, value: unknown) => {
    if (value !== schema[name]) changed[name] = value
  }
  for (const name of schemaFields) if (schema[name] !== undefined) put(name, canonicalProps(schema[name]))
  for (const name of schemaLists) if (schema[name] !== undefined) put(name, mapped(schema[name], canonicalProps))
  for (const name of schemaMaps) if (schema[name] !== undefined) put(name, mappedValues(schema[name], canonicalProps))
  const { items, additionalProperties, additionalItems, dependencies } = schema
  if (items !== undefined) put('items', itemsOf(items))
  if (additionalProperties !== undefined) put('additionalProperties', propsOrFlag(additionalProperties))
  if (additionalItems !== undefined) put('additionalItems', propsOrFlag(additionalItems))
  if (dependencies !== undefined) {
    put(
      'dependencies',
      mappedValues(dependencies, (each) => (Array.isArray(each) ? each : decodedProps(each))),
    )
  }
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed }
}

/** What is neither a schema nor a list of them is a list of none, for upstream's decoder. */
function itemsOf(items: unknown): unknown {
  if (Array.isArray(items)) return mapped(items, decodedProps)
  return isJsonObject(items) ? decodedProps(items) : []
}

const propsOrFlag = (value: unknown): unknown => (typeof value === 'boolean' ? value : decodedProps(value))

function decodedProps(value: unknown): JsonSchemaProps {
  if (!isJsonObject(value)) throw badRequest('a schema in spec.versions is no object')
  return canonicalProps(compile(jsonSchemaProps).decode(value).value)
}

function mapped<T, R>(list: readonly T[], change: (each: T) => R): readonly (T | R)[] {
  const all = list.map(change)
  return all.every((each, index) => (each as unknown) === list[index]) ? list : all
}

function mappedValues<T, R>(map: Readonly<Record<string, T>>, change: (each: T) => R): Readonly<Record<string, T | R>> {
  const all: Record<string, unknown> = {}
  let same = true
  for (const [key, value] of Object.entries(map)) {
    const next = change(value)
    if ((next as unknown) !== value) same = false
    setMember(all, key, next)
  }
  return same ? map : (all as Readonly<Record<string, R>>)
}
