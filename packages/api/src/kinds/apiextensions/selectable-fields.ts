/** Which fields of custom resources selectors may name, in the words of apiextensions' validation. */
import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'
import { duplicateField, type FieldError, invalidField, requiredField, tooManyField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { isFieldPathProblem, resolveFieldPath } from './schema-field-path.ts'

/** Most fields of a version that selectors may name. */
export const selectableFieldsMax = 8

/** What is wrong with the fields that selectors may name in objects of a schema. */
export function selectableFieldErrors(
  fields: readonly { readonly jsonPath?: string }[],
  schema: JsonSchemaProps,
  path: FieldPath,
): readonly FieldError[] {
  const found = new Set<string>()
  const errors: FieldError[] = []
  fields.forEach(({ jsonPath = '' }, index) => {
    const at = path.index(index).field('jsonPath')
    if (jsonPath === '') {
      errors.push(requiredField(at))
      return
    }
    const resolved = resolveFieldPath(jsonPath, schema, { brackets: false })
    if (isFieldPathProblem(resolved)) {
      errors.push(invalidField(at, jsonPath, `is an invalid path: ${resolved.problem}`))
      return
    }
    const { steps, schema: wanted } = resolved
    if (steps[0]?.name === 'metadata') errors.push(invalidField(at, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(wanted.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      errors.push(invalidField(at, jsonPath, detail))
    }
    const text = JSON.stringify(steps)
    if (found.has(text)) errors.push(duplicateField(at, jsonPath))
    found.add(text)
  })
  if (found.size > selectableFieldsMax) errors.push(tooManyField(path, found.size, selectableFieldsMax))
  return errors
}
