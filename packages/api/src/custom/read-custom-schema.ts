/** Schemas of custom resources: from a CustomResourceDefinition's `openAPIV3Schema` to the structure that describes every kind. */
import { addErrors, type FieldError, forbiddenField, invalidField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { setMember } from '../json.ts'
import { type KubernetesObject, metadataDoc, objectMeta } from '../meta.ts'
import { any, intOrString } from '../schema/builders.ts'
import type { Field, JsonType, ListSchema, ObjectSchema, Schema, ValueChecks } from '../schema/schema.ts'
import { addStructuralDialect } from '../schema/structural/dialect.ts'
import { defaultErrors } from './default-errors.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { openApiSchemaErrors } from './openapi-schema-errors.ts'
import { compilePattern } from './pattern.ts'
import { compileRules, untypedRules } from './rules.ts'
import { structuralSchemaErrors, unstructurable } from './structural-errors.ts'

addStructuralDialect()

/** The version of a kind that a schema describes. */
export interface CustomKindNames {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface CustomSchema {
  /** Describes the kind in the structural dialect. Not to be used where there are errors. */
  readonly schema: ObjectSchema<KubernetesObject>
  /** What is wrong with the schema, in upstream's words; the CustomResourceDefinition is refused. */
  readonly errors: readonly FieldError[]
}

/** Schemas that were found to be right, by what they were read from: definitions are checked first and served then, and are large. */
const known = new WeakMap<JsonSchemaProps, { readonly name: string; readonly read: CustomSchema }>()

/**
 * Reads the schema of one version of a custom kind. `path` is where it stands, such as
 * `spec.versions[0].schema.openAPIV3Schema`, and only serves for errors. Pure; what is read must not change.
 */
export function readCustomSchema(props: JsonSchemaProps, path: FieldPath, names: CustomKindNames): CustomSchema {
  const name = customDefinitionName(names)
  const before = known.get(props)
  if (before?.name === name) return before.read
  const read = readAnew(props, path, name)
  if (read.errors.length === 0) known.set(props, { name, read })
  return read
}

function readAnew(props: JsonSchemaProps, path: FieldPath, name: string): CustomSchema {
  const schema = customKindSchema(props, name)
  const errors: FieldError[] = []
  if (props.nullable === true)
    errors.push(forbiddenField(path.field('nullable'), 'nullable cannot be true at the root'))
  const problem = unstructurable(props)
  const structural = problem === undefined ? structuralOrDefaultErrors(props, path) : []
  addErrors(errors, structural)
  const vocabulary: FieldError[] = []
  openApiSchemaErrors(props, path, { root: true, insideMeta: false, defaults: 'allowed' }, vocabulary)
  addErrors(errors, vocabulary)
  // What cannot be read in one way has no rules that could be.
  const isStructural = problem === undefined && structural.length === 0
  // A root may have no type, where it keeps what nobody knows; then there may be no rules about it.
  const hasRules = (props['x-kubernetes-validations'] ?? []).length > 0
  const isUntyped = isStructural && props.type === undefined && hasRules
  if (isUntyped) errors.push(untypedRules(path))
  const rules = isStructural ? compileRules(isUntyped ? { ...schema, cel: [] } : schema, path, vocabulary) : undefined
  addErrors(errors, rules?.errors ?? [])
  if (errors.length === 0 && problem !== undefined) errors.push(invalidField(path, '', problem))
  addErrors(errors, rules?.totalErrors ?? [])
  return { schema: rules?.rule === undefined ? schema : { ...schema, rules: [rules.rule] }, errors }
}

/** Defaults are only held against a schema that is structural. */
function structuralOrDefaultErrors(props: JsonSchemaProps, path: FieldPath): readonly FieldError[] {
  const errors = structuralSchemaErrors(props, path)
  return errors.length > 0 ? errors : defaultErrors(props, path, nodeOf)
}

/** The OpenAPI definition name of a custom kind: its group backwards, version and kind. */
export function customDefinitionName({ group, version, kind }: CustomKindNames): string {
  return `${group.split('.').reverse().join('.')}.${version}.${kind}`
}

function customKindSchema(props: JsonSchemaProps, name: string): ObjectSchema<KubernetesObject> {
  const root = objectNode(props, name)
  const fields = { ...apiFields(props, restrictedMetadata), ...withoutApiFields(root.fields) }
  return { ...root, fields, dialect: 'structural' } as ObjectSchema<KubernetesObject>
}

const apiFieldNames = ['apiVersion', 'kind', 'metadata'] as const

/** What every object of the API has, with what the schema adds to it. Metadata is that of every kind: only names may be checked. */
function apiFields(
  { properties = {} }: JsonSchemaProps,
  metadataOf: (props: JsonSchemaProps) => Schema,
): Readonly<Record<string, Field>> {
  const text = (name: 'apiVersion' | 'kind', doc: string): Field => {
    const own = properties[name]
    return {
      schema: own === undefined ? { type: 'string', checks: { types: ['string'] } } : nodeOf(own),
      doc: own?.description ?? doc,
      required: false,
    }
  }
  const { metadata } = properties
  return {
    apiVersion: text(
      'apiVersion',
      'APIVersion defines the schema this object is written in, such as stable.example.com/v1.',
    ),
    kind: text('kind', 'Kind of the object, in CamelCase. It cannot be changed.'),
    metadata: {
      schema: metadata === undefined ? objectMeta : metadataOf(metadata),
      doc: metadata?.description ?? metadataDoc,
      required: false,
    },
  }
}

/** Metadata as every object has it, whose names a schema may restrict further. */
function restrictedMetadata(props: JsonSchemaProps): Schema {
  const fields: Record<string, Field> = { ...objectMeta.fields }
  for (const name of ['name', 'generateName'] as const) {
    const own = props.properties?.[name]
    const field = fields[name]
    if (own !== undefined && field !== undefined) fields[name] = { ...field, schema: nodeOf(own) }
  }
  return { ...(objectMeta as ObjectSchema), ...checksOfNode(props, ['object']), fields }
}

/** Of an object in another a schema may say more: what it says of fields that no metadata has goes with them, defaults too. */
function embeddedMetadata(props: JsonSchemaProps): Schema {
  const known = Object.entries(props.properties ?? {}).filter(([name]) => Object.hasOwn(objectMeta.fields, name))
  const described = nodeOf({ ...props, properties: Object.fromEntries(known) })
  return { ...(restrictedMetadata(props) as ObjectSchema), described }
}

function withoutApiFields(fields: Readonly<Record<string, Field>>): Readonly<Record<string, Field>> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !(apiFieldNames as readonly string[]).includes(name)),
  )
}

