import { type FieldError, forbiddenField, invalidField, requiredField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { checkFormat } from '../../string-formats.ts'
import type {
  CustomResourceColumn,
  CustomResourceDefinitionSpec,
  CustomResourceScale,
  CustomResourceVersion,
} from './custom-resource-definition-schema.ts'
import { schemaChecks } from './schema-checks.ts'

/** Warnings of deprecated versions may not be longer. */
export const deprecationWarningLengthMax = 256

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['binary', 'bool', 'byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

/** What is wrong with one version of a definition. */
export function validateVersion(
  version: CustomResourceVersion,
  { group = '', names }: Partial<CustomResourceDefinitionSpec>,
  path: FieldPath,
): readonly FieldError[] {
  const { name = '', schema, subresources, additionalPrinterColumns = [], selectableFields = [] } = version
  const problems = checkFormat('dns1035-label', name)
  const schemaPath = path.field('schema').field('openAPIV3Schema')
  const props = schema?.openAPIV3Schema
  return [
    ...(problems.length > 0 ? [invalidField(path.field('name'), name, problems.join(','))] : []),
    ...deprecationErrors(version, path.field('deprecationWarning')),
    ...(props === undefined
      ? version.served
        ? [requiredField(schemaPath, 'schemas are required')]
        : []
      : schemaChecks().readCustomSchema(props, schemaPath, { group, version: name, kind: names?.kind ?? '' }).errors),
    ...(subresources?.scale === undefined ? [] : scaleErrors(subresources.scale, path.field('subresources'))),
    ...additionalPrinterColumns.flatMap((each, index) =>
      columnErrors(each, path.field('additionalPrinterColumns').index(index)),
    ),
    ...selectableFieldErrors(selectableFields, path.field('selectableFields')),
  ]
}

function deprecationErrors({ deprecated, deprecationWarning }: CustomResourceVersion, path: FieldPath) {
  if (deprecationWarning === undefined) return []
  const problems = [
    ...(deprecated === true ? [] : ['can only be set for deprecated versions']),
    ...([...deprecationWarning].length > deprecationWarningLengthMax
      ? [`must be <= ${deprecationWarningLengthMax} characters long`]
      : []),
    ...(/\p{Cc}/u.test(deprecationWarning) ? ['must only contain printable UTF-8 characters'] : []),
  ]
  return problems.map((problem) => invalidField(path, deprecationWarning, problem))
}

/** What is wrong with a path such as `.spec.replicas`. */
function simplePathErrors(text: string, path: FieldPath): readonly FieldError[] {
  if (text.startsWith('.')) return []
  return [invalidField(path, text, text === '' ? 'must not be empty' : 'must be a simple json path starting with .')]
}

function scaleErrors(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: CustomResourceScale,
  path: FieldPath,
): readonly FieldError[] {
  const below = (name: string, text: string | undefined, roots: readonly string[], where: string) => {
    if (text === undefined || text === '') return []
    const at = path.field(`scale.${name}`)
    const errors = simplePathErrors(text, at)
    if (errors.length > 0) return errors
    if (roots.some((root) => text.startsWith(root))) return []
    return [invalidField(at, text, `should be a json path under ${where}`)]
  }
  return [
    ...below('specReplicasPath', specReplicasPath, ['.spec.'], '.spec'),
    ...below('statusReplicasPath', statusReplicasPath, ['.status.'], '.status'),
    ...below('labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], 'either .status or .spec'),
  ]
}

function columnErrors({ type, format, jsonPath }: CustomResourceColumn, path: FieldPath): readonly FieldError[] {
  const among = (field: string, value: string | undefined, allowed: readonly string[]) =>
    value === undefined || value === '' || allowed.includes(value)
      ? []
      : [invalidField(path.field(field), value, `must be one of ${allowed.join(',')}`)]
  // As upstream's own form of a definition has it.
  const jsonPathPath = path.field('JSONPath')
  return [
    ...(type === '' ? [requiredField(path.field('type'), `must be one of ${columnTypes.join(',')}`)] : []),
    ...among('type', type, columnTypes),
    ...among('format', format, columnFormats),
    ...(jsonPath === '' ? [requiredField(jsonPathPath)] : simplePathErrors(jsonPath, jsonPathPath)),
  ]
}

/** Most fields of a version that selectors may name. */
export const selectableFieldsMax = 8

function selectableFieldErrors(
  fields: readonly { readonly jsonPath: string }[],
  path: FieldPath,
): readonly FieldError[] {
  const seen = new Set<string>()
  const errors: FieldError[] = []
  if (fields.length > selectableFieldsMax) {
    errors.push(invalidField(path, fields.length, `must have at most ${selectableFieldsMax} items`))
  }
  fields.forEach(({ jsonPath = '' }, index) => {
    const at = path.index(index).field('jsonPath')
    if (jsonPath === '') return
    if (!/^(\.[A-Za-z_][A-Za-z0-9_-]*)+$/.test(jsonPath)) {
      errors.push(invalidField(at, jsonPath, 'must be a simple json path of field names, such as .spec.color'))
    } else if (/^\.metadata(\.|$)/.test(jsonPath)) {
      errors.push(forbiddenField(at, 'must not point to fields in metadata'))
    }
    if (seen.has(jsonPath)) errors.push(invalidField(at, jsonPath, 'must not be there twice'))
    seen.add(jsonPath)
  })
  return errors
}
