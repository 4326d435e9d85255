/** Checks in JSON Schema's vocabulary, made into functions, with the messages of kube-openapi's validation. */
import { deepEqual } from '../../equality.ts'
import {
  addErrors,
  type FieldError,
  invalidField,
  requiredField,
  tooLongField,
  tooManyField,
  typeInvalidField,
  unsupportedField,
} from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { goFloat, goNumber, goQuoted } from '../../go-text.ts'
import { isJsonObject, type JsonObject, sortKeys } from '../../json.ts'
import type { JsonType, ValueChecks } from '../schema.ts'
import { pathOf } from '../validate.ts'
import { formatChecks, isKnownFormat } from './formats.ts'

/**
 * Checks the value at `step` below `parent` and adds what is wrong. Returns how many checks passed: of alternatives that all
 * fail, the errors of the closest are shown.
 */
export type Check = (value: unknown, parent: FieldPath, step: string | number, errors: FieldError[]) => number

/** Checks of a value by itself, as they stand before and after those of the fields and elements in it. */
export interface ValueCheck {
  readonly before: Check
  readonly after: Check | undefined
}

/** The check of an alternative, with all that stands in it. */
function alternativeCheck(checks: ValueChecks): Check {
  const { before, after } = valueCheck(checks)
  const fields = Object.entries(checks.properties ?? {}).map(([name, each]) => [name, alternativeCheck(each)] as const)
  const items = checks.items === undefined ? undefined : alternativeCheck(checks.items)
  return (value, parent, step, errors) => {
    let passed = before(value, parent, step, errors)
    if (Array.isArray(value) && items !== undefined) {
      const path = pathOf(parent, step)
      for (let index = 0; index < value.length; index += 1) passed += items(value[index], path, index, errors)
    } else if (isJsonObject(value) && fields.length > 0) {
      const path = pathOf(parent, step)
      for (const [name, check] of fields) {
        if (Object.hasOwn(value, name)) passed += check(value[name], path, name, errors)
      }
    }
    return passed + (after?.(value, parent, step, errors) ?? 0)
  }
}

/**
 * The checks of a value by itself, in the order of kube-openapi: how long a list is, whether it is one of those allowed, and which
 * fields an object lacks are told after what is wrong with the elements and fields.
 */
export function valueCheck(checks: ValueChecks, nullable = false): ValueCheck {
  const type = typeCheck(checks, nullable)
  const own = inTurn([alternativesCheck(checks), stringCheck(checks), formatCheck(checks), numberCheck(checks)])
  const enumeration = enumCheck(checks)
  const size = sizeCheck(checks)
  return {
    before: (value, parent, step, errors) => {
      let passed = type?.(value, parent, step, errors) ?? 0
      // Whatever type is wanted, each looks at values of its own.
      if (value !== null) passed += own?.(value, parent, step, errors) ?? 0
      if (!Array.isArray(value)) passed += enumeration?.(value, parent, step, errors) ?? 0
      return passed + (size?.(value, parent, step, errors) ?? 0)
    },
    after: inTurn([listCheck(checks), enumeration && ofLists(enumeration), requiredCheck(checks)]),
  }
}

const ofLists =
  (check: Check): Check =>
  (value, parent, step, errors) =>
    Array.isArray(value) ? check(value, parent, step, errors) : 0

/** All of these checks; undefined where there are none. */
function inTurn(all: readonly (Check | undefined)[]): Check | undefined {
  const checks = all.filter((check) => check !== undefined)
  const [first, ...others] = checks
  if (first === undefined || others.length === 0) return first
  return (value, parent, step, errors) => {
    let passed = 0
    for (const check of checks) passed += check(value, parent, step, errors)
    return passed
  }
}

/** Errors about alternatives name no field: their text does. */
const nowhere = FieldPath.of('<nil>')

function schemaError(path: FieldPath, text: string): FieldError {
  return invalidField(nowhere, '', `${JSON.stringify(path.toString())} ${text}`)
}

function typeOf(value: unknown): JsonType | 'null' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return isInt64(value) ? 'integer' : 'number'
  if (typeof value === 'bigint') return 'integer'
  return typeof value as 'string' | 'boolean' | 'object'
}

/** Whether JSON has the number as an integer, as Go reads it. */
const isInt64 = (value: number): boolean => Number.isInteger(value) && Math.abs(value) < 2 ** 63

/** How Go calls the numbers of JSON. */
const goTypes: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' }

