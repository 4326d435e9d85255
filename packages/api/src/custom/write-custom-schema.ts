import { resolveSchema } from '../schema/resolve.ts'
import type {
  CelRule,
  Field,
  ListSchema,
  MapSchema,
  ObjectSchema,
  Schema,
  StringSchema,
  Union,
  ValueChecks,
} from '../schema/schema.ts'
import { formatAsJsonSchema } from '../string-formats.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'

/**
 * A schema as the `openAPIV3Schema` of a CustomResourceDefinition: what `readCustomSchema` reads. It is structural, says the
 * same to every API server, and leaves out nothing that the schema checks: what an object schema says by functions in
 * TypeScript cannot be said there and throws a TypeError that names the field, as does a schema that contains itself.
 *
 * A field that is `immutable` gets a rule in CEL, and so do `unions`. Pure.
 */
export function writeCustomSchema(schema: ObjectSchema): JsonSchemaProps {
  const props = objectProps(schema, [])
  return { ...props, properties: { ...props.properties, ...apiProperties(schema) } }
}

/** What every object has is not described again: the server knows it. */
function apiProperties({ fields }: ObjectSchema): Readonly<Record<string, JsonSchemaProps>> {
  const properties = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
  }
  return Object.fromEntries(Object.entries(properties).filter(([name]) => Object.hasOwn(fields, name)))
}

/** Where a schema stands, for messages, and inside which others. */
type Trail = readonly { readonly name: string; readonly schema: Schema }[]

function propsOf(schema: Schema, trail: Trail): JsonSchemaProps {
  if (trail.length > 1 && trail.slice(0, -1).some((outer) => resolveSchema(outer.schema) === resolveSchema(schema)))
    throw new TypeError(`${pathOf(trail)}: a schema that contains itself cannot be part of a CustomResourceDefinition`)
  return { ...typeProps(schema, trail), ...describedProps(schema) }
}

function typeProps(schema: Schema, trail: Trail): JsonSchemaProps {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'string':
      return stringProps(resolved)
    case 'integer':
    case 'number':
      return {
        type: resolved.type,
        format: resolved.format,
        ...present({ minimum: resolved.minimum, maximum: resolved.maximum }),
      }
    case 'boolean':
      return { type: 'boolean' }
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'time':
      return { type: 'string', format: 'date-time' }
    case 'int-or-string':
      return intOrStringProps
    case 'quantity':
      return { ...intOrStringProps, pattern: quantityPattern }
    case 'any':
      return { ...(resolved.object ? { type: 'object' } : {}), 'x-kubernetes-preserve-unknown-fields': true }
    case 'list':
      return listProps(resolved, trail)
    case 'map':
      return mapProps(resolved, trail)
    case 'object':
      return objectProps(resolved, trail)
  }
}

const intOrStringProps: JsonSchemaProps = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
}

/** What apimachinery reads as an amount, as controller-gen writes it. */
const number = '(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))'
const quantityPattern = `^(\\+|-)?${number}(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?${number}))?$`

function stringProps({ format, enum: values, minLength, maxLength, pattern }: StringSchema): JsonSchemaProps {
  const own = present({ minLength, maxLength, pattern })
  const ofFormat = format === undefined ? {} : formatAsJsonSchema(format)
  // Where both say something of the same kind, both hold.
  const collide = Object.keys(own).some((name) => Object.hasOwn(ofFormat, name))
  return {
    type: 'string',
    ...(collide ? { ...own, allOf: [ofFormat] } : { ...ofFormat, ...own }),
    ...(values === undefined ? {} : { enum: values }),
  }
}

function listProps({ items, listType, mapKeys, minItems, maxItems }: ListSchema, trail: Trail): JsonSchemaProps {
  return {
    type: 'array',
    items: propsOf(items, [...trail, { name: '[]', schema: items }]),
    ...present({ minItems, maxItems }),
    ...(listType === undefined ? {} : { 'x-kubernetes-list-type': listType }),
    ...(mapKeys === undefined ? {} : { 'x-kubernetes-list-map-keys': mapKeys }),
  }
}

function mapProps({ values, keys, mapType }: MapSchema, trail: Trail): JsonSchemaProps {
  if (keys !== undefined) throw new TypeError(`${pathOf(trail)}: what keys look like can only be said by a rule in CEL`)
  return {
    type: 'object',
    additionalProperties: propsOf(values, [...trail, { name: '{}', schema: values }]),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
  }
}