/** The schema of a value. */
function nodeOf(props: JsonSchemaProps): Schema {
  if (props['x-kubernetes-int-or-string'] === true) {
    return { ...intOrString, ...checksOfNode(props, ['integer', 'string']) }
  }
  switch (props.type) {
    case 'object':
      return props.additionalProperties === undefined || props.additionalProperties === false || hasProperties(props)
        ? objectNode(props, '')
        : mapNode(props, props.additionalProperties)
    case 'array':
      return listNode(props)
    case 'string':
      return { type: 'string', ...checksOfNode(props, ['string']) }
    case 'integer':
      return {
        type: 'integer',
        format: props.format === 'int32' ? 'int32' : 'int64',
        ...checksOfNode(props, ['integer']),
      }
    case 'number':
      return { type: 'number', format: 'double', ...checksOfNode(props, ['number']) }
    case 'boolean':
      return { type: 'boolean', ...checksOfNode(props, ['boolean']) }
    default:
      return untypedNode(props)
  }
}

/** Without a type a schema keeps what it does not know; what it knows is still pruned. */
function untypedNode(props: JsonSchemaProps): Schema {
  if (hasProperties(props)) return objectNode(props, '')
  if (props.items !== undefined) return listNode(props)
  return { ...any, ...checksOfNode(props, []) }
}

const hasProperties = ({ properties }: JsonSchemaProps): boolean => Object.keys(properties ?? {}).length > 0

function objectNode(props: JsonSchemaProps, name: string): ObjectSchema {
  const embedded = props['x-kubernetes-embedded-resource'] === true
  const fields: Record<string, Field> = embedded ? { ...apiFields(props, embeddedMetadata) } : {}
  const required = new Set(props.required)
  for (const [key, property] of Object.entries(props.properties ?? {})) {
    if (embedded && (apiFieldNames as readonly string[]).includes(key)) continue
    setMember(fields, key, {
      schema: nodeOf(property),
      doc: property.description ?? '',
      required: required.has(key),
    })
  }
  return {
    type: 'object',
    name,
    doc: props.description ?? '',
    fields,
    ...mapType(props),
    ...(props['x-kubernetes-preserve-unknown-fields'] === true ? { preserveUnknownFields: true } : {}),
    ...(embedded ? { embeddedResource: true, impliedFields: impliedFields(props) } : {}),
    ...checksOfNode(props, props.type === undefined ? [] : ['object']),
  }
}

