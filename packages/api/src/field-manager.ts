import { type FieldError, invalidField, tooLongField } from './field-error.ts'
import type { FieldPath } from './field-path.ts'

/** As long as upstream lets a field manager's name be, in bytes. */
export const fieldManagerLengthMax = 128

/** Go's unicode.IsPrint. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** Whether a character may be in a field manager's name. */
export const isPrintable = (character: string): boolean =>
  // Names are ASCII mostly, and the classes of Unicode take milliseconds to compile.
  (character >= ' ' && character <= '~') || printable.test(character)

/** What is wrong with the name of a field manager (meta/v1/validation ValidateFieldManager). */
export function checkFieldManager(name: string, path: FieldPath): readonly FieldError[] {
  const isTooLong = Buffer.byteLength(name) > fieldManagerLengthMax
  const errors = isTooLong ? [tooLongField(path, fieldManagerLengthMax)] : []
  let position = 0
  for (const character of name) {
    if (!isPrintable(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
      errors.push(invalidField(path, name, `invalid character U+${code} (at position ${position})`))
    }
    position += Buffer.byteLength(character)
  }
  return errors
}
