/** What is wrong with the capacity of a device that several claims may share, in the words of upstream's validation. */
import { type FieldError, forbiddenField, invalidField, requiredField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { compareQuantity, parseQuantity } from '../../quantity.ts'
import { capacityOptionsMax } from './limits.ts'
import { checkDistinctItems } from './lists.ts'
import type { CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity } from './resource-slice-schema.ts'

/** What is wrong with a capacity. Only that of a device that several claims may have says how much each may have. */
export function checkCapacity(
  { value, requestPolicy }: DeviceCapacity,
  isShared: boolean,
  path: FieldPath,
): readonly FieldError[] {
  if (requestPolicy === undefined) return []
  const at = path.field('requestPolicy')
  return isShared
    ? checkPolicy(requestPolicy, value, at)
    : [forbiddenField(at, 'allowMultipleAllocations must be true')]
}

function checkPolicy(policy: CapacityRequestPolicy, value: string, path: FieldPath): readonly FieldError[] {
  const { validValues = [], validRange, default: usual } = policy
  if (validValues.length > 0) {
    if (validRange !== undefined) {
      const why = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
      return [forbiddenField(path, why)]
    }
    if (usual === undefined) return [requiredField(path.field('default'), 'required when validValues is defined')]
    return checkValues(validValues, usual, value, path.field('validValues'))
  }
  if (validRange === undefined) return []
  if (usual === undefined) return [requiredField(path.field('default'), 'required when validRange is defined')]
  return checkRange(validRange, usual, value, path.field('validRange'))
}

function checkValues(
  values: readonly string[],
  usual: string,
  capacity: string,
  path: FieldPath,
): readonly FieldError[] {
  const isSorted = (value: string, index: number) =>
    index === 0 || compareQuantity(values[index - 1] ?? value, value) <= 0
  const key = (value: string) => String(parseQuantity(value).nanos)
  return [
    ...values.flatMap((value, index) =>
      isSorted(value, index)
        ? []
        : [invalidField(path.index(index), value, 'values must be sorted in ascending order')],
    ),
    ...checkDistinctItems(values, capacityOptionsMax, path, key, (value, at) =>
      compareQuantity(value, capacity) > 0
        ? [invalidField(at, value, `option is larger than capacity value: ${capacity}`)]
        : [],
    ),
    ...(values.some((value) => compareQuantity(value, usual) === 0)
      ? []
      : [invalidField(path, usual, 'default value is not valid according to the requestPolicy')]),
  ]
}

function checkRange(
  { min, max, step }: CapacityRequestPolicyRange,
  usual: string,
  capacity: string,
  path: FieldPath,
): readonly FieldError[] {
  if (min === undefined) return [requiredField(path.field('min'), 'required when validRange is defined')]
  const errors: FieldError[] = []
  const check = (isWrong: boolean, field: string, value: string, why: string) => {
    if (isWrong) errors.push(invalidField(path.field(field), value, why))
  }
  const isMore = (a: string, b: string) => compareQuantity(a, b) > 0
  check(isMore(min, capacity), 'min', min, `min is larger than capacity value: ${capacity}`)
  check(isMore(min, usual), 'default', usual, `default is less than min: ${min}`)
  if (max !== undefined) {
    check(isMore(min, max), 'max', min, `min is larger than max: ${max}`)
    check(isMore(max, capacity), 'max', max, `max is larger than capacity value: ${capacity}`)
    check(isMore(usual, max), 'default', usual, `default is more than max: ${max}`)
  }
  if (step === undefined) return errors
  const [least, width] = [parseQuantity(min), parseQuantity(step)]
  if (width.nanos <= 0n) return [...errors, invalidField(path.field('step'), step, 'must be greater than zero')]
  const isPast = least.nanos + width.nanos > parseQuantity(capacity).nanos
  check(isPast, 'step', step, `one step is larger than capacity value: ${capacity}`)
  for (const value of [usual, ...(max === undefined ? [] : [max])]) {
    const isOff = (parseQuantity(value).nanos - least.nanos) % width.nanos !== 0n
    check(isOff, 'step', value, `value is not a multiple of a given step (${step}) from (${min})`)
  }
  return errors
}
