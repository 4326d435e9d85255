import { type FieldError, invalidField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { isQuantity, quantityValue } from '../../quantity.ts'

/** Amounts are not negative (validateBasicResource). What is said of one shows it in whole units. */
export function negativeAmountErrors(amount: string, path: FieldPath): readonly FieldError[] {
  const units = isQuantity(amount) ? quantityValue(amount) : 0
  return units < 0 ? [invalidField(path, units, 'must be a valid resource quantity')] : []
}
