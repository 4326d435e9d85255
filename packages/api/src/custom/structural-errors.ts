/**
 * What is wrong with the schema of a custom resource, in the words of apiextensions' validation: what it may not use, and what
 * keeps it from being structural (every value's type is stated once, outside the alternatives).
 */
import { describeFieldError, type FieldError, forbiddenField, invalidField, requiredField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import type { JsonSchemaProps } from './json-schema-props.ts'
import { compilePattern } from './pattern.ts'

/** What keeps a schema at `path` from being structural, in the order of its text. Defaults and rules are judged elsewhere. */
export function structuralSchemaErrors(props: JsonSchemaProps, path: FieldPath): readonly FieldError[] {
  const structural: FieldError[] = []
  invariants(props, 'root', path, structural)
  completeness(props, props, path, path, structural)
  const sorted = structural.map((error) => ({ error, text: describeFieldError(error) }))
  sorted.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return sorted.map(({ error }) => error)
}

/** Why nothing structural can be made of a schema at all; undefined where it can. */
export function unstructurable(props: JsonSchemaProps): string | undefined {
  const isNamed = (name: keyof JsonSchemaProps): boolean => {
    const value = props[name]
    if (name === 'additionalItems') return value !== undefined
    return typeof value === 'object' && value !== null
      ? Object.keys(value).length > 0
      : value !== undefined && value !== ''
  }
  const unsupported = unsupportedFields.find(([name]) => isNamed(name))
  if (unsupported !== undefined) return `OpenAPIV3Schema '${unsupported[1]}' is not supported`
  const below = [props.not, ...(props.allOf ?? []), ...(props.anyOf ?? []), ...(props.oneOf ?? [])]
  const early = firstProblem(below)
  if (early !== undefined) return early
  if (props['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  if (Array.isArray(props.items) && props.items.length > 0)
    return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  const { items, additionalProperties } = props
  return firstProblem([
    Array.isArray(items) ? undefined : (items as JsonSchemaProps | undefined),
    ...Object.values(props.properties ?? {}),
    typeof additionalProperties === 'object' ? additionalProperties : undefined,
  ])
}

const unsupportedFields = [
  ['id', 'id'],
  ['$schema', 'schema'],
  ['$ref', '$ref'],
  ['patternProperties', 'patternProperties'],
  ['dependencies', 'dependencies'],
  ['additionalItems', 'additionalItems'],
  ['definitions', 'definitions'],
] as const

function firstProblem(all: readonly (JsonSchemaProps | undefined)[]): string | undefined {
  for (const each of all) {
    const problem = each === undefined ? undefined : unstructurable(each)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Where a schema stands: it decides what is said of a missing type. */
type Level = 'root' | 'items' | 'field'

const untyped: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
}

function invariants(props: JsonSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  const items = singleSchema(props.items)
  if (props.type === 'array' && items === undefined)
    errors.push(requiredField(path.field('items'), 'must be specified'))
  if (items !== undefined) invariants(items, 'items', path.field('items'), errors)
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    invariants(property, 'field', path.field('properties').key(name), errors)
  }
  additionalProperties(props, level, path, errors)
  extensions(props, path, errors)
  valueChecks(props, path, errors, { anyOf: isIntOrStringAnyOf(props), allOf: isIntOrStringAllOf(props) })
  types(props, level, path, errors)
  apiFields(props, level, path, errors)
}

function additionalProperties(props: JsonSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  const values = props.additionalProperties
  if (values === undefined) return
  const at = path.field('additionalProperties')
  if (level === 'root') errors.push(forbiddenField(at, 'must not be used at the root'))
  if (typeof values === 'object') invariants(values, 'field', at, errors)
}

function extensions(props: JsonSchemaProps, path: FieldPath, errors: FieldError[]): void {
  if (props['x-kubernetes-int-or-string'] !== true) return
  for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (props[name] !== true) continue
    errors.push(invalidField(path.field(name), true, 'must be false if x-kubernetes-int-or-string is true'))
  }
}

function types(props: JsonSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  const { type = '' } = props
  const at = path.field('type')
  const preserves = props['x-kubernetes-preserve-unknown-fields'] === true
  const embedded = props['x-kubernetes-embedded-resource'] === true
  if (embedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true'
    errors.push(type === '' ? requiredField(at, detail) : invalidField(at, type, detail))
  } else if (type === '' && props['x-kubernetes-int-or-string'] !== true && !preserves) {
    errors.push(requiredField(at, untyped[level]))
  }
  if (embedded && props.additionalProperties !== undefined) {
    const detail = 'must not be used if x-kubernetes-embedded-resource is set'
    errors.push(forbiddenField(path.field('additionalProperties'), detail))
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalidField(at, type, 'must be object at the root'))
  }
  if (embedded && !preserves && Object.keys(props.properties ?? {}).length === 0) {
    const detail =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields'
    errors.push(requiredField(path.field('properties'), detail))
  }
}

/** What every object of the API has is given: a schema may only restrict names. */
function apiFields(props: JsonSchemaProps, level: Level, path: FieldPath, errors: FieldError[]): void {
  if (level !== 'root' && props['x-kubernetes-embedded-resource'] !== true) return
  const { properties = {} } = props
  for (const [name, type] of [
    ['kind', 'string'],
    ['apiVersion', 'string'],
    ['metadata', 'object'],
  ] as const) {
    const property = properties[name]
    if (property === undefined || property.type === type) continue
    const at = path.field('properties').key(name).field('type')
    errors.push(invalidField(at, property.type ?? '', `must be ${type}`))
  }
  if (level !== 'root' || properties.metadata === undefined || restrictsOnlyNames(properties.metadata)) return
  const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified'
  errors.push(forbiddenField(path.field('properties').key('metadata'), detail))
}

function restrictsOnlyNames({ properties = {}, type: _type, default: _default, ...rest }: JsonSchemaProps): boolean {
  const names = Object.keys(properties)
  const isGiven = (value: unknown): boolean =>
    value !== undefined && value !== '' && value !== false && !(Array.isArray(value) && value.length === 0)
  return names.every((name) => name === 'name' || name === 'generateName') && !Object.values(rest).some(isGiven)
}

/** The exception to the rule that alternatives state no types: `anyOf: [{type: integer}, {type: string}]`. */
function isIntOrStringAnyOf({ anyOf }: JsonSchemaProps): boolean {
  return anyOf?.length === 2 && isTypeAlone(anyOf[0], 'integer') && isTypeAlone(anyOf[1], 'string')
}

const isIntOrStringAllOf = ({ allOf }: JsonSchemaProps): boolean =>
  allOf?.[0] !== undefined && isIntOrStringAnyOf(allOf[0])

function isTypeAlone(props: JsonSchemaProps | undefined, type: string): boolean {
  return props !== undefined && props.type === type && Object.keys(props).length === 1
}

interface Exceptions {
  readonly anyOf: boolean
  readonly allOf: boolean
}

const noExceptions: Exceptions = { anyOf: false, allOf: false }

function valueChecks(props: JsonSchemaProps, path: FieldPath, errors: FieldError[], except: Exceptions): void {
  if (!except.anyOf) {
    props.anyOf?.forEach((each, index) => {
      nestedChecks(each, path.field('anyOf').index(index), errors, noExceptions)
    })
  }
  props.allOf?.forEach((each, index) => {
    nestedChecks(each, path.field('allOf').index(index), errors, { anyOf: except.allOf && index === 0, allOf: false })
  })
  props.oneOf?.forEach((each, index) => {
    nestedChecks(each, path.field('oneOf').index(index), errors, noExceptions)
  })
  if (props.not !== undefined) nestedChecks(props.not, path.field('not'), errors, noExceptions)
  const problem = props.pattern === undefined ? undefined : compilePattern(props.pattern).problem
  if (problem !== undefined) {
    const detail = `must be a valid regular expression, but isn't: ${problem}`
    errors.push(invalidField(path.field('pattern'), props.pattern, detail))
  }
}

/** What an alternative may not say, with what it must be instead. */
const forbiddenInAlternatives = [
  ['type', 'empty'],
  ['additionalProperties', 'undefined'],
  ['default', 'undefined'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
] as const

function nestedChecks(props: JsonSchemaProps, path: FieldPath, errors: FieldError[], except: Exceptions): void {
  valueChecks(props, path, errors, except)
  const items = singleSchema(props.items)
  if (items !== undefined) nestedChecks(items, path.field('items'), errors, noExceptions)
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    nestedChecks(property, path.field('properties').key(name), errors, noExceptions)
  }
  for (const [name, wanted] of forbiddenInAlternatives) {
    const value = props[name]
    const isEmpty = wanted === 'empty' && (value === '' || (Array.isArray(value) && value.length === 0))
    if (value === undefined || isEmpty || (wanted === 'false' && value === false)) continue
    errors.push(forbiddenField(path.field(name), `must be ${wanted} to be structural`))
  }
  if (props.properties?.metadata !== undefined) {
    const at = path.field('properties').key('metadata')
    errors.push(forbiddenField(at, 'must not be specified in a nested context'))
  }
}

/** Whatever an alternative of the whole looks at must be part of the schema outside it. `at` is that place, `path` the alternative's. */
function completeness(
  props: JsonSchemaProps,
  structure: JsonSchemaProps,
  at: FieldPath,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (props.not !== undefined) nestedCompleteness(props.not, structure, at, path.field('not'), errors)
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    props[name]?.forEach((each, index) => {
      nestedCompleteness(each, structure, at, path.field(name).index(index), errors)
    })
  }
}

function nestedCompleteness(
  props: JsonSchemaProps,
  structure: JsonSchemaProps | undefined,
  at: FieldPath,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (structure === undefined) {
    errors.push(requiredField(at, `because it is defined in ${path}`))
    return
  }
  completeness(props, structure, at, path, errors)
  const items = singleSchema(props.items)
  if (items !== undefined) {
    nestedCompleteness(items, singleSchema(structure.items), at.field('items'), path.field('items'), errors)
  }
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    const own = Object.hasOwn(structure.properties ?? {}, name) ? structure.properties?.[name] : undefined
    const [below, nested] = [at.field('properties').key(name), path.field('properties').key(name)]
    nestedCompleteness(property, own, below, nested, errors)
  }
}

function singleSchema(items: JsonSchemaProps['items']): JsonSchemaProps | undefined {
  return Array.isArray(items) ? undefined : (items as JsonSchemaProps | undefined)
}
