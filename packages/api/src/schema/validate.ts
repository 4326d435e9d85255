/** What is wrong with a decoded value according to its schema. */
import { deepEqual } from '../equality.ts'
import {
  addErrors,
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  tooLongField,
  tooManyField,
  unsupportedField,
} from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { isJsonObject } from '../json.ts'
import { checkFormat, rangeMessage } from '../string-formats.ts'
import { resolveSchema } from './resolve.ts'
import type {
  Field,
  IntegerSchema,
  ListSchema,
  MapSchema,
  NumberSchema,
  ObjectSchema,
  Schema,
  StringSchema,
} from './schema.ts'
import { unionErrors } from './unions.ts'

/**
 * Adds what is wrong with `value` to `errors`. The value is at `step` below `parent` (a field by name, an element by
 * position; an empty name is the parent itself): paths are only made where someone needs them.
 */
export type Validator = (
  value: unknown,
  parent: FieldPath,
  step: string | number,
  old: unknown,
  errors: FieldError[],
) => void

const validators = new WeakMap<object, Validator>()
const accepts: Validator = () => {}

/** The function that validates values of a schema. */
export function validatorOf(schema: Schema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const made = makeValidator(schema)
  validators.set(schema, made)
  return made
}

function makeValidator(schema: Schema): Validator {
  switch (schema.type) {
    case 'string':
      return stringValidator(schema)
    case 'integer':
    case 'number':
      return numberValidator(schema)
    case 'list':
      return listValidator(schema)
    case 'map':
      return mapValidator(schema)
    case 'object':
      return objectValidator(schema)
    case 'lazy':
      return (value, parent, step, old, errors) => validatorOf(resolveSchema(schema))(value, parent, step, old, errors)
    default:
      return accepts
  }
}

/** Where a value is: `step` below `parent`. */
export const pathOf = (parent: FieldPath, step: string | number): FieldPath => {
  if (typeof step === 'number') return parent.index(step)
  return step === '' ? parent : parent.field(step)
}

function stringValidator(schema: StringSchema): Validator {
  const { format, minLength, maxLength, pattern } = schema
  const allowed = schema.enum
  if (
    allowed === undefined &&
    format === undefined &&
    pattern === undefined &&
    (minLength ?? maxLength) === undefined
  ) {
    return accepts
  }
  const matcher = pattern === undefined ? undefined : new RegExp(pattern, 'u')
  return (value, parent, step, _old, errors) => {
    if (typeof value !== 'string') return
    const path = (): FieldPath => pathOf(parent, step)
    // The empty string is a string's absence in Go: enumerations and formats say what a value that is set looks like.
    if (value !== '' && allowed !== undefined && !allowed.includes(value)) {
      errors.push(unsupportedField(path(), value, allowed))
    }
    if (value !== '' && format !== undefined) {
      for (const problem of checkFormat(format, value)) errors.push(invalidField(path(), value, problem))
    }
    const length = maxLength === undefined && minLength === undefined ? 0 : [...value].length
    if (maxLength !== undefined && length > maxLength) errors.push(tooLongField(path(), maxLength))
    if (minLength !== undefined && length < minLength) {
      errors.push(invalidField(path(), value, `${path()} in body should be at least ${minLength} chars long`))
    }
    if (matcher !== undefined && !matcher.test(value)) {
      errors.push(invalidField(path(), value, `${path()} in body should match '${pattern}'`))
    }
  }
}

function numberValidator({ minimum, maximum }: Pick<IntegerSchema | NumberSchema, 'minimum' | 'maximum'>): Validator {
  if (minimum === undefined && maximum === undefined) return accepts
  const low = minimum ?? Number.NEGATIVE_INFINITY
  const high = maximum ?? Number.POSITIVE_INFINITY
  const message =
    minimum === undefined
      ? `must be less than or equal to ${maximum}`
      : maximum === undefined
        ? `must be greater than or equal to ${minimum}`
        : rangeMessage(minimum, maximum)
  return (value, parent, step, _old, errors) => {
    if (typeof value !== 'number' || (value >= low && value <= high)) return
    errors.push(invalidField(pathOf(parent, step), value, message))
  }
}

function listValidator(schema: ListSchema): Validator {
  const { minItems, maxItems, listType, mapKeys } = schema
  // Looked up when a value is there: a list may contain objects that contain it.
  let items: Validator | undefined
  return (value, parent, step, old, errors) => {
    // What an update leaves as it was has been checked before.
    if (!Array.isArray(value) || value === old) return
    items ??= validatorOf(schema.items)
    const path = pathOf(parent, step)
    if (maxItems !== undefined && value.length > maxItems) errors.push(tooManyField(path, value.length, maxItems))
    if (minItems !== undefined && value.length < minItems) {
      errors.push(invalidField(path, value.length, `${path} in body should have at least ${minItems} items`))
    }
    if (value.length > 1 && schema.duplicates !== 'allowed') {
      if (listType === 'set') duplicateValues(value, path, errors)
      if (listType === 'map' && mapKeys !== undefined) duplicateKeys(value, mapKeys, path, errors)
    }
    if (items === accepts) return
    const before = listType === 'map' && Array.isArray(old) ? byKey(old, mapKeys ?? []) : undefined
    for (let index = 0; index < value.length; index += 1) {
      const element: unknown = value[index]
      items(element, path, index, before?.get(keyOf(element, mapKeys ?? [])), errors)
    }
  }
}