function typeCheck({ types = [], format = '' }: ValueChecks, nullable: boolean): Check | undefined {
  const known = isCheckedFormat(types, format)
  if (types.length === 0 && !known) return undefined
  const wanted = types.join(',')
  const isNumeric = types.includes('number') || types.includes('integer')
  return (value, parent, step, errors) => {
    const refuse = (text: string, type: string): number => {
      const path = pathOf(parent, step)
      errors.push(typeInvalidField(path, type, `${path} in body must be of type ${text}: ${JSON.stringify(type)}`))
      return 0
    }
    const type = typeOf(value)
    if (type === 'null') return nullable || types.length === 0 ? 1 : refuse(wanted, type)
    const fits =
      types.includes(type) ||
      (type === 'integer' && types.includes('number')) ||
      (type === 'number' && types.includes('integer') && isWhole(value))
    const isTextual = type === 'string' || type === 'array'
    if (known && !isTextual && !fits && goTypes[type] !== format) return refuse(format, goTypes[type] ?? '')
    // Of a text or a list with a format only that is looked at.
    if (fits || types.length === 0 || (known && !isNumeric && isTextual)) return 1
    return refuse(wanted, type)
  }
}

const isWhole = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 53

/** Formats of other types, and those that nobody knows, are passed over. */
function isCheckedFormat(types: readonly JsonType[], format: string): boolean {
  if (format === '') return false
  const [type = 'string', ...others] = types
  if (others.length > 0 || type === 'string') return isKnownFormat(format)
  if (type === 'integer') return format === 'int32' || format === 'int64'
  return type === 'number' && (format === 'float' || format === 'double')
}

function alternativesCheck({ anyOf, oneOf, allOf, not }: ValueChecks): Check | undefined {
  return inTurn([
    anyOf && anyOfCheck(anyOf.map(alternativeCheck)),
    oneOf && oneOfCheck(oneOf.map(alternativeCheck)),
    allOf && allOfCheck(allOf.map(alternativeCheck)),
    not && notCheck(alternativeCheck(not)),
  ])
}

/** What came of one alternative. */
interface Outcome {
  readonly errors: readonly FieldError[]
  readonly passed: number
}

function tryOut(check: Check, value: unknown, parent: FieldPath, step: string | number): Outcome {
  const errors: FieldError[] = []
  const passed = check(value, parent, step, errors)
  return { errors, passed }
}

/** Of alternatives that failed the one most of which passed, the first among equals. */
function closest(outcomes: readonly Outcome[]): Outcome | undefined {
  return outcomes.reduce<Outcome | undefined>(
    (best, each) => (best === undefined || each.passed > best.passed ? each : best),
    undefined,
  )
}

function anyOfCheck(alternatives: readonly Check[]): Check {
  return (value, parent, step, errors) => {
    const failed: Outcome[] = []
    for (const alternative of alternatives) {
      const outcome = tryOut(alternative, value, parent, step)
      if (outcome.errors.length === 0) return outcome.passed
      failed.push(outcome)
    }
    const best = closest(failed)
    errors.push(schemaError(pathOf(parent, step), 'must validate at least one schema (anyOf)'))
    addErrors(errors, best?.errors ?? [])
    return best?.passed ?? 0
  }
}

