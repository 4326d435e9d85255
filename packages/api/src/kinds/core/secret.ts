import { type FieldError, invalidField, requiredField, tooLongField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { jsonTypeOf } from '../../json.ts'
import { jsonSyntaxError } from '../../json-syntax/json-syntax.ts'
import { kindSchema } from '../../meta.ts'
import { boolean, bytes, mapOf, optional, pointer, string, stringMap } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { coreV1 } from '../meta/names.ts'
import { checkImmutableFlag, checkUnchanged } from '../validation.ts'
import { base64Bytes, dataBytesMax } from './data-size.ts'
import { keyPairProblem } from './tls-warnings.ts'

type Data = Readonly<Record<string, string>>

/** Small amounts of data that not everyone should see. Values in `data` are base64. */
export interface Secret extends Infer<typeof secretSchema> {}
export const secretSchema = kindSchema(
  `${coreV1}.Secret`,
  'Small amounts of data that not everyone should see, such as passwords, tokens and keys. At most 1 MiB.',
  {
    immutable: pointer(boolean, 'Whether the data is fixed for good. Once set it stays set.'),
    data: optional(mapOf(bytes), 'The values, in base64, by key.'),
    stringData: optional(
      stringMap,
      'Values as plain text, for convenience when writing. They go into data, over what is there, and are never read back.',
    ),
    type: optional(string(), 'What kind of data it is; some types ask for certain keys. It cannot be changed.', {
      default: 'Opaque',
    }),
  },
)

/** Plain text goes into the data, over what is there (upstream's conversion from v1). */
export function mergeStringData(secret: Secret): Secret {
  const { stringData, ...rest } = secret
  if (stringData === undefined) return secret
  const encoded = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')])
  return encoded.length === 0 ? rest : { ...rest, data: { ...rest.data, ...Object.fromEntries(encoded) } }
}

const dataPath = FieldPath.of('data')

function validate(secret: Secret): readonly FieldError[] {
  const data = secret.data ?? {}
  const totalBytes = Object.values(data).reduce((sum, text) => sum + base64Bytes(text), 0)
  return [
    ...Object.keys(data).flatMap((key) =>
      checkFormat('config-map-key', key).map((problem) => invalidField(dataPath.key(key), key, problem)),
    ),
    ...(totalBytes > dataBytesMax ? [tooLongField(dataPath, dataBytesMax)] : []),
    ...validateByType(secret, data),
  ]
}

/** The keys that the known types ask for. */
function validateByType({ type, metadata }: Secret, data: Data): readonly FieldError[] {
  const missing = (...keys: readonly string[]): readonly FieldError[] =>
    keys.filter((key) => data[key] === undefined).map((key) => requiredField(dataPath.key(key)))
  switch (type) {
    case 'kubernetes.io/service-account-token':
      return metadata.annotations?.[serviceAccountNameAnnotation]
        ? []
        : [requiredField(FieldPath.of('metadata', 'annotations').key(serviceAccountNameAnnotation))]
    case 'kubernetes.io/dockercfg':
      return validateJson('.dockercfg', data)
    case 'kubernetes.io/dockerconfigjson':
      return validateJson('.dockerconfigjson', data)
    case 'kubernetes.io/basic-auth':
      // Either will do: a token may stand for the name and the password.
      return missing('username', 'password').length === 2 ? missing('username', 'password') : []
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : [requiredField(dataPath.key('ssh-privatekey'))]
    case 'kubernetes.io/tls':
      return missing('tls.crt', 'tls.key')
    default:
      return []
  }
}

const serviceAccountNameAnnotation = 'kubernetes.io/service-account.name'

function validateJson(key: string, data: Data): readonly FieldError[] {
  const value = data[key]
  if (value === undefined) return [requiredField(dataPath.key(key))]
  const problem = jsonObjectProblem(Buffer.from(value, 'base64').toString('utf8'))
  return problem === undefined ? [] : [invalidField(dataPath.key(key), '<secret contents redacted>', problem)]
}

/** Why a text is no JSON object, in the words of Go's decoder; null is taken for one. */
function jsonObjectProblem(text: string): string | undefined {
  try {
    const type = jsonTypeOf(JSON.parse(text))
    if (type === 'object' || type === 'null') return undefined
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`
  } catch {
    return jsonSyntaxError(text)
  }
}

/** `v1` secrets. */
export const secrets = kind<Secret>(secretSchema, {
  plural: 'secrets',
  columns: [
    nameColumn,
    column('Type', ({ type }) => type ?? '', { field: 'type' }),
    column('Data', ({ data = {} }) => Object.keys(data).length, 'How many values there are.'),
    ageColumn,
  ],
  selectableFields: { type: ({ type }) => type ?? '' },
  defaults: mergeStringData,
  validate,
  validateUpdate: (secret, old) => [
    ...checkUnchanged(secret.type, old.type, FieldPath.of('type')),
    ...checkImmutableFlag(secret, old, FieldPath.root, ['data']),
  ],
  warnings: ({ type, data = {} }) => {
    if (type !== 'kubernetes.io/tls') return []
    const problem = keyPairProblem(data['tls.crt'] ?? '', data['tls.key'] ?? '')
    return problem === undefined ? [] : [problem]
  },
})
