/** Checks that several parts of a pod need, with the wording of core/validation. */
import { type FieldError, forbiddenField, invalidField, requiredField } from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import { validateLabels } from '../../../../object-meta-validation.ts'
import type { StringFormat } from '../../../../schema/schema.ts'
import { checkFormat, rangeMessage } from '../../../../string-formats.ts'
import type { LabelSelector } from '../../common.ts'

export const portMax = 65535
export const int32Max = 2 ** 31 - 1
const fileModeMax = 0o777

/** What is wrong with the form of a value; nothing where it is absent or empty. */
export function checkText(format: StringFormat, value: string | undefined, path: FieldPath): FieldError[] {
  return value ? checkTextOrEmpty(format, value, path) : []
}

/** Like checkText, but an empty value is wrong where the format says so. */
export function checkTextOrEmpty(format: StringFormat, value: string, path: FieldPath): FieldError[] {
  return checkFormat(format, value).map((message) => invalidField(path, value, message))
}

/** Like checkText, for a value that upstream tells from an absent one where it is empty. */
export function checkGiven(format: StringFormat, value: string | undefined, path: FieldPath): FieldError[] {
  return value === undefined ? [] : checkTextOrEmpty(format, value, path)
}

export function checkNonNegative(value: number | undefined, path: FieldPath): FieldError[] {
  return value !== undefined && value < 0 ? [invalidField(path, value, 'must be greater than or equal to 0')] : []
}

export function checkRange(value: number | undefined, low: number, high: number, path: FieldPath): FieldError[] {
  if (value === undefined || (value >= low && value <= high)) return []
  return [invalidField(path, value, rangeMessage(low, high))]
}

export function checkPortNumber(value: number, path: FieldPath): FieldError[] {
  return checkRange(value, 1, portMax, path)
}

/** A port by number or by name. */
export function checkPort(value: number | string, path: FieldPath): FieldError[] {
  return typeof value === 'number' ? checkPortNumber(value, path) : checkTextOrEmpty('iana-service-name', value, path)
}

export function checkFileMode(value: number | undefined, path: FieldPath): FieldError[] {
  if (value === undefined || (value >= 0 && value <= fileModeMax)) return []
  return [invalidField(path, value, 'must be a number between 0 and 0777 (octal), both inclusive')]
}

export function checkNoBacksteps(value: string, path: FieldPath): FieldError[] {
  return value.split('/').includes('..') ? [invalidField(path, value, "must not contain '..'")] : []
}

/** A path that stays below where it starts. */
export function checkLocalPath(value: string, path: FieldPath): FieldError[] {
  const errors = value.startsWith('/') ? [invalidField(path, value, 'must be a relative path')] : []
  return [...errors, ...checkNoBacksteps(value, path)]
}

/** A local path that does not look like the names with which volumes are updated atomically. */
export function checkLocalNonReservedPath(value: string, path: FieldPath): FieldError[] {
  const errors = checkLocalPath(value, path)
  // A first step upwards is told as such.
  if (!value.startsWith('..') || value.startsWith('../')) return errors
  return [...errors, invalidField(path, value, "must not start with '..'")]
}

/** apis/meta/v1/validation ValidateLabelSelector. */
export function checkLabelSelector(selector: LabelSelector | undefined, path: FieldPath): FieldError[] {
  if (selector === undefined) return []
  const expressions = path.field('matchExpressions')
  return [
    ...validateLabels(selector.matchLabels, path.field('matchLabels')),
    ...(selector.matchExpressions ?? []).flatMap((each, index) => checkRequirement(each, expressions.index(index))),
  ]
}

type Requirement = NonNullable<LabelSelector['matchExpressions']>[number]

/** One condition of a selector (ValidateLabelSelectorRequirement). `isOpen`: operators that are not known may be there as well. */
export function checkRequirement(
  { key, operator, values = [] }: Requirement,
  path: FieldPath,
  isOpen = false,
): FieldError[] {
  return [
    ...checkOperatorValues(operator, values, path, isOpen),
    ...checkTextOrEmpty('qualified-name', key ?? '', path.field('key')),
    ...values.flatMap((value, index) => checkText('label-value', value, path.field('values').index(index))),
  ]
}

/** What is wrong with the values of a condition, by what its operator needs. */
export function checkOperatorValues(
  operator: string | undefined,
  values: readonly string[],
  path: FieldPath,
  isOpen = false,
): FieldError[] {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [requiredValues(path)]
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? [] : [forbiddenValues(path)]
    default:
      return isOpen ? [] : [invalidField(path.field('operator'), operator ?? '', 'not a valid selector operator')]
  }
}

const requiredValues = (path: FieldPath): FieldError =>
  requiredField(path.field('values'), "must be specified when `operator` is 'In' or 'NotIn'")

const forbiddenValues = (path: FieldPath): FieldError =>
  forbiddenField(path.field('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