function oneOfCheck(alternatives: readonly Check[]): Check {
  return (value, parent, step, errors) => {
    const outcomes = alternatives.map((alternative) => tryOut(alternative, value, parent, step))
    const valid = outcomes.filter((outcome) => outcome.errors.length === 0)
    const [only] = valid
    if (only !== undefined && valid.length === 1) return only.passed
    const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`
    const text = `must validate one and only one schema (oneOf). ${found}`
    const best = valid.length === 0 ? closest(outcomes) : undefined
    errors.push(schemaError(pathOf(parent, step), text))
    addErrors(errors, best?.errors ?? [])
    return best?.passed ?? 0
  }
}

function allOfCheck(alternatives: readonly Check[]): Check {
  return (value, parent, step, errors) => {
    const outcomes = alternatives.map((alternative) => tryOut(alternative, value, parent, step))
    for (const outcome of outcomes) addErrors(errors, outcome.errors)
    const valid = outcomes.filter((outcome) => outcome.errors.length === 0).length
    if (valid !== outcomes.length) {
      const none = valid === 0 ? '. None validated' : ''
      errors.push(schemaError(pathOf(parent, step), `must validate all the schemas (allOf)${none}`))
    }
    return outcomes.reduce((sum, { passed }) => sum + passed, 0)
  }
}

function notCheck(alternative: Check): Check {
  return (value, parent, step, errors) => {
    if (tryOut(alternative, value, parent, step).errors.length > 0) return 0
    errors.push(schemaError(pathOf(parent, step), 'must not validate the schema (not)'))
    return 0
  }
}

/** Characters, as JSON Schema counts them. */
function lengthOf(text: string): number {
  let length = 0
  for (const _ of text) length += 1
  return length
}

/** The first thing wrong with a text is told. */
function stringCheck({ minLength, maxLength, pattern }: ValueChecks): Check | undefined {
  if (minLength === undefined && maxLength === undefined && pattern === undefined) return undefined
  return (value, parent, step, errors) => {
    if (typeof value !== 'string') return 0
    const error = textError(value, parent, step)
    if (error === undefined) return 1
    errors.push(error)
    return 0
  }
  function textError(value: string, parent: FieldPath, step: string | number): FieldError | undefined {
    // A character is one or two units: short texts need not be counted.
    if (maxLength !== undefined && value.length > maxLength && lengthOf(value) > maxLength) {
      return tooLongField(pathOf(parent, step), maxLength)
    }
    if (minLength !== undefined && lengthOf(value) < minLength) {
      const path = pathOf(parent, step)
      return invalidField(path, value, `${path} in body should be at least ${minLength} chars long`)
    }
    if (pattern === undefined || pattern.matches(value)) return undefined
    const path = pathOf(parent, step)
    return invalidField(path, value, `${path} in body should match '${pattern.source}'`)
  }
}

/** Formats that nobody knows are passed over. */
function formatCheck({ format, types = [] }: ValueChecks): Check | undefined {
  const isChecked = format !== undefined && isCheckedFormat(types, format)
  const holds = isChecked ? formatChecks.get(format.replaceAll('-', '')) : undefined
  if (format === undefined || holds === undefined) return undefined
  return (value, parent, step, errors) => {
    if (typeof value !== 'string') return 0
    if (holds(value)) return 1
    const path = pathOf(parent, step)
    errors.push(typeInvalidField(path, value, `${path} in body must be of type ${format}: ${goQuoted(value)}`))
    return 0
  }
}

function numberCheck(checks: ValueChecks): Check | undefined {
  const { minimum, maximum, multipleOf } = checks
  const capacity = capacityOf(checks)
  if ((minimum ?? maximum ?? multipleOf ?? capacity) === undefined) return undefined
  return (value, parent, step, errors) => {
    if (typeof value !== 'number') return 0
    const before = errors.length
    const path = (): FieldPath => pathOf(parent, step)
    const outside = (what: string): void => {
      errors.push(invalidField(nowhere, '', `${what} value must be of type ${capacity?.text} in ${path()}`))
    }
    /** Bounds are compared as what the value is, unless they are none of its type. */
    const bound = (limit: number, what: string): number => {
      const fits = capacity?.holds(limit) ?? true
      if (!fits) outside(what)
      return fits && isInt64(value) ? Math.trunc(limit) : limit
    }
    if (capacity?.holds(value) === false) outside('Checked')
    if (multipleOf !== undefined) {
      const problem = multipleProblem(value, bound(multipleOf, 'MultipleOf'), path)
      if (problem !== undefined) errors.push(problem)
    }
    if (minimum !== undefined) {
      const least = bound(minimum, 'Minimum boundary')
      const { exclusiveMinimum = false } = checks
      if (exclusiveMinimum ? value <= least : value < least) {
        const text = `${path()} in body should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${boundText(value, least)}`
        errors.push(invalidField(path(), value, text))
      }
    }
    if (maximum !== undefined) {
      const most = bound(maximum, 'Maximum boundary')
      const { exclusiveMaximum = false } = checks
      if (exclusiveMaximum ? value >= most : value > most) {
        const text = `${path()} in body should be less than ${exclusiveMaximum ? '' : 'or equal to '}${boundText(value, most)}`
        errors.push(invalidField(path(), value, text))
      }
    }
    return errors.length === before ? 1 : 0
  }
}

/** A bound as what the value is. */
const boundText = (value: number, limit: number): string => (isInt64(value) ? String(limit) : goFloat(limit))

/** What the type and the format of a schema can hold. */
interface Capacity {
  readonly text: string
  holds(value: number): boolean
}

function capacityOf({ types = [], format = '' }: ValueChecks): Capacity | undefined {
  const [type, ...others] = types
  if (others.length > 0) return undefined
  const named = isCheckedFormat(types, format) ? `with format ${format}` : '(default format)'
  if (type === 'integer') {
    const limit = format === 'int32' ? 2 ** 31 : 2 ** 63
    return {
      text: `integer ${named}`,
      // One that is a bigint is in range of an int64.
      holds: (value) => (typeof value === 'bigint' || Number.isInteger(value)) && value >= -limit && value < limit,
    }
  }
  if (type !== 'number' || format !== 'float') return undefined
  return { text: `number ${named}`, holds: (value) => Number.isFinite(Math.fround(value)) }
}

function multipleProblem(value: number, factor: number, path: () => FieldPath): FieldError | undefined {
  if (factor <= 0) {
    return invalidField(
      path(),
      factor,
      `factor MultipleOf declared for ${path()} must be positive: ${goNumber(factor)}`,
    )
  }
  const isMultipleOf = isWholeMultiple(value, factor) ?? isMultiple(Number(value), factor)
  return isMultipleOf
    ? undefined
    : invalidField(path(), value, `${path()} in body should be a multiple of ${goNumber(factor)}`)
}

/** Undefined where one of the two is no whole number. */
function isWholeMultiple(value: number | bigint, factor: number): boolean | undefined {
  if (!Number.isInteger(factor)) return undefined
  if (typeof value === 'bigint') return value % BigInt(factor) === 0n
  return isInt64(value) ? value % factor === 0 : undefined
}

/** Small factors are multiplied with, not divided by, so that 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  const times = factor < 1 ? (1 / factor) * value : value / factor
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times))
}

function listCheck({ minItems, maxItems }: ValueChecks): Check | undefined {
  if (minItems === undefined && maxItems === undefined) return undefined
  return (value, parent, step, errors) => {
    if (!Array.isArray(value)) return 0
    if (minItems !== undefined && value.length < minItems) {
      const path = pathOf(parent, step)
      errors.push(invalidField(path, value.length, `${path} in body should have at least ${minItems} items`))
    } else if (maxItems !== undefined && value.length > maxItems) {
      errors.push(tooManyField(pathOf(parent, step), value.length, maxItems))
    } else return 1
    return 0
  }
}

function sizeCheck(checks: ValueChecks): Check | undefined {
  const { minProperties, maxProperties } = checks
  if (minProperties === undefined && maxProperties === undefined) return undefined
  return (value, parent, step, errors) => {
    if (!isJsonObject(value) || hasSize(value, checks)) return 0
    const path = pathOf(parent, step)
    const count = Object.keys(value).length
    if (minProperties !== undefined && count < minProperties) {
      errors.push(invalidField(path, count, `${path} in body should have at least ${minProperties} properties`))
    } else if (maxProperties !== undefined) errors.push(tooManyField(path, count, maxProperties))
    return 0
  }
}

function hasSize(value: JsonObject, { minProperties, maxProperties }: ValueChecks): boolean {
  if (minProperties === undefined && maxProperties === undefined) return true
  const count = Object.keys(value).length
  return count >= (minProperties ?? 0) && count <= (maxProperties ?? Number.POSITIVE_INFINITY)
}

/** With the size of an object it is one check, which passes as a whole. */
function requiredCheck(checks: ValueChecks): Check | undefined {
  const { minProperties, maxProperties, required = [] } = checks
  if (minProperties === undefined && maxProperties === undefined && required.length === 0) return undefined
  return (value, parent, step, errors) => {
    if (!isJsonObject(value)) return 0
    const before = errors.length
    for (const name of required) {
      if (!isThere(value, name)) errors.push(requiredField(pathOf(parent, step).field(name)))
    }
    return errors.length === before && hasSize(value, checks) ? 1 : 0
  }
}

const isThere = (value: JsonObject, name: string): boolean => Object.hasOwn(value, name) && value[name] !== undefined

function enumCheck({ enum: allowed = [] }: ValueChecks): Check | undefined {
  if (allowed.length === 0) return undefined
  return (value, parent, step, errors) => {
    if (value !== null && allowed.some((each) => deepEqual(value, each) || isConvertedTo(value, each))) return 1
    // As Go writes maps.
    const shown = allowed.map((each) => (typeof each === 'string' ? each : JSON.stringify(sortKeys(each))))
    errors.push(unsupportedField(pathOf(parent, step), sortKeys(value), shown))
    return 0
  }
}

/** As upstream has it a number is one of those allowed if it is when it has become one of its type. */
const isConvertedTo = (value: unknown, allowed: unknown): boolean =>
  typeof value === 'number' && typeof allowed === 'number' && isInt64(allowed) && Math.trunc(value) === allowed
