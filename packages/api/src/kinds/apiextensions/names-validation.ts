import { type FieldError, invalidField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { checkFormat } from '../../string-formats.ts'
import type { CustomResourceNames } from './custom-resource-definition-schema.ts'

/** What is wrong with the names of a kind; absent ones are not. */
export function validateNames(names: Partial<CustomResourceNames>, path: FieldPath): readonly FieldError[] {
  const { plural = '', singular = '', kind = '', listKind = '', shortNames = [], categories = [] } = names
  const same = kind !== '' && kind === listKind
  return [
    ...label(plural, path.field('plural')),
    ...label(singular, path.field('singular')),
    ...mixedCase(kind, path.field('kind')),
    ...mixedCase(listKind, path.field('listKind')),
    ...shortNames.flatMap((name, index) => label(name, path.field('shortNames').index(index), true)),
    // To tell an object from a list would be a guess.
    ...(same ? [invalidField(path.field('listKind'), listKind, 'kind and listKind may not be the same')] : []),
    ...categories.flatMap((name, index) => label(name, path.field('categories').index(index), true)),
  ]
}

function label(value: string, path: FieldPath, always = false): readonly FieldError[] {
  const problems = value === '' && !always ? [] : checkFormat('dns1035-label', value)
  return problems.length === 0 ? [] : [invalidField(path, value, problems.join(','))]
}

function mixedCase(value: string, path: FieldPath): readonly FieldError[] {
  const problems = value === '' ? [] : checkFormat('dns1035-label', value.toLowerCase())
  if (problems.length === 0) return []
  return [invalidField(path, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)]
}
