import { type FieldError, forbiddenField, unsupportedField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'

/** How storage may be used, in the order and with the letters in which tables show it. */
const letters: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}
const once = 'ReadWriteOncePod'

/** `RWO,ROX`: how tables show access modes. */
export function shownAccessModes(modes: readonly string[] = []): string {
  return Object.entries(letters)
    .flatMap(([mode, shown]) => (modes.includes(mode) ? [shown] : []))
    .join(',')
}

/** What is wrong with the access modes of a volume or a claim, where there are some. */
export function validateAccessModes(modes: readonly string[], path: FieldPath): readonly FieldError[] {
  const supported = Object.keys(letters).sort()
  const errors = modes
    .filter((mode) => !Object.hasOwn(letters, mode))
    .map((mode) => unsupportedField(path, mode, supported))
  const isMixed = modes.includes(once) && modes.some((mode) => mode !== once)
  return isMixed ? [...errors, forbiddenField(path, `may not use ${once} with other access modes`)] : errors
}