/** Of metadata a schema may describe names, never all that is there. */
const impliedFields = ({ properties = {} }: JsonSchemaProps): readonly string[] =>
  apiFieldNames.filter((name) => name === 'metadata' || !Object.hasOwn(properties, name))

function mapNode(props: JsonSchemaProps, values: JsonSchemaProps | true): Schema {
  return {
    type: 'map',
    // Whatever is not described is kept, nulls too, as far as it has no fields.
    values: values === true ? { ...any, nullable: true, isUndescribed: true } : nodeOf(values),
    ...mapType(props),
    ...checksOfNode(props, ['object']),
  }
}

function mapType(props: JsonSchemaProps): { readonly mapType?: 'atomic' | 'granular' } {
  // One that is not known is an error elsewhere, and says something about rules before.
  const type = props['x-kubernetes-map-type'] as 'atomic' | 'granular' | undefined
  return type === undefined ? {} : { mapType: type }
}

function listNode(props: JsonSchemaProps): ListSchema {
  const items = Array.isArray(props.items) ? undefined : (props.items as JsonSchemaProps | undefined)
  const listType = props['x-kubernetes-list-type']
  const mapKeys = props['x-kubernetes-list-map-keys']
  return {
    type: 'list',
    items: items === undefined ? any : nodeOf(items),
    ...(listType === 'atomic' || listType === 'set' || listType === 'map' ? { listType } : {}),
    ...(mapKeys === undefined ? {} : { mapKeys }),
    ...(props['x-kubernetes-preserve-unknown-fields'] === true ? { preserveUnknownFields: true } : {}),
    ...checksOfNode(props, props.type === undefined ? [] : ['array']),
  }
}

/** What every node may say, whatever its type. */
function checksOfNode(
  props: JsonSchemaProps,
  types: readonly JsonType[],
): Pick<Schema, 'nullable' | 'default' | 'checks' | 'cel' | 'annotations'> {
  const rules = props['x-kubernetes-validations']
  const annotations = presentMembers(props, ['title', 'description', 'example', 'externalDocs'])
  return {
    ...(props.nullable === true ? { nullable: true } : {}),
    ...(props.default === undefined ? {} : { default: props.default }),
    checks: valueChecks(props, types),
    ...(rules === undefined || rules.length === 0 ? {} : { cel: rules }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}

const copiedChecks = [
  'format',
  'enum',
  'minimum',
  'exclusiveMinimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'required',
] as const

const copiedSizes = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const

/** Sizes as numbers: nothing is so large that it would need more. */
function sizeChecks(props: JsonSchemaProps): Pick<ValueChecks, (typeof copiedSizes)[number]> {
  return Object.fromEntries(
    Object.entries(presentMembers(props, copiedSizes)).map(([name, size]) => [name, Number(size)]),
  )
}

function valueChecks(props: JsonSchemaProps, types: readonly JsonType[]): ValueChecks {
  return {
    ...(types.length === 0 ? {} : { types }),
    ...presentMembers(props, copiedChecks),
    ...sizeChecks(props),
    ...(props.pattern === undefined || props.pattern === '' ? {} : { pattern: compilePattern(props.pattern).pattern }),
    ...(props.allOf === undefined ? {} : { allOf: props.allOf.map(nestedChecks) }),
    ...(props.anyOf === undefined ? {} : { anyOf: props.anyOf.map(nestedChecks) }),
    ...(props.oneOf === undefined ? {} : { oneOf: props.oneOf.map(nestedChecks) }),
    ...(props.not === undefined ? {} : { not: nestedChecks(props.not) }),
  }
}

/** Checks that stand in an alternative: they look into the value themselves. */
function nestedChecks(props: JsonSchemaProps): ValueChecks {
  const types = props.type === undefined ? [] : [props.type as JsonType]
  return { ...valueChecks(props, types), ...nestedParts(props) }
}

function nestedParts({ properties, items }: JsonSchemaProps): Pick<ValueChecks, 'properties' | 'items'> {
  const nested: Record<string, ValueChecks> = {}
  for (const [name, property] of Object.entries(properties ?? {})) setMember(nested, name, nestedChecks(property))
  return {
    ...(properties === undefined ? {} : { properties: nested }),
    ...(items === undefined || Array.isArray(items) ? {} : { items: nestedChecks(items as JsonSchemaProps) }),
  }
}

function presentMembers<K extends keyof JsonSchemaProps>(
  props: JsonSchemaProps,
  names: readonly K[],
): Pick<JsonSchemaProps, K> {
  return Object.fromEntries(
    names.filter((name) => props[name] !== undefined).map((name) => [name, props[name]]),
  ) as Pick<JsonSchemaProps, K>
}
