import { type FieldError, invalidField, tooLongField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { boolean, bytes, mapOf, optional, pointer, stringMap } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { checkImmutableFlag } from '../validation.ts'
import { base64Bytes, dataBytesMax, utf8Bytes } from './data-size.ts'

/** Configuration that pods read as variables or files. */
export interface ConfigMap extends Infer<typeof configMapSchema> {}
export const configMapSchema = kindSchema(
  `${coreV1}.ConfigMap`,
  'Configuration by key, for pods to read as environment variables or files. At most 1 MiB.',
  {
    immutable: pointer(boolean, 'Whether the data is fixed for good. Once set it stays set.'),
    data: optional(stringMap, 'Values that are text, by key.'),
    binaryData: optional(mapOf(bytes), 'Values that are any bytes, in base64, by key. No key may be in data as well.'),
  },
)

function validate({ data = {}, binaryData = {} }: ConfigMap): readonly FieldError[] {
  const errors: FieldError[] = []
  let totalBytes = 0
  for (const key of Object.keys(data)) {
    totalBytes += utf8Bytes(data[key] ?? '')
    // A key that is in both is only reported once, where the text is.
    checkKey('data', key, Object.hasOwn(binaryData, key), errors)
  }
  for (const key of Object.keys(binaryData)) {
    totalBytes += base64Bytes(binaryData[key] ?? '')
    checkKey('binaryData', key, false, errors)
  }
  // Upstream names the object as a whole by an empty key.
  if (totalBytes > dataBytesMax) errors.push(tooLongField(FieldPath.root.key(''), dataBytesMax))
  return errors
}

function checkKey(name: 'data' | 'binaryData', key: string, isInBoth: boolean, errors: FieldError[]): void {
  const add = (problem: string) => errors.push(invalidField(FieldPath.of(name).key(key), key, problem))
  for (const problem of checkFormat('config-map-key', key)) add(problem)
  if (isInBoth) add('duplicate of key present in binaryData')
}

const valueCount = ({ data = {}, binaryData = {} }: ConfigMap): number =>
  Object.keys(data).length + Object.keys(binaryData).length

/** `v1` configmaps. */
export const configMaps = kind<ConfigMap>(configMapSchema, {
  plural: 'configmaps',
  shortNames: ['cm'],
  columns: [nameColumn, column('Data', valueCount, 'How many values there are.'), ageColumn],
  validate,
  validateUpdate: (configMap, old) => checkImmutableFlag(configMap, old, FieldPath.root, ['data', 'binaryData']),
})
