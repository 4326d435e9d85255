/**
 * Validation of custom resources, in the words of kube-openapi and apiextensions. An update may keep what is wrong already: a
 * part that is as it was before is not held against it (KEP-4008).
 */
import { addErrors, duplicateField, type FieldError, invalidField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { isJsonObject, member, sortKeys } from '../../json.ts'
import { resolveSchema } from '../resolve.ts'
import type { ListSchema, MapSchema, ObjectSchema, Schema } from '../schema.ts'
import { byKey, keyOf, pathOf, type Validator } from '../validate.ts'
import { isAsBefore, staysAsItWas } from './as-before.ts'
import { valueCheck } from './checks.ts'
import { embeddedResourceErrors, holdsEmbeddedResources } from './embedded-resources.ts'

const validators = new WeakMap<object, Validator>()
const accepts: Validator = () => {}

/** The function that validates values of a schema of a custom kind: a whole object, or a part of one. */
export function structuralValidatorOf(schema: Schema): Validator {
  const known = validators.get(schema)
  if (known !== undefined) return known
  const made =
    schema.type === 'object' && schema.dialect === 'structural' ? rootValidator(schema) : nodeValidator(schema)
  validators.set(schema, made)
  return made
}

/** Errors that keep rules from being asked: they may rely on what is wrong. */
const blocking: ReadonlySet<FieldError['type']> = new Set<FieldError['type']>([
  'FieldValueRequired',
  'FieldValueNotSupported',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/**
 * An object as a whole is never as it was, not even where nothing changes: upstream compares only what the schema describes, and a schema
 * does not describe metadata. So what is missing at the root, such as a spec, is told with every write.
 */
function rootValidator(schema: ObjectSchema): Validator {
  const { check, parts } = validatorsOfNode(schema)
  const embedded = holdsEmbeddedResources(schema)
  const { rules = [] } = schema
  return (value, parent, step, old, errors) => {
    const before = errors.length
    const path = pathOf(parent, step)
    check?.before(value, parent, step, errors)
    parts(value, parent, step, old, errors)
    check?.after?.(value, parent, step, errors)
    dropRepeated(errors, before)
    if (embedded) embeddedResourceErrors(schema, value, path, errors)
    if (value !== old) addErrors(errors, listTypeErrors(schema, value, old, path))
    if (rules.length === 0) return
    if (errors.some(({ type }) => blocking.has(type))) {
      errors.push(invalidField(FieldPath.of('<nil>'), null, unchecked))
      return
    }
    for (const rule of rules) addErrors(errors, rule(value, { path, old }))
  }
}

/** What several alternatives say is told once. */
function dropRepeated(errors: FieldError[], from: number): void {
  if (errors.length - from < 2) return
  const told = new Set<string>()
  const kept = errors.slice(from).filter(({ field, message }) => {
    const text = `${field}: ${message}`
    if (told.has(text)) return false
    told.add(text)
    return true
  })
  errors.length = from
  addErrors(errors, kept)
}

/** What is wrong with a part counts only where that part has changed, or is never taken for unchanged. */
function nodeValidator(schema: Schema): Validator {
  const { check, parts } = validatorsOfNode(schema)
  if (check === undefined && parts === accepts) return accepts
  return (value, parent, step, old, errors) => {
    if (value === old && staysAsItWas(schema, value)) return
    const before = errors.length
    check?.before(value, parent, step, errors)
    parts(value, parent, step, old, errors)
    check?.after?.(value, parent, step, errors)
    if (errors.length > before && old !== undefined && isAsBefore(schema, value, old)) errors.length = before
  }
}

/** What checks a value itself, if anything does, and what checks its parts. */
function validatorsOfNode(schema: Schema) {
  return {
    check: schema.checks === undefined ? undefined : valueCheck(schema.checks, schema.nullable === true),
    parts: partsValidator(schema),
  }
}

/** The validator of the fields, values or elements of a value. */
function partsValidator(schema: Schema): Validator {
  switch (schema.type) {
    case 'object':
      return schema.described === undefined ? fieldsValidator(schema) : partsValidator(schema.described)
    case 'map':
      return valuesValidator(schema)
    case 'list':
      return itemsValidator(schema)
    case 'lazy':
      return (value, parent, step, old, errors) =>
        structuralValidatorOf(resolveSchema(schema))(value, parent, step, old, errors)
    default:
      return accepts
  }
}

function fieldsValidator({ fields, dialect }: ObjectSchema): Validator {
  const isRoot = dialect === 'structural'
  const checked = Object.entries(fields)
    .map(([name, field]) => {
      const validate = structuralValidatorOf(field.schema)
      return [name, isRoot && isTypeField(name) ? unratcheted(validate) : validate] as const
    })
    .filter(([, validate]) => validate !== accepts)
  if (checked.length === 0) return accepts
  return (value, parent, step, old, errors) => {
    if (!isJsonObject(value)) return
    const path = pathOf(parent, step)
    const before = isJsonObject(old) ? old : {}
    for (const [name, validate] of checked) {
      const each = member(value, name)
      if (each !== undefined) validate(each, path, name, member(before, name), errors)
    }
  }
}

/** The old object is read in the version of the request, so that nobody sees these fields of an object change. */
const isTypeField = (name: string): boolean => name === 'apiVersion' || name === 'kind'

/** Holds against a value what was wrong with it before. */
function unratcheted(validate: Validator): Validator {
  if (validate === accepts) return accepts
  return (value, parent, step, _old, errors) => validate(value, parent, step, undefined, errors)
}

function valuesValidator(schema: MapSchema): Validator {
  const values = structuralValidatorOf(schema.values)
  if (values === accepts) return accepts
  return (value, parent, step, old, errors) => {
    if (!isJsonObject(value)) return
    const path = pathOf(parent, step)
    const before = isJsonObject(old) ? old : {}
    // Keys stand in paths as fields do, with a dot before them even where nothing else is: so kube-openapi writes them.
    const isRoot = path === FieldPath.root
    for (const [key, each] of Object.entries(value))
      values(each, path.field(isRoot ? `.${key}` : key), '', member(before, key), errors)
  }
}

/** Elements of a list are those of before only where keys say so. */
function itemsValidator({ items: itemSchema, listType, mapKeys = [] }: ListSchema): Validator {
  const items = structuralValidatorOf(itemSchema)
  if (items === accepts) return accepts
  return (value, parent, step, old, errors) => {
    if (!Array.isArray(value)) return
    const path = pathOf(parent, step)
    const before = listType === 'map' && Array.isArray(old) ? byKey(old, mapKeys) : undefined
    for (let index = 0; index < value.length; index += 1) {
      const element: unknown = value[index]
      items(element, path, index, before?.get(keyOf(element, mapKeys)), errors)
    }
  }
}

/** Duplicates in sets and maps; where there were some before, an update may have others. */
function listTypeErrors(schema: Schema, value: unknown, old: unknown, path: FieldPath): readonly FieldError[] {
  const duplicates = duplicatesOf(schema)
  const errors: FieldError[] = []
  duplicates?.(value, path, errors)
  if (errors.length === 0 || old === undefined) return errors
  const before: FieldError[] = []
  duplicates?.(old, path, before)
  return before.length > 0 ? [] : errors
}

type DuplicateFinder = (value: unknown, path: FieldPath, errors: FieldError[]) => void

const finders = new WeakMap<object, { readonly find: DuplicateFinder | undefined }>()

/** Finds duplicates in a value; undefined where nothing in the schema forbids any. */
function duplicatesOf(schema: Schema): DuplicateFinder | undefined {
  const known = finders.get(schema)
  if (known !== undefined) return known.find
  const find = makeFinder(schema)
  finders.set(schema, { find })
  return find
}

function makeFinder(schema: Schema): DuplicateFinder | undefined {
  if (schema.type === 'list') return listFinder(schema)
  if (schema.type === 'map') {
    const values = duplicatesOf(schema.values)
    return (
      values &&
      ((value, path, errors) => {
        if (isJsonObject(value)) for (const [key, each] of Object.entries(value)) values(each, path.key(key), errors)
      })
    )
  }
  if (schema.type !== 'object' || schema.dialect === 'go') return undefined
  const fields = Object.entries(schema.fields).flatMap(([name, field]) => {
    const find = duplicatesOf(field.schema)
    return find === undefined ? [] : [[name, find] as const]
  })
  if (fields.length === 0) return undefined
  return (value, path, errors) => {
    if (!isJsonObject(value)) return
    for (const [name, find] of fields) find(member(value, name), path.field(name), errors)
  }
}

function listFinder({ items, listType, mapKeys = [] }: ListSchema): DuplicateFinder | undefined {
  const below = duplicatesOf(items)
  if (below === undefined && listType !== 'set' && listType !== 'map') return undefined
  return (value, path, errors) => {
    if (!Array.isArray(value)) return
    if (listType === 'set') duplicates(value, path, errors)
    if (listType === 'map') duplicateElements(value, mapKeys, path, errors)
    value.forEach((each: unknown, index) => {
      below?.(each, path.index(index), errors)
    })
  }
}

function duplicateElements(
  list: readonly unknown[],
  mapKeys: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const other = list.findIndex((each) => each !== null && !isJsonObject(each))
  if (other !== -1) {
    errors.push(invalidField(path.index(other), list[other], 'must be an object for an array of list-type map'))
    return
  }
  const keys = list.map((each) =>
    Object.fromEntries(
      mapKeys
        .filter((key) => isJsonObject(each) && Object.hasOwn(each, key))
        .map((key) => [key, (each as Record<string, unknown>)[key]]),
    ),
  )
  duplicates(keys, path, errors)
}

/** The second of several that are the same is named, not those that follow. */
function duplicates(values: readonly unknown[], path: FieldPath, errors: FieldError[]): void {
  const seen = new Map<string, number>()
  values.forEach((value, index) => {
    const text = canonicalText(value)
    const times = seen.get(text) ?? 0
    seen.set(text, times + 1)
    if (times === 1) errors.push(duplicateField(path.index(index), sortKeys(value)))
  })
}

/** A value as JSON with its keys in order. */
function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    isJsonObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  )
}
