import type { FieldError } from '@coracle/api'

/** Of more errors than this none is looked for in the old object: such an object is not one that only has got old. */
export const ratchetedErrorsMax = 1000

/**
 * What is wrong with an object that was not wrong with it before: who changes one field need not mend what another version of
 * the rules let in elsewhere. `before` gives what is wrong with the old object; it is asked only where something is wrong.
 */
export function newErrors(errors: readonly FieldError[], before: () => readonly FieldError[]): readonly FieldError[] {
  if (errors.length === 0 || errors.length > ratchetedErrorsMax) return errors
  const known = new Map<string, number>()
  for (const error of before().slice(0, ratchetedErrorsMax)) {
    const text = textOf(error)
    known.set(text, (known.get(text) ?? 0) + 1)
  }
  return errors.filter((error) => {
    const text = textOf(error)
    const left = known.get(text) ?? 0
    known.set(text, left - 1)
    return left <= 0
  })
}

/** An element of a list keeps its fault where another goes before it. */
const textOf = ({ field, message }: FieldError): string => `${field.replace(/\[\d+\]/g, '[]')}: ${message}`
