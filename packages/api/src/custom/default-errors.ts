/** Defaults must be what the schema they belong to describes, in the words of apiextensions' validation. */
import { describeFieldError, type FieldError, invalidField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { isJsonObject, type JsonObject, sortKeys } from '../json.ts'
import { objectMeta } from '../meta.ts'
import { compile } from '../schema/compile.ts'
import type { Schema } from '../schema/schema.ts'
import { embeddedResourceErrors } from '../schema/structural/embedded-resources.ts'
import { ApiError } from '../status.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { hasUnknownFields } from './pruning.ts'
import { compileRules } from './rules.ts'

/** Makes a schema of what a definition says of a value. */
export type SchemaOf = (props: JsonSchemaProps) => Schema

/** What is around a default. */
interface Surroundings {
  readonly schemaOf: SchemaOf
  /** The object of the API that it is in. */
  readonly resource: JsonSchemaProps
  /** Whether it is in apiVersion, kind or metadata of that object. */
  readonly insideMeta: boolean
  /** That object with nothing but the default in it. */
  readonly around: (value: unknown) => JsonObject
}

/** What is wrong with the defaults in the schema of a kind. `path` is where it stands. */
export function defaultErrors(props: JsonSchemaProps, path: FieldPath, schemaOf: SchemaOf): readonly FieldError[] {
  const errors: FieldError[] = []
  const resource = { ...props, 'x-kubernetes-embedded-resource': true }
  addErrorsWithin(resource, path, ofResource(resource, schemaOf), errors)
  return errors
}

const ofResource = (resource: JsonSchemaProps, schemaOf: SchemaOf): Surroundings => ({
  schemaOf,
  resource,
  insideMeta: false,
  around: (value) => ({ kind: 'Validation', apiVersion: 'validation/v1', ...(isJsonObject(value) ? value : {}) }),
})

/** As upstream has it the values of maps are passed over. */
function addErrorsWithin(props: JsonSchemaProps, path: FieldPath, given: Surroundings, errors: FieldError[]): void {
  const isResource = props['x-kubernetes-embedded-resource'] === true
  const place = isResource ? ofResource(props, given.schemaOf) : given
  if (props.default !== undefined) addErrorsOf(props, path.field('default'), place, errors)
  const { items, properties = {} } = props
  if (items !== undefined && !Array.isArray(items)) {
    const around = (value: unknown) => place.around([value])
    addErrorsWithin(items as JsonSchemaProps, path.field('items'), { ...place, around }, errors)
  }
  for (const [name, property] of Object.entries(properties)) {
    const insideMeta = place.insideMeta || (isResource && ['metadata', 'apiVersion', 'kind'].includes(name))
    const around = (value: unknown) => place.around({ [name]: value })
    addErrorsWithin(property, path.field('properties').key(name), { ...place, insideMeta, around }, errors)
  }
}

function addErrorsOf(props: JsonSchemaProps, path: FieldPath, place: Surroundings, errors: FieldError[]): void {
  const value = props.default
  const schema = place.schemaOf(props)
  const before = errors.length
  if (place.insideMeta) {
    const problems = metadataProblems(place)(value)
    if (problems.length > 0)
      errors.push(invalidField(path, sortKeys(value), `must result in valid metadata: ${inOne(problems)}`))
  } else {
    if (hasUnknownFields(value, props)) errors.push(invalidField(path, sortKeys(value), 'must not have unknown fields'))
    const start = errors.length
    addMetadataErrors(schema, value, path, errors)
    if (errors.length > start) return
  }
  if (place.insideMeta && errors.length > before) return
  const checked = hasIntOrString(props) ? place.schemaOf(withoutIntOrString(props)) : schema
  const { validate } = compile(checked, { dialect: 'structural' })
  const invalid = validate(value).map((error) => below(path, error))
  errors.push(...invalid)
  if (invalid.length > 0) return
  const { rule } = compileRules(schema, path)
  // As an update of what it was already, and as something new.
  const asked = rule?.(value, { path, old: value }).filter(({ isTolerated }) => isTolerated !== true) ?? []
  errors.push(...(asked.length > 0 ? asked : (rule?.(value, { path }) ?? [])))
}

function hasIntOrString(props: JsonSchemaProps): boolean {
  const { properties = {}, items, additionalProperties } = props
  const within = [...Object.values(properties), items, additionalProperties]
  return props['x-kubernetes-int-or-string'] === true || within.some((part) => isSchema(part) && hasIntOrString(part))
}

/** As upstream has it the default of an int-or-string may be anything: only objects are held to be one of the two there. */
function withoutIntOrString(props: JsonSchemaProps): JsonSchemaProps {
  const { 'x-kubernetes-int-or-string': _intOrString, ...rest } = props
  const { properties = {}, items, additionalProperties } = rest
  const within = Object.entries(properties).map(([name, property]) => [name, withoutIntOrString(property)] as const)
  return {
    ...rest,
    ...(within.length === 0 ? {} : { properties: Object.fromEntries(within) }),
    ...(isSchema(items) ? { items: withoutIntOrString(items) } : {}),
    ...(isSchema(additionalProperties) ? { additionalProperties: withoutIntOrString(additionalProperties) } : {}),
  }
}

const isSchema = (part: JsonSchemaProps['items'] | boolean): part is JsonSchemaProps => isJsonObject(part)

/** What is wrong with the metadata of the object around a default. */
const metadataProblems =
  ({ resource, around, schemaOf }: Surroundings) =>
  (value: unknown): readonly FieldError[] => {
    const errors: FieldError[] = []
    addMetadataErrors(schemaOf(resource), around(value), FieldPath.root, errors)
    return errors
  }

function addMetadataErrors(schema: Schema, value: unknown, path: FieldPath, errors: FieldError[]): void {
  const malformed = malformedResource(schema, value, path)
  if (malformed === undefined) embeddedResourceErrors(schema, value, path, errors)
  else errors.push(malformed)
}

/** The first object of the API in a value that cannot be read, with what keeps it from being. */
function malformedResource(schema: Schema, value: unknown, path: FieldPath): FieldError | undefined {
  if (schema.type === 'list' && Array.isArray(value)) {
    return first(value, (each, index) => malformedResource(schema.items, each, path.index(index)))
  }
  if (!isJsonObject(value)) return undefined
  if (schema.type === 'map')
    return first(Object.entries(value), ([key, each]) => malformedResource(schema.values, each, path.key(key)))
  if (schema.type !== 'object') return undefined
  const own = schema.embeddedResource === true ? malformedItself(value, path) : undefined
  if (own !== undefined) return own
  return first(Object.entries(schema.fields), ([name, field]) =>
    Object.hasOwn(value, name) && field.schema.type !== 'string' && name !== 'metadata'
      ? malformedResource(field.schema, value[name], path.field(name))
      : undefined,
  )
}

function malformedItself(resource: JsonObject, path: FieldPath): FieldError | undefined {
  for (const name of ['apiVersion', 'kind']) {
    const value = resource[name]
    if (value !== undefined && typeof value !== 'string')
      return invalidField(path.field(name), value, 'must be a string')
  }
  return resource.metadata === undefined ? undefined : unreadable(resource.metadata, path.field('metadata'))
}

function unreadable(metadata: unknown, path: FieldPath): FieldError | undefined {
  try {
    compile(objectMeta).decode(metadata)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return invalidField(path, metadata, unmarshalProblem(error.message))
  }
}

/** As encoding/json says it, which does not name the key of a map. */
const unmarshalProblem = (message: string): string =>
  message.replace(/^.*?(?=json: )/, '').replace(/(ObjectMeta\.(?:labels|annotations))\.\S+/, '$1')

function first<T, R>(all: readonly T[], find: (each: T, index: number) => R | undefined): R | undefined {
  for (const [index, each] of all.entries()) {
    const found = find(each, index)
    if (found !== undefined) return found
  }
  return undefined
}

const inOne = (errors: readonly FieldError[]): string => {
  const texts = errors.map(describeFieldError)
  return texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`
}

/** An error of a value by itself, as one of the value at a path. */
function below(path: FieldPath, { type, field, message }: FieldError): FieldError {
  const at = field.replace(/^\./, '')
  return { type, field: (at === '' || at === '<nil>' ? path : path.field(at)).toString(), message }
}
