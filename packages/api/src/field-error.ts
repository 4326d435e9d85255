import type { FieldPath } from './field-path.ts'
import { goNumber, goQuoted } from './go-text.ts'
import { StructValue } from './internal-structs/struct-value.ts'
import { setMember } from './json.ts'

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

/**
 * One thing wrong with one field of a request. The texts are made when they are read: of a hundred thousand errors few
 * are shown.
 */
export interface FieldError {
  readonly type: FieldErrorType
  readonly field: string
  /** `Required value: name or generateName is required`: without the field. */
  readonly message: string
  /** What is wrong was so before an update: it is warned of, and no more. */
  readonly isTolerated?: true
}

/** Answers name this many errors, and say how many more there are. */
export const fieldErrorsMax = 100

/** Messages show this much of a value, which is all of a pod's template as a rule. Upstream shows values of any length. */
export const shownValueLengthMax = 16 * 1024

class LazyFieldError implements FieldError {
  readonly type: FieldErrorType
  readonly #path: FieldPath
  readonly #describe: () => string

  constructor(type: FieldErrorType, path: FieldPath, describe: () => string) {
    this.type = type
    this.#path = path
    this.#describe = describe
  }

  get field(): string {
    return this.#path.toString()
  }

  get message(): string {
    return this.#describe()
  }
}

/** An error that is only warned of. */
export const toleratedError = ({ type, field, message }: FieldError): FieldError => ({
  type,
  field,
  message,
  isTolerated: true,
})

const withDetail = (head: string, detail: string | undefined): string => (detail ? `${head}: ${detail}` : head)

export function requiredField(path: FieldPath, detail?: string): FieldError {
  return new LazyFieldError('FieldValueRequired', path, () => withDetail('Required value', detail))
}

export function invalidField(path: FieldPath, value: unknown, detail: string): FieldError {
  return new LazyFieldError('FieldValueInvalid', path, () => withDetail(headOf('Invalid value', value), detail))
}

/** In place of a value that is not shown, as lists and objects are where a rule of a custom resource refuses them. */
export const unshownValue: unique symbol = Symbol('unshown')

const headOf = (head: string, value: unknown): string => (value === unshownValue ? head : `${head}: ${shown(value)}`)

/** The values are shown in the order given: upstream sorts some of its lists, and not others. */
export function unsupportedField(path: FieldPath, value: unknown, supported: readonly string[]): FieldError {
  return new LazyFieldError('FieldValueNotSupported', path, () => {
    // Most lists are short and fixed; names that an object itself brings may be very many.
    const values = supported.slice(0, fieldErrorsMax).map((each) => JSON.stringify(each))
    return withDetail(
      `Unsupported value: ${shown(value)}`,
      values.length > 0 ? `supported values: ${values.join(', ')}` : '',
    )
  })
}

export function duplicateField(path: FieldPath, value: unknown, detail?: string): FieldError {
  return new LazyFieldError('FieldValueDuplicate', path, () => withDetail(headOf('Duplicate value', value), detail))
}

export function forbiddenField(path: FieldPath, detail: string): FieldError {
  return new LazyFieldError('FieldValueForbidden', path, () => withDetail('Forbidden', detail))
}

export function notFoundField(path: FieldPath, value: unknown, detail?: string): FieldError {
  return new LazyFieldError('FieldValueNotFound', path, () => withDetail(`Not found: ${shown(value)}`, detail))
}

/** The server could not find out whether something is wrong. */
export function internalField(path: FieldPath, detail: string): FieldError {
  return new LazyFieldError('InternalError', path, () => withDetail('Internal error', detail))
}

/** `unit` is what is counted: upstream says `bytes` for most strings. */
export function tooLongField(path: FieldPath, max: number, unit: 'bytes' | 'characters' = 'bytes'): FieldError {
  return new LazyFieldError(
    'FieldValueTooLong',
    path,
    () => `Too long: may not be more than ${max} ${max === 1 ? unit.slice(0, -1) : unit}`,
  )
}

export function tooManyField(path: FieldPath, actual: number, max: number): FieldError {
  return new LazyFieldError(
    'FieldValueTooMany',
    path,
    () => `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  )
}

export function typeInvalidField(path: FieldPath, value: unknown, detail: string): FieldError {
  return new LazyFieldError('FieldValueTypeInvalid', path, () => withDetail(`Invalid value: ${shown(value)}`, detail))
}

/** `spec.replicas: Invalid value: -1: must be …` */
export function describeFieldError({ field, message }: FieldError): string {
  return field === '' ? message : `${field}: ${message}`
}

/** Adds errors to others. Very many of them, spread into `push`, would run out of stack. */
export function addErrors(errors: FieldError[], more: Iterable<FieldError>): void {
  for (const error of more) errors.push(error)
}

/** A value as upstream shows it: one that is missing as a null. */
function shown(given: unknown): string {
  const value = given instanceof StructValue ? given.shown : given
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number') return goNumber(value)
  if (typeof value === 'string') return shortQuoted(value)
  return typeof value === 'object' ? htmlSafe(shortText(value)) : String(value)
}

/** JSON as Go writes it: what means something in HTML is escaped. */
const htmlSafe = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** A text in quotes as Go's `%q` has it, of which a long one is cut. */
function shortQuoted(text: string): string {
  const quoted = goQuoted(text.slice(0, shownValueLengthMax))
  return text.length <= shownValueLengthMax ? quoted : `${quoted.slice(0, shownValueLengthMax)}...`
}

/** A value as JSON for a message, of which a long one is cut. */
export function shortText(value: unknown): string {
  const room = { left: shownValueLengthMax }
  const text = JSON.stringify(beginningOf(value, room))
  return room.left >= 0 ? text : `${text.slice(0, shownValueLengthMax)}...`
}

/** As much of a value as there is room for, so that of a long one only the beginning is ever made into text. */
function beginningOf(value: unknown, room: { left: number }): unknown {
  if (typeof value === 'string') {
    const beginning = value.slice(0, Math.max(room.left, 0))
    room.left -= value.length
    return beginning
  }
  room.left -= 1
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (const each of value) {
      if (room.left < 0) break
      list.push(beginningOf(each, room))
    }
    return list
  }
  const object: Record<string, unknown> = {}
  for (const [key, each] of Object.entries(value)) {
    if (room.left < 0) break
    room.left -= key.length
    setMember(object, key, beginningOf(each, room))
  }
  return object
}
