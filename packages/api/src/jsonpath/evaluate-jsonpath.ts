import { compareText } from '../compare-text.ts'
import { isJsonObject, sortKeys } from '../json.ts'
import { JsonPathError, type Operator, type Path, type Step, type Template } from './template.ts'

export interface EvaluateOptions {
  /** Whether a field that is nowhere is an error. Otherwise it is nothing. */
  readonly requireKeys?: boolean
}

/**
 * What each action of a template finds in a value, in the order in which it is printed. Throws a JsonPathError, in
 * kubectl's words, for an index out of bounds, a filter of what is no list, and values that cannot be compared.
 */
export function findJsonPath(
  template: Template,
  value: unknown,
  options: EvaluateOptions = {},
): readonly (readonly unknown[])[] {
  return template.flatMap((part): readonly (readonly unknown[])[] => {
    const found = follow(part.path, [value], options)
    return part.type === 'action' ? [found] : found.flatMap((each) => findJsonPath(part.body, each, options))
  })
}

/** What a template prints of a value: what one action finds is set apart by spaces. */
export function printJsonPath(template: Template, value: unknown, options: EvaluateOptions = {}): string {
  return findJsonPath(template, value, options)
    .map((found) => found.map(printJsonValue).join(' '))
    .join('')
}

/** What a template prints of one value that it has found. */
export function printJsonValue(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  return typeof value === 'object' ? goJson(value) : String(value)
}

/** JSON as Go's encoder writes it: keys in order, and characters escaped that mean something in HTML. */
function goJson(value: unknown): string {
  const text = JSON.stringify(sortKeys(value))
  return text.replaceAll(/[<>&\u2028\u2029]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function follow(path: Path, values: readonly unknown[], options: EvaluateOptions): readonly unknown[] {
  return path.reduce<readonly unknown[]>((found, step) => take(step, found, options), values)
}

function take(step: Step, values: readonly unknown[], options: EvaluateOptions): readonly unknown[] {
  switch (step.type) {
    case 'constant':
      return typeof step.value === 'string' ? [step.value] : values.map(() => step.value)
    case 'field':
      return takeField(step.name, values, options)
    case 'wildcard':
      return values.flatMap(childrenOf)
    case 'descendants':
      return values.flatMap(descendantsOf)
    case 'index':
      return listsOf(values).flatMap((list) => [at(list, step.index)])
    case 'slice':
      return listsOf(values).flatMap((list) => slice(list, step))
    case 'union':
      return step.paths.flatMap((path) => follow(path, values, options))
    case 'exists':
    case 'compare':
      return values.flatMap((value) => {
        if (!Array.isArray(value))
          throw new JsonPathError(`${printJsonValue(value)} is not array or slice and cannot be filtered`)
        return value.filter((item) => passes(step, item, options))
      })
  }
}

function takeField(name: string, values: readonly unknown[], { requireKeys }: EvaluateOptions): readonly unknown[] {
  const found = values.flatMap((value) => (isJsonObject(value) && Object.hasOwn(value, name) ? [value[name]] : []))
  if (found.length === 0 && values.length > 0 && requireKeys === true) throw new JsonPathError(`${name} is not found`)
  return found
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return [...Buffer.from(value)]
  return isJsonObject(value)
    ? Object.keys(value)
        .sort(compareText)
        .map((key) => value[key])
    : []
}

/** A value with all that is in it. In kubectl a text has its bytes in it and so counts, and numbers, booleans and what is empty do not. */
function descendantsOf(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  const children = childrenOf(value)
  return children.length === 0 ? [] : [value, ...children.flatMap(descendantsOf)]
}

/** The lists among values. Nothing is no list, but no mistake either. */
function listsOf(values: readonly unknown[]): readonly (readonly unknown[])[] {
  return values.flatMap((value) => {
    if (value === null || value === undefined) return []
    if (!Array.isArray(value)) throw new JsonPathError(`${goType(value)} is not array or slice`)
    return [value]
  })
}

function goType(value: unknown): string {
  if (typeof value === 'string') return 'string'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'bigint') return 'int64'
  return 'map[string]interface {}'
}

function at(list: readonly unknown[], index: number): unknown {
  const place = index < 0 ? index + list.length : index
  if (place < 0 || place >= list.length) throw outOfBounds(place, list)
  return list[place]
}

function slice(list: readonly unknown[], bounds: Extract<Step, { type: 'slice' }>): readonly unknown[] {
  const { length } = list
  const absolute = (place: number): number => (place < 0 ? place + length : place)
  const [start, end] = [absolute(bounds.start ?? 0), absolute(bounds.end ?? length)]
  if (start === end) return []
  if (start < 0 || start >= length) throw outOfBounds(start, list)
  if (end < 0 || end > length) throw outOfBounds(end - 1, list)
  if (start > end) throw new JsonPathError(`starting index ${start} is greater than ending index ${end}`)
  const { step = 1 } = bounds
  if (step <= 0) throw new JsonPathError('step must be > 0')
  return list.slice(start, end).filter((_, index) => index % step === 0)
}

const outOfBounds = (index: number, { length }: readonly unknown[]): JsonPathError =>
  new JsonPathError(`array index out of bounds: index ${index}, length ${length}`)

function passes(step: Extract<Step, { type: 'exists' | 'compare' }>, item: unknown, options: EvaluateOptions): boolean {
  if (step.type === 'exists') return follow(step.path, [item], {}).length > 0
  const [lefts, rights] = [follow(step.left, [item], options), follow(step.right, [item], options)]
  if (lefts.length === 0 || rights.length === 0) return false
  if (lefts.length > 1 || rights.length > 1) throw new JsonPathError('can only compare one element at a time')
  return compare(lefts[0], step.operator, rights[0])
}

function compare(left: unknown, operator: Operator, right: unknown): boolean {
  const type = typeOf(left)
  if (type !== typeOf(right)) throw new JsonPathError('incompatible types for comparison')
  const isOrdered = type === 'string' || type === 'number'
  if (typeof left === 'object' || (typeof left === 'boolean' && operator !== '==' && operator !== '!=')) {
    throw new JsonPathError('invalid type for comparison')
  }
  const order = isOrdered ? compareOrdered(left as Ordered, right as Ordered) : left === right ? 0 : 1
  switch (operator) {
    case '==':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/** Numbers are of one type, however large. */
const typeOf = (value: unknown): string => (typeof value === 'bigint' ? 'number' : typeof value)

type Ordered = string | number | bigint

const compareOrdered = (left: Ordered, right: Ordered): number => (left < right ? -1 : left > right ? 1 : 0)
