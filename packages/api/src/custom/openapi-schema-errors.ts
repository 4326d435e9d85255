/** What a custom resource's schema may not use, and what its extensions ask for, in the words of apiextensions' validation. */
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { shownSchema } from '../kinds/apiextensions/internal-form.ts'
import { isFieldPathProblem, resolveFieldPath } from '../kinds/apiextensions/schema-field-path.ts'
import type { CelRule } from '../schema/schema.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { unstructurable } from './structural-errors.ts'

/** Where a schema stands. */
export interface SchemaPlace {
  readonly root: boolean
  /** In apiVersion, kind or metadata of an object of the API. */
  readonly insideMeta: boolean
  /** Whether defaults may be set, or the reason why not. */
  readonly defaults: 'allowed' | { readonly forbidden: string }
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const
const listTypes = ['atomic', 'set', 'map'] as const
const mapTypes = ['atomic', 'granular'] as const
const apiFields: readonly string[] = ['metadata', 'kind', 'apiVersion']
const unsupported = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const
/** Those that are as good as absent where they are empty. */
const emptyAllowed: readonly string[] = ['patternProperties', 'definitions']

/** Adds what is wrong with a schema and all schemas in it. */
export function openApiSchemaErrors(
  props: JsonSchemaProps,
  path: FieldPath,
  place: SchemaPlace,
  errors: FieldError[],
): void {
  vocabularyErrors(props, path, place, errors)
  if (props.uniqueItems === true) {
    const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'
    errors.push(forbiddenField(path.field('uniqueItems'), detail))
  }
  nestedErrors(props, path, place, errors)
  if (props['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(invalidField(path.field('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'))
  }
  mapTypeErrors(props, path, errors)
  listTypeErrors(props, path, errors)
  listMapErrors(props, path, errors)
  listItemErrors(props, path, errors)
  props['x-kubernetes-validations']?.forEach((rule, index) => {
    ruleErrors(rule, props, path.field('x-kubernetes-validations').index(index), errors)
  })
}

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'] as const

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text)

/** What is wrong with a rule before anybody reads its expressions. */
function ruleErrors(
  { rule = '', message = '', messageExpression = '', reason, fieldPath = '' }: Partial<CelRule>,
  props: JsonSchemaProps,
  path: FieldPath,
  errors: FieldError[],
): void {
  const [text, said] = [rule.trim(), message.trim()]
  const messagePath = path.field('message')
  if (text === '') errors.push(requiredField(path.field('rule'), 'rule is not specified'))
  else if (message !== '' && said === '')
    errors.push(invalidField(messagePath, message, 'must be non-empty if specified'))
  else if (hasLineBreak(said)) errors.push(invalidField(messagePath, message, 'must not contain line breaks'))
  else if (hasLineBreak(text) && said === '') {
    errors.push(requiredField(messagePath, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const detail = 'messageExpression must be non-empty if specified'
    errors.push(requiredField(path.field('messageExpression'), detail))
  }
  if (reason !== undefined && !(reasons as readonly string[]).includes(reason)) {
    errors.push(unsupportedField(path.field('reason'), reason, reasons))
  }
  if (fieldPath === '') return
  const at = path.field('fieldPath')
  if (fieldPath.trim() === '') errors.push(invalidField(at, fieldPath, 'must be non-empty if specified'))
  if (hasLineBreak(fieldPath)) errors.push(invalidField(at, fieldPath, 'must not contain line breaks'))
  if (unstructurable(props) !== undefined) return
  if (isFieldPathProblem(resolveFieldPath(fieldPath, props, { brackets: true }))) {
    errors.push(invalidField(at, fieldPath, 'must be a valid path'))
  }
}

function vocabularyErrors(props: JsonSchemaProps, path: FieldPath, place: SchemaPlace, errors: FieldError[]): void {
  const { type = '' } = props
  if (type !== '' && !(types as readonly string[]).includes(type)) {
    errors.push(unsupportedField(path.field('type'), type, types))
  }
  if (props.default !== undefined && place.defaults !== 'allowed') {
    errors.push(forbiddenField(path.field('default'), `must not be set ${place.defaults.forbidden}`))
  }
  for (const name of unsupported) {
    const value = props[name]
    if (value === undefined || (name === 'id' && value === '')) continue
    if (emptyAllowed.includes(name) && Object.keys(value).length === 0) continue
    errors.push(forbiddenField(path.field(name), `${name} is not supported`))
  }
  if (type === 'null') {
    const detail = 'type cannot be set to null, use nullable as an alternative'
    errors.push(forbiddenField(path.field('type'), detail))
  }
  if (Array.isArray(props.items) && props.items.length > 0) {
    errors.push(forbiddenField(path.field('items'), 'items must be a schema object and not an array'))
  }
  if (place.insideMeta && props['x-kubernetes-embedded-resource'] === true) {
    errors.push(
      forbiddenField(path.field('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'),
    )
  }
}

function nestedErrors(props: JsonSchemaProps, path: FieldPath, place: SchemaPlace, errors: FieldError[]): void {
  const inner = { ...place, root: false }
  const values = props.additionalProperties
  if (values !== undefined) {
    if (Object.keys(props.properties ?? {}).length > 0 && values !== true) {
      const detail = 'additionalProperties and properties are mutual exclusive'
      errors.push(forbiddenField(path.field('additionalProperties'), detail))
    }
    const forbidden = 'inside additionalProperties applying to object metadata'
    const below: SchemaPlace = place.insideMeta ? { ...inner, defaults: { forbidden } } : inner
    if (typeof values === 'object') openApiSchemaErrors(values, path.field('additionalProperties'), below, errors)
  }
  const isResource = place.root || props['x-kubernetes-embedded-resource'] === true
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    const below: SchemaPlace =
      isResource && apiFields.includes(name)
        ? { ...inner, insideMeta: true, ...(place.root ? { defaults: { forbidden: `in top-level ${name}` } } : {}) }
        : inner
    openApiSchemaErrors(property, path.field('properties').key(name), below, errors)
  }
  if (props.not !== undefined) openApiSchemaErrors(props.not, path.field('not'), inner, errors)
  for (const name of ['allOf', 'oneOf', 'anyOf'] as const) {
    props[name]?.forEach((each, index) => {
      openApiSchemaErrors(each, path.field(name).index(index), inner, errors)
    })
  }
  for (const [name, definition] of Object.entries(props.definitions ?? {})) {
    openApiSchemaErrors(definition, path.field('definitions').key(name), inner, errors)
  }
  if (Array.isArray(props.items)) {
    props.items.forEach((each: JsonSchemaProps, index) => {
      openApiSchemaErrors(each, path.field('items').index(index), inner, errors)
    })
  } else if (props.items !== undefined) {
    openApiSchemaErrors(props.items as JsonSchemaProps, path.field('items'), inner, errors)
  }
  for (const [name, dependency] of Object.entries(props.dependencies ?? {})) {
    if (Array.isArray(dependency)) continue
    openApiSchemaErrors(dependency as JsonSchemaProps, path.field('dependencies').key(name), inner, errors)
  }
}

function mapTypeErrors(props: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const mapType = props['x-kubernetes-map-type']
  if (mapType === undefined) return
  wrongType(props, 'object', 'must be object if x-kubernetes-map-type is specified', path, errors)
  if (!(mapTypes as readonly string[]).includes(mapType)) {
    errors.push(unsupportedField(path.field('x-kubernetes-map-type'), mapType, mapTypes))
  }
}

function wrongType(
  { type = '' }: JsonSchemaProps,
  wanted: string,
  detail: string,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (type === wanted) return
  const at = path.field('type')
  errors.push(type === '' ? requiredField(at, detail) : invalidField(at, type, detail))
}

function listTypeErrors(props: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const listType = props['x-kubernetes-list-type']
  if (listType === undefined) return
  const items = Array.isArray(props.items) ? undefined : (props.items as JsonSchemaProps | undefined)
  if (props.type !== 'array') {
    wrongType(props, 'array', 'must be array if x-kubernetes-list-type is specified', path, errors)
  } else if (listType === 'set' && items !== undefined) {
    const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set'
    // Lists are atomic unless said otherwise; maps are not.
    for (const [type, extension, usual] of [
      ['array', 'x-kubernetes-list-type', 'atomic'],
      ['object', 'x-kubernetes-map-type', 'granular'],
    ] as const) {
      if (items.type !== type || (items[extension] ?? usual) === 'atomic') continue
      // Of a map, too, upstream shows the type of a list.
      errors.push(invalidField(path.field('items').field(extension), items['x-kubernetes-list-type'] ?? null, detail))
    }
  }
  if (!(listTypes as readonly string[]).includes(listType)) {
    errors.push(unsupportedField(path.field('x-kubernetes-list-type'), listType, listTypes))
  }
}

function listMapErrors(props: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const listType = props['x-kubernetes-list-type']
  const keys = props['x-kubernetes-list-map-keys'] ?? []
  if (listType !== 'map') {
    if (keys.length === 0) return
    const at = path.field('x-kubernetes-list-type')
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty'
    errors.push(listType === undefined ? requiredField(at, detail) : invalidField(at, listType, detail))
    return
  }
  if (keys.length === 0) {
    const detail = 'must not be empty if x-kubernetes-list-type is map'
    errors.push(requiredField(path.field('x-kubernetes-list-map-keys'), detail))
  }
  if (props.items === undefined) {
    errors.push(requiredField(path.field('items'), 'must have a schema if x-kubernetes-list-type is map'))
    return
  }
  if (Array.isArray(props.items)) {
    const detail = 'must only have a single schema if x-kubernetes-list-type is map'
    const shown = { Schema: null, JSONSchemas: props.items.map(shownSchema) }
    errors.push(invalidField(path.field('items'), shown, detail))
    return
  }
  const items = props.items as JsonSchemaProps
  if (items.type === 'object') listMapKeyErrors(keys, items, path, errors)
  else {
    const detail = "must be object if parent array's x-kubernetes-list-type is map"
    errors.push(invalidField(path.field('items').field('type'), items.type ?? '', detail))
  }
}

function listMapKeyErrors(
  keys: readonly string[],
  { type, properties = {} }: JsonSchemaProps,
  path: FieldPath,
  errors: FieldError[],
): void {
  const keysPath = path.field('x-kubernetes-list-map-keys')
  const seen = new Set<string>()
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    const at = path.field('items').field('properties').key(key)
    if (property === undefined) {
      errors.push(invalidField(keysPath, keys, 'entries must all be names of item properties'))
    } else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
      // Upstream shows the type of the element.
      errors.push(invalidField(at.field('type'), type, detail))
    }
    if (seen.has(key)) errors.push(invalidField(keysPath, keys, 'must not contain duplicate entries'))
    seen.add(key)
  }
}

/** Elements that are told apart by themselves or by their keys are there, and their keys are. */
function listItemErrors(props: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  const listType = props['x-kubernetes-list-type']
  const items = Array.isArray(props.items) ? undefined : (props.items as JsonSchemaProps | undefined)
  if (items === undefined || (listType !== 'set' && listType !== 'map')) return
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`
    errors.push(forbiddenField(path.field('items').field('nullable'), detail))
  }
  if (listType === 'set') return
  const { properties = {} } = items
  const required = new Set(items.required)
  for (const key of props['x-kubernetes-list-map-keys'] ?? []) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    if (property === undefined) continue
    const at = path.field('items').field('properties').key(key)
    const named = 'this property is in x-kubernetes-list-map-keys, so it'
    if (!required.has(key) && property.default === undefined) {
      errors.push(requiredField(at.field('default'), `${named} must have a default or be a required property`))
    }
    if (property.nullable === true) errors.push(forbiddenField(at.field('nullable'), `${named} cannot be nullable`))
  }
}
