import type { FieldPath } from './field-path.ts'

/** What is wrong with a field. The names are the reasons of `status.details.causes` (apimachinery's field.ErrorType). */
export type FieldErrorType =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'
  | 'InternalError'

/** One thing wrong with one field of a request. */
export interface FieldError {
  readonly type: FieldErrorType
  readonly field: string
  /** `Required value: name or generateName is required`: without the field. */
  readonly message: string
}

/** A value as upstream shows it: one that is missing as the text "null". */
const shown = (value: unknown): string =>
  value === null || value === undefined
    ? '"null"'
    : typeof value === 'object'
      ? JSON.stringify(value)
      : typeof value === 'string'
        ? JSON.stringify(value)
        : String(value)

const withDetail = (head: string, detail: string | undefined): string => (detail ? `${head}: ${detail}` : head)

export function requiredField(path: FieldPath, detail?: string): FieldError {
  return { type: 'FieldValueRequired', field: path.toString(), message: withDetail('Required value', detail) }
}

export function invalidField(path: FieldPath, value: unknown, detail: string): FieldError {
  return {
    type: 'FieldValueInvalid',
    field: path.toString(),
    message: withDetail(`Invalid value: ${shown(value)}`, detail),
  }
}

/** The values are shown in the order given: upstream sorts some of its lists, and not others. */
export function unsupportedField(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  const values = supported.map((each) => JSON.stringify(each))
  const message = withDetail(
    `Unsupported value: ${shown(value)}`,
    values.length > 0 ? `supported values: ${values.join(', ')}` : '',
  )
  return { type: 'FieldValueNotSupported', field: path.toString(), message }
}

export function duplicateField(path: FieldPath, value: unknown): FieldError {
  return { type: 'FieldValueDuplicate', field: path.toString(), message: `Duplicate value: ${shown(value)}` }
}

export function forbiddenField(path: FieldPath, detail: string): FieldError {
  return { type: 'FieldValueForbidden', field: path.toString(), message: withDetail('Forbidden', detail) }
}

export function notFoundField(path: FieldPath, value: unknown): FieldError {
  return { type: 'FieldValueNotFound', field: path.toString(), message: `Not found: ${shown(value)}` }
}

/** `unit` is what is counted: upstream says `bytes` for most strings. */
export function tooLongField(path: FieldPath, max: number, unit: 'bytes' | 'characters' = 'bytes'): FieldError {
  return { type: 'FieldValueTooLong', field: path.toString(), message: `Too long: may not be more than ${max} ${unit}` }
}

export function tooManyField(path: FieldPath, actual: number, max: number): FieldError {
  return {
    type: 'FieldValueTooMany',
    field: path.toString(),
    message: `Too many: ${actual}: must have at most ${max} items`,
  }
}

export function typeInvalidField(path: FieldPath, value: unknown, detail: string): FieldError {
  return {
    type: 'FieldValueTypeInvalid',
    field: path.toString(),
    message: withDetail(`Invalid value: ${shown(value)}`, detail),
  }
}

/** `spec.replicas: Invalid value: -1: must be …` */
export function describeFieldError(error: FieldError): string {
  return error.field === '' ? error.message : `${error.field}: ${error.message}`
}
