/** Objects of the API inside custom resources: they have a kind and an apiVersion, and metadata like any other. */
import { addErrors, type FieldError, invalidField, requiredField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { isJsonObject, type JsonObject, setMember } from '../../json.ts'
import type { ObjectMeta } from '../../meta.ts'
import { validateObjectMeta } from '../../object-meta-validation.ts'
import { checkFormat } from '../../string-formats.ts'
import type { Field, ObjectSchema, Schema } from '../schema.ts'

/** Whether values of a schema may hold such objects. */
export function holdsEmbeddedResources(schema: Schema): boolean {
  switch (schema.type) {
    case 'object':
      return Object.values(schema.fields).some(
        ({ schema: field }) =>
          (field.type === 'object' && field.embeddedResource === true) || holdsEmbeddedResources(field),
      )
    case 'map':
      return isEmbedded(schema.values) || holdsEmbeddedResources(schema.values)
    case 'list':
      return isEmbedded(schema.items) || holdsEmbeddedResources(schema.items)
    default:
      return false
  }
}

const isEmbedded = (schema: Schema): boolean => schema.type === 'object' && schema.embeddedResource === true

/** A value without the fields that metadata in it has and no metadata has. */
export function withKnownMetadata(schema: Schema, value: unknown): unknown {
  if (schema.type === 'list' && Array.isArray(value)) return value.map((each) => withKnownMetadata(schema.items, each))
  if (!isJsonObject(value) || (schema.type !== 'object' && schema.type !== 'map')) return value
  const isMetadata = schema.type === 'object' && schema.dialect === 'go'
  const known: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(value)) {
    const below = schema.type === 'map' ? schema.values : fieldOf(schema, name)?.schema
    if (isMetadata && below === undefined) continue
    setMember(known, name, below === undefined ? each : withKnownMetadata(below, each))
  }
  return known
}

const fieldOf = ({ fields }: ObjectSchema, name: string): Field | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined

/** Adds what is wrong with the objects in a value of the schema. */
export function embeddedResourceErrors(schema: Schema, value: unknown, path: FieldPath, errors: FieldError[]): void {
  if (schema.type === 'object' && isJsonObject(value)) {
    if (schema.embeddedResource === true) resourceErrors(value, path, errors)
    for (const [name, field] of Object.entries(schema.fields)) {
      if (Object.hasOwn(value, name)) embeddedResourceErrors(field.schema, value[name], path.field(name), errors)
    }
  } else if (schema.type === 'map' && isJsonObject(value)) {
    for (const [key, each] of Object.entries(value)) embeddedResourceErrors(schema.values, each, path.key(key), errors)
  } else if (schema.type === 'list' && Array.isArray(value)) {
    value.forEach((each, index) => {
      embeddedResourceErrors(schema.items, each, path.index(index), errors)
    })
  }
}

function resourceErrors(resource: JsonObject, path: FieldPath, errors: FieldError[]): void {
  const { apiVersion, kind, metadata } = resource
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (value === undefined) errors.push(requiredField(path.field(name)))
    else if (value === '') errors.push(invalidField(path.field(name), value, 'must not be empty'))
  }
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    errors.push(invalidField(path.field('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  }
  if (typeof kind === 'string' && kind !== '') {
    const problems = checkFormat('dns1035-label', kind.toLowerCase())
    if (problems.length > 0) {
      const detail = `may have mixed case, but should otherwise match: ${problems.join(',')}`
      errors.push(invalidField(path.field('kind'), kind, detail))
    }
  }
  if (!isJsonObject(metadata)) return
  // It may be nameless: it is a template, or has its name from somewhere else.
  const meta = metadata as ObjectMeta
  const named = (meta.name ?? '') === '' ? { ...meta, name: 'nameless' } : meta
  const namespaced = (meta.namespace ?? '') !== ''
  addErrors(errors, validateObjectMeta(named, { namespaced, nameFormat: 'path-segment' }, path.field('metadata')))
}
