import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'
import { readCustomSchema } from '../../custom/read-custom-schema.ts'
import { type FieldError, invalidField, requiredField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import type {
  CustomResourceColumn,
  CustomResourceScale,
  CustomResourceSubresources,
  CustomResourceVersion,
} from './custom-resource-definition-schema.ts'
import { schemaFieldNames, shownSchema, type VersionParts } from './internal-form.ts'
import { selectableFieldErrors } from './selectable-fields.ts'

/** Warnings of deprecated versions may not be longer, in bytes. */
export const deprecationWarningLengthMax = 256

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

/** What is said of a version's schema and of what goes with it. */
interface PartsPlace {
  /** Where the parts stand. */
  readonly path: FieldPath
  /** The field that the schema stands in. */
  readonly schemaField: 'schema' | 'validation'
  /** Whether objects have a status subresource. */
  readonly hasStatus: boolean
  /** The version that the schema is of, with its group and kind. */
  readonly names: { readonly group: string; readonly version: string; readonly kind: string }
}

/** What is wrong with the deprecation of a version. */
export function deprecationErrors(
  { deprecated = false, deprecationWarning }: CustomResourceVersion,
  path: FieldPath,
): readonly FieldError[] {
  if (deprecationWarning === undefined) return []
  return deprecationProblems(deprecated, deprecationWarning).map((problem) =>
    invalidField(path, deprecationWarning, problem),
  )
}

function deprecationProblems(deprecated: boolean, warning: string): readonly string[] {
  if (!deprecated) return ['can only be set for deprecated versions']
  return [
    ...(Buffer.byteLength(warning) > deprecationWarningLengthMax
      ? [`must be <= ${deprecationWarningLengthMax} characters long`]
      : []),
    ...(warning === '' ? ['must not be an empty string'] : []),
    ...unprintable(warning),
  ]
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and the space alone of the spaces. */
function unprintable(text: string): readonly string[] {
  const found = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(text)
  if (found === null) return []
  const index = Buffer.byteLength(text.slice(0, found.index))
  return [`must only contain printable UTF-8 characters; non-printable character found at index ${index}`]
}

/** What is wrong with the parts of a version, or with those that all versions share. */
export function partsErrors(parts: VersionParts, place: PartsPlace): readonly FieldError[] {
  const { subresources, additionalPrinterColumns = [] } = parts
  const { path } = place
  return [
    ...schemaErrors(parts.schema?.openAPIV3Schema, place),
    ...(subresources === undefined ? [] : subresourceErrors(subresources, path.field('subresources'))),
    ...additionalPrinterColumns.flatMap((each, index) =>
      columnErrors(each, path.field('additionalPrinterColumns').index(index)),
    ),
    ...selectionErrors(parts, place),
  ]
}

function schemaErrors(
  props: JsonSchemaProps | undefined,
  { path, schemaField, hasStatus, names }: PartsPlace,
): readonly FieldError[] {
  if (props === undefined) return []
  const at = path.field(schemaField).field('openAPIV3Schema')
  return [...(hasStatus ? statusErrors(props, at) : []), ...readCustomSchema(props, at, names).errors]
}

/** What may stand at the root beside a status subresource, whose schema is taken out of the whole. */
const allowedAtRoot: readonly string[] = (
  'Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems ' +
  'MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations'
).split(' ')

function statusErrors(props: JsonSchemaProps, path: FieldPath): readonly FieldError[] {
  const isSet = (value: unknown): boolean => value !== undefined && value !== '' && value !== false
  for (const [field, name] of schemaFieldNames) {
    if (!isSet(props[field])) continue
    if (field === 'type' && props.type !== 'object') {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [invalidField(path.field('type'), props.type, detail)]
    }
    if (allowedAtRoot.includes(name)) continue
    const detail = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
    return [invalidField(path, shownSchema(props), detail)]
  }
  return []
}

function selectionErrors({ selectableFields = [], schema }: VersionParts, { path, schemaField }: PartsPlace) {
  if (selectableFields.length === 0) return []
  const at = path.field('selectableFields')
  const props = schema?.openAPIV3Schema
  if (props !== undefined) return selectableFieldErrors(selectableFields, props, at)
  const detail =
    schemaField === 'validation'
      ? 'may only be set when validations.schema is included'
      : 'may only be set when `version.schema.openAPIV3Schema` is not included'
  return [invalidField(at, '', detail)]
}

/** What is wrong with a path such as `.spec.replicas`. */
function simplePathErrors(text: string, path: FieldPath): readonly FieldError[] {
  return text.startsWith('.') ? [] : [invalidField(path, text, 'must be a simple json path starting with .')]
}

function subresourceErrors({ scale }: CustomResourceSubresources, path: FieldPath): readonly FieldError[] {
  return scale === undefined ? [] : scaleErrors(scale, path)
}

function scaleErrors(
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: CustomResourceScale,
  path: FieldPath,
): readonly FieldError[] {
  const below = (name: string, text: string, roots: readonly string[], where: string) => {
    const at = path.field(`scale.${name}`)
    const errors = simplePathErrors(text, at)
    if (errors.length > 0 || roots.some((root) => text.startsWith(root))) return errors
    return [invalidField(at, text, `should be a json path under ${where}`)]
  }
  const wanted = (name: string, text = '', root: string) =>
    text === '' ? [requiredField(path.field(`scale.${name}`))] : below(name, text, [`${root}.`], root)
  return [
    ...wanted('specReplicasPath', specReplicasPath, '.spec'),
    ...wanted('statusReplicasPath', statusReplicasPath, '.status'),
    ...((labelSelectorPath ?? '') === ''
      ? []
      : below('labelSelectorPath', labelSelectorPath ?? '', ['.spec.', '.status.'], 'either .spec or .status')),
  ]
}

function columnErrors(
  { name = '', type = '', format = '', jsonPath = '' }: Partial<CustomResourceColumn>,
  path: FieldPath,
): readonly FieldError[] {
  const among = (field: string, value: string, allowed: readonly string[]) =>
    value === '' || allowed.includes(value)
      ? []
      : [invalidField(path.field(field), value, `must be one of ${allowed.join(',')}`)]
  // As upstream's own form of a definition has it.
  const jsonPathPath = path.field('JSONPath')
  return [
    ...(name === '' ? [requiredField(path.field('name'))] : []),
    ...(type === '' ? [requiredField(path.field('type'), `must be one of ${columnTypes.join(',')}`)] : []),
    ...among('type', type, columnTypes),
    ...among('format', format, columnFormats),
    ...(jsonPath === '' ? [requiredField(jsonPathPath)] : simplePathErrors(jsonPath, jsonPathPath)),
  ]
}
