import { type FieldError, invalidField, requiredField, tooLongField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { utf8Bytes } from '../core/data-size.ts'

/** A class has no more parameters than this. */
export const parametersMax = 512
/** Names and values of all parameters together may not take more bytes. */
export const parametersBytesMax = 256 * 1024

const path = FieldPath.of('parameters')

/** What is wrong with the parameters that a class hands to its driver (validateParameters). */
export function validateParameters(
  parameters: Readonly<Record<string, string>> = {},
  { areRequired = false } = {},
): readonly FieldError[] {
  const entries = Object.entries(parameters)
  if (areRequired && entries.length === 0) {
    return [requiredField(path, 'must contain at least one key/value pair')]
  }
  if (entries.length > parametersMax) return [tooLongField(path, parametersMax)]
  const bytes = entries.reduce((sum, [name, value]) => sum + utf8Bytes(name) + utf8Bytes(value), 0)
  return [
    ...entries.flatMap(([name]) => (name === '' ? [invalidField(path, name, 'field can not be empty.')] : [])),
    ...(bytes > parametersBytesMax ? [tooLongField(path, parametersBytesMax)] : []),
  ]
}
