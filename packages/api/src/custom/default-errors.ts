/** Defaults must be what the schema they belong to describes, in the words of apiextensions' validation. */
import { deepEqual } from '../equality.ts'
import { type FieldError, invalidField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import { compile } from '../schema/compile.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ObjectSchema, Schema } from '../schema/schema.ts'
import { ApiError } from '../status.ts'
import { compileRules } from './rules.ts'

/** What is wrong with the defaults in a schema. `path` is where it stands. */
export function defaultErrors(schema: Schema, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = []
  addDefaultErrors(schema, path, errors)
  return errors
}

function addDefaultErrors(schema: Schema, path: FieldPath, errors: FieldError[]): void {
  if (schema.default !== undefined) addErrorsOf(schema, path.field('default'), errors)
  switch (schema.type) {
    case 'object':
      addFieldErrors(schema, path, errors)
      break
    case 'list':
      addDefaultErrors(schema.items, path.field('items'), errors)
      break
    case 'map':
      addDefaultErrors(schema.values, path.field('additionalProperties'), errors)
      break
    default:
  }
}

function addFieldErrors({ fields, dialect }: ObjectSchema, path: FieldPath, errors: FieldError[]): void {
  if (dialect === 'go') return
  for (const [name, field] of Object.entries(fields)) {
    addDefaultErrors(field.schema, path.field('properties').key(name), errors)
  }
}

function addErrorsOf(schema: Schema, path: FieldPath, errors: FieldError[]): void {
  const value = schema.default
  const { decode, validate } = compile(resolveSchema(schema) as Schema, { dialect: 'structural' })
  try {
    if (!deepEqual(decode(value).value, value)) {
      errors.push(invalidField(path, value, 'must not have unknown fields'))
      return
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    errors.push(invalidField(path, value, error.message))
    return
  }
  const invalid = validate(value, { path })
  errors.push(...invalid)
  // Rules may rely on what is wrong; errors of the rules themselves are told where they stand.
  if (invalid.length === 0) errors.push(...(compileRules(schema, path).rule?.(value, { path }) ?? []))
}