function objectProps(schema: ObjectSchema, trail: Trail): JsonSchemaProps {
  const { doc, fields, mapType, rules = [], unions = [], preserveUnknownFields, embeddedResource } = schema
  if (rules.length > 0)
    throw new TypeError(
      `${pathOf(trail)}: rules that are functions cannot be part of a CustomResourceDefinition: write them in CEL`,
    )
  const all = Object.entries(fields)
  const required = all.filter(([, field]) => field.required).map(([name]) => name)
  const cel = [...(schema.cel ?? []), ...unions.filter(({ checked }) => checked !== false).map(unionRule)]
  return {
    type: 'object',
    ...(doc === '' ? {} : { description: doc }),
    ...(all.length === 0
      ? {}
      : { properties: Object.fromEntries(all.map(([name, field]) => [name, fieldProps(name, field, trail)])) }),
    ...(required.length === 0 ? {} : { required }),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    ...(preserveUnknownFields === true ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    ...(embeddedResource === true ? { 'x-kubernetes-embedded-resource': true } : {}),
    ...(cel.length === 0 ? {} : { 'x-kubernetes-validations': cel }),
  }
}

function fieldProps(name: string, field: Field, trail: Trail): JsonSchemaProps {
  const props = propsOf(field.schema, [...trail, { name, schema: field.schema }])
  const rules = [...(props['x-kubernetes-validations'] ?? []), ...(field.immutable === true ? [immutableRule] : [])]
  const doc = field.deprecated === undefined ? field.doc : `${field.doc} Deprecated: ${field.deprecated}`
  return {
    ...props,
    ...(doc === '' ? {} : { description: doc }),
    ...(field.default === undefined || saysMayBeZero(field) ? {} : { default: field.default }),
    ...(rules.length === 0 ? {} : { 'x-kubernetes-validations': rules }),
  }
}

/**
 * Read as Go reads it, a zero value is absent: a field that is required and has it as its default is one that must be there and may be
 * zero. Here it simply is a value.
 */
const saysMayBeZero = ({ required, default: value }: Field): boolean =>
  required && (value === '' || value === 0 || value === false)

const immutableRule: CelRule = { rule: 'self == oldSelf', message: 'field is immutable' }

/** At most, or exactly, one of several fields is there. */
function unionRule({ fields, arity = 'at-most-one' }: Union): CelRule {
  const there = fields.map((name) => `has(self.${celName(name)})`).join(', ')
  const [count, words] = arity === 'exactly-one' ? ['== 1', 'exactly one'] : ['<= 1', 'at most one']
  return { rule: `[${there}].filter(x, x).size() ${count}`, message: `${words} of ${fields.join(', ')} may be set` }
}

/** A field's name in an expression, where `-`, `.`, `/` and `__` are written out: https://kubernetes.io/docs/reference/using-api/cel/ */
function celName(name: string): string {
  const escapes: readonly (readonly [string, string])[] = [
    ['__', '__underscores__'],
    ['.', '__dot__'],
    ['-', '__dash__'],
    ['/', '__slash__'],
  ]
  return escapes.reduce((text, [from, to]) => text.replaceAll(from, to), name)
}

function describedProps(schema: Schema): JsonSchemaProps {
  const resolved = resolveSchema(schema)
  const { nullable, default: value, checks, cel, annotations } = resolved
  return {
    ...annotations,
    ...(nullable === true ? { nullable } : {}),
    ...(value === undefined ? {} : { default: value }),
    ...(checks === undefined ? {} : checkProps(checks)),
    // Those of objects stand with their unions.
    ...(cel === undefined || resolved.type === 'object' ? {} : { 'x-kubernetes-validations': cel }),
  }
}

/** Checks in JSON Schema's vocabulary; types are stated by the schemas themselves. */
function checkProps({ types: _, ...checks }: ValueChecks): JsonSchemaProps {
  return nestedProps(checks)
}

function nestedProps(checks: ValueChecks): JsonSchemaProps {
  const { types = [], pattern, allOf, anyOf, oneOf, not, properties, items, ...plain } = checks
  return {
    ...plain,
    ...(types.length === 1 ? { type: types[0] } : {}),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
    ...(allOf === undefined ? {} : { allOf: allOf.map(nestedProps) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(nestedProps) }),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(nestedProps) }),
    ...(not === undefined ? {} : { not: nestedProps(not) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, nestedProps(each)])),
        }),
    ...(items === undefined ? {} : { items: nestedProps(items) }),
  } as JsonSchemaProps
}

const pathOf = (trail: Trail): string => trail.map(({ name }) => name).join('.') || 'the object'

const present = <T extends object>(members: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
