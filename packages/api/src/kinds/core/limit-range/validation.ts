import { duplicateField, type FieldError, forbiddenField, invalidField, requiredField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { repeatedAt } from '../../../finder.ts'
import { compareQuantity, quantityToNumber } from '../../../quantity.ts'
import { checkFormat } from '../../../string-formats.ts'
import type { ResourceList } from '../common.ts'
import { containerResourceName, mayBeOvercommitted, resourceName } from '../pod/validation/resources.ts'
import type { LimitRange, LimitRangeItem } from './schema.ts'

const limitsPath = FieldPath.of('spec', 'limits')
const standardTypes = ['Pod', 'Container', 'PersistentVolumeClaim']

/** What is wrong with a limit range (core/validation ValidateLimitRange). */
export function validateLimitRange({ spec }: LimitRange): readonly FieldError[] {
  const limits = spec?.limits ?? []
  const repeated = repeatedAt(limits.map(({ type }) => type))
  return limits.flatMap((limit, index) => {
    const path = limitsPath.index(index)
    return [
      ...validateType(limit.type, path.field('type')),
      ...(repeated.has(index) ? [duplicateField(path.field('type'), limit.type)] : []),
      ...validateNames(limit, path),
      ...validateClaimLimit(limit, path),
      ...resourcesOf(limit).flatMap((name) => validateAmounts(name, limit, path)),
    ]
  })
}

function validateType(type: string, path: FieldPath): readonly FieldError[] {
  const problems = checkFormat('qualified-name', type)
  if (problems.length > 0) return problems.map((why) => invalidField(path, type, why))
  if (type.includes('/') || standardTypes.includes(type)) return []
  return [invalidField(path, type, 'must be a standard limit type or fully qualified')]
}

const listNames = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

/** A pod as a whole gets nothing by default. */
const isForbidden = (list: (typeof listNames)[number], { type }: LimitRangeItem): boolean =>
  type === 'Pod' && (list === 'default' || list === 'defaultRequest')

function validateNames(limit: LimitRangeItem, path: FieldPath): readonly FieldError[] {
  const nameErrors = limit.type === 'Pod' || limit.type === 'Container' ? containerResourceName : resourceName
  return listNames.flatMap((list) => {
    const names = Object.keys(limit[list] ?? {})
    if (!isForbidden(list, limit)) return names.flatMap((name) => nameErrors(name, path.field(list).key(name)))
    return names.length > 0 ? [forbiddenField(path.field(list), "may not be specified when `type` is 'Pod'")] : []
  })
}

function validateClaimLimit({ type, min, max }: LimitRangeItem, path: FieldPath): readonly FieldError[] {
  if (type !== 'PersistentVolumeClaim' || min?.storage !== undefined || max?.storage !== undefined) return []
  const why = 'either minimum or maximum storage value is required, but neither was provided'
  return [requiredField(path.field('limits'), why)]
}

function resourcesOf(limit: LimitRangeItem): readonly string[] {
  const lists = listNames.filter((list) => !isForbidden(list, limit)).map((list) => limit[list] ?? {})
  return [...new Set(lists.flatMap((list: ResourceList) => Object.keys(list)))]
}

/** What is wrong with the amounts of one resource beside each other. */
function validateAmounts(name: string, limit: LimitRangeItem, path: FieldPath): readonly FieldError[] {
  const of = (list: (typeof listNames)[number]): string | undefined => {
    const amounts = limit[list] ?? {}
    return isForbidden(list, limit) || !Object.hasOwn(amounts, name) ? undefined : amounts[name]
  }
  const [min, max, byDefault, requested, ratio] = [
    of('min'),
    of('max'),
    of('default'),
    of('defaultRequest'),
    of('maxLimitRequestRatio'),
  ]
  const isMore = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantity(a, b) > 0
  const errors: FieldError[] = []
  const invalid = (list: (typeof listNames)[number], value: string | undefined, why: string) =>
    errors.push(invalidField(path.field(list).key(name), value, why))
  if (isMore(min, max)) invalid('min', min, `min value ${min} is greater than max value ${max}`)
  if (isMore(min, requested)) {
    invalid('defaultRequest', requested, `min value ${min} is greater than default request value ${requested}`)
  }
  if (isMore(requested, max)) {
    invalid('defaultRequest', requested, `default request value ${requested} is greater than max value ${max}`)
  }
  if (isMore(requested, byDefault)) {
    const why = `default request value ${requested} is greater than default limit value ${byDefault}`
    invalid('defaultRequest', requested, why)
  }
  if (isMore(min, byDefault)) invalid('default', min, `min value ${min} is greater than default value ${byDefault}`)
  if (isMore(byDefault, max)) invalid('default', max, `default value ${byDefault} is greater than max value ${max}`)
  if (isMore('1', ratio)) invalid('maxLimitRequestRatio', ratio, `ratio ${ratio} is less than 1`)
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const most = quantityToNumber(max) / quantityToNumber(min)
    if (quantityToNumber(ratio) > most) {
      invalid('maxLimitRequestRatio', ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`)
    }
  }
  const mustMatch = !mayBeOvercommitted(name) && byDefault !== undefined && requested !== undefined
  if (mustMatch && compareQuantity(byDefault, requested) !== 0) {
    const why = `default value ${byDefault} must equal to defaultRequest value ${requested} in ${name}`
    invalid('defaultRequest', requested, why)
  }
  return errors
}
