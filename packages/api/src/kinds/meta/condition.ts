import {
  duplicateField,
  type FieldError,
  invalidField,
  requiredField,
  tooLongField,
  unsupportedField,
} from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { int64, object, optional, required, string, time } from '../../schema/builders.ts'
import type { Field, Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { metaV1 } from './names.ts'

/** How long the texts of a condition may be, in bytes. */
const reasonLengthMax = 1024
const messageLengthMax = 32_768

/** The form that newer kinds share for their conditions. What has to be there is said by `checkConditions`, for those kinds that upstream checks. */
export interface Condition extends Infer<typeof condition> {}
export const condition = object(`${metaV1}.Condition`, 'One aspect of how an object is doing.', {
  type: required(string(), 'What it is about, in CamelCase.', { default: '' }),
  status: required(string(), 'Whether it holds: True, False or Unknown.', { default: '' }),
  observedGeneration: optional(int64(), 'The generation of the object that this is about.'),
  lastTransitionTime: optional(time, 'When the status last changed.', { byValue: true, requiredInOpenApi: true }),
  reason: required(string(), 'Why, in one CamelCase word.', { default: '' }),
  message: required(string(), 'Why, in a sentence. May be empty.', { default: '' }),
})

/**
 * The form that older kinds have for their conditions, each under a name of its own. Upstream checks none of it: type and status
 * are written where they were left out, as empty. `about` says what the type names; `more` are the fields that this kind has beside the usual ones.
 */
export function conditionOf<const F extends Readonly<Record<string, Field>> = Readonly<Record<never, Field>>>(
  name: string,
  doc: string,
  about: string,
  more: F = {} as F,
) {
  return object(name, doc, {
    type: required(string(), about, { default: '' }),
    status: required(string(), 'Whether it holds: True, False or Unknown.', { default: '' }),
    ...more,
    lastTransitionTime: optional(time, 'When the status last changed.', { byValue: true }),
    reason: optional(string(), 'Why, in one CamelCase word.'),
    message: optional(string(), 'Why, in a sentence.'),
  })
}

const statuses: readonly string[] = ['False', 'True', 'Unknown']
const reasonPattern = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/

/** apis/meta/v1/validation ValidateConditions. */
export function checkConditions(conditions: readonly Condition[] | undefined, path: FieldPath): readonly FieldError[] {
  const types = new Set<string>()
  return (conditions ?? []).flatMap((each, index) => {
    const at = path.index(index)
    const isTwice = types.has(each.type)
    types.add(each.type)
    return [...(isTwice ? [duplicateField(at.field('type'), each.type)] : []), ...checkCondition(each, at)]
  })
}

function checkCondition(each: Condition, path: FieldPath): readonly FieldError[] {
  const { type, status, observedGeneration = 0, lastTransitionTime, reason, message } = each
  const errors: FieldError[] = checkFormat('qualified-name', type).map((why) =>
    invalidField(path.field('type'), type, why),
  )
  if (!statuses.includes(status)) errors.push(unsupportedField(path.field('status'), status, statuses))
  if (observedGeneration < 0) {
    const why = 'must be greater than or equal to zero'
    errors.push(invalidField(path.field('observedGeneration'), observedGeneration, why))
  }
  if (lastTransitionTime === undefined) errors.push(requiredField(path.field('lastTransitionTime')))
  if (reason === undefined || reason === '') errors.push(requiredField(path.field('reason')))
  else if (!reasonPattern.test(reason)) {
    const why =
      "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
    errors.push(invalidField(path.field('reason'), reason, why))
  } else if (reason.length > reasonLengthMax) errors.push(tooLongField(path.field('reason'), reasonLengthMax))
  if (Buffer.byteLength(message ?? '') > messageLengthMax)
    errors.push(tooLongField(path.field('message'), messageLengthMax))
  return errors
}