function duplicateValues(list: readonly unknown[], path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>()
  list.forEach((value, index) => {
    const text = JSON.stringify(value)
    if (seen.has(text)) errors.push(duplicateField(path.index(index), value))
    seen.add(text)
  })
}

/** Lists with one key name that field, as upstream's hand-written checks do; others show all keys. */
function duplicateKeys(list: readonly unknown[], keys: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>()
  list.forEach((element, index) => {
    const text = keyOf(element, keys)
    const known = seen.has(text)
    seen.add(text)
    if (!known || !isJsonObject(element)) return
    const [first = '', ...rest] = keys
    // Elements that lack the key have an error of their own.
    if (rest.length === 0 && element[first] === undefined) return
    const at = path.index(index)
    const all = Object.fromEntries(keys.map((key) => [key, element[key]]))
    errors.push(rest.length === 0 ? duplicateField(at.field(first), element[first]) : duplicateField(at, all))
  })
}

export function keyOf(element: unknown, keys: readonly string[]): string {
  if (!isJsonObject(element)) return ''
  const [first = ''] = keys
  return keys.length === 1 ? JSON.stringify(element[first]) : JSON.stringify(keys.map((key) => element[key]))
}

export const byKey = (list: readonly unknown[], keys: readonly string[]): ReadonlyMap<string, unknown> =>
  new Map(list.map((element) => [keyOf(element, keys), element]))

function mapValidator(schema: MapSchema): Validator {
  const keys = schema.keys === undefined ? accepts : stringValidator(schema.keys)
  let values: Validator | undefined
  return (value, parent, step, old, errors) => {
    values ??= validatorOf(schema.values)
    if (!isJsonObject(value) || value === old || (keys === accepts && values === accepts)) return
    const path = pathOf(parent, step)
    const before = isJsonObject(old) ? old : {}
    for (const [key, each] of Object.entries(value)) {
      keys(key, path, '', undefined, errors)
      values(each, path.key(key), '', before[key], errors)
    }
  }
}

interface FieldValidator {
  readonly name: string
  readonly field: Field
  readonly validate: Validator
  /** An empty string does not count as there. */
  readonly isString: boolean
  /** What is to be said of an empty string that was chosen; undefined where it is fine. */
  readonly allowed: readonly string[] | undefined
}

function objectValidator(schema: ObjectSchema): Validator {
  let fields: readonly FieldValidator[] | undefined
  return (value, parent, step, old, errors) => {
    if (!isJsonObject(value) || value === old) return
    fields ??= compileFields(schema)
    const path = pathOf(parent, step)
    const before = isJsonObject(old) ? old : undefined
    const first = schema.alternatives?.find((name) => value[name] !== undefined)
    for (const field of fields) {
      if (first !== undefined && field.name !== first && schema.alternatives?.includes(field.name)) continue
      validateField(field, value[field.name], path, before?.[field.name], errors)
    }
    for (const union of schema.unions ?? []) addErrors(errors, unionErrors(union, value, path))
    for (const rule of schema.rules ?? []) addErrors(errors, rule(value, { path, old }))
  }
}

function validateField(
  { name, field, validate, isString, allowed }: FieldValidator,
  value: unknown,
  path: FieldPath,
  old: unknown,
  errors: FieldError[],
): void {
  const missing = value === undefined || (isString && value === '')
  const isMissed = missing && field.required && field.default === undefined && field.absenceIsToldByRules !== true
  if (isMissed) errors.push(requiredField(path.field(name)))
  if (value === '' && allowed !== undefined) errors.push(unsupportedField(path.field(name), value, allowed))
  if (field.immutable === true && old !== undefined && !deepEqual(value, old)) {
    errors.push(invalidField(path.field(name), value ?? null, 'field is immutable'))
  }
  if (value !== undefined && value !== null && !(missing && field.required)) validate(value, path, name, old, errors)
}

/** Fields about which there is something to check. */
function compileFields(schema: ObjectSchema): readonly FieldValidator[] {
  const fields: FieldValidator[] = []
  for (const [name, field] of Object.entries(schema.fields)) {
    const validate = validatorOf(field.schema)
    if (validate === accepts && !field.required && field.immutable !== true) continue
    const isString = resolveSchema(field.schema).type === 'string'
    fields.push({ name, field, validate, isString, allowed: allowedInsteadOfEmpty(field) })
  }
  return fields
}

/** The values of an enumeration that stands behind a pointer, unless an empty string is one of them. */
function allowedInsteadOfEmpty({ schema, pointer }: Field): readonly string[] | undefined {
  const resolved = resolveSchema(schema)
  if (pointer !== true || resolved.type !== 'string' || resolved.enum?.includes('') === true) return undefined
  return resolved.enum
}
