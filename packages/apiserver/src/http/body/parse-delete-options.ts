import { badRequest, compile, deleteOptionsSchema, isJsonObject, jsonTypeOf } from '@coracle/api'
import { inGoTypes } from '../../go-types.ts'
import { notRegisteredAsOptions } from '../../registry/schemes.ts'
import type { RawDeleteOptions } from '../query.ts'
import type { ExpectedKind } from './expected-kind.ts'
import { parseObject } from './parse-object.ts'
import { optionsWording, unreadableType } from './wording.ts'

/** A DeleteOptions object; undefined for an empty body. Throws as `parseObject`, and BadRequest for another kind. */
export async function parseDeleteOptions(
  body: Buffer,
  contentType: string | undefined,
): Promise<RawDeleteOptions | undefined> {
  if (body.length === 0) return undefined
  const reading = {
    contentType,
    expected: deleteOptionsKind,
    fieldValidation: 'Ignore',
    wording: optionsWording,
  } as const
  const { value } = await parseObject(body, reading)
  const options = value ?? {}
  if (!isJsonObject(options)) throw badRequest(unreadableType(noTyped(options)))
  const { kind = 'DeleteOptions', apiVersion = 'meta.k8s.io/v1' } = options
  if (kind !== 'DeleteOptions') throw badRequest(notRegisteredAsOptions(String(apiVersion), String(kind)))
  // Without a kind, errors of the decoder are the problem alone.
  return inGoTypes((goTypes) => compile(deleteOptionsSchema).decode(options, { kind: '', version: '', goTypes }).value)
}

const deleteOptionsKind: ExpectedKind = {
  group: 'meta.k8s.io',
  kind: 'DeleteOptions',
  version: 'v1',
  schema: deleteOptionsSchema,
}

/** What Go says of JSON that can have neither a version nor a kind. */
const noTyped = (value: unknown): string =>
  `json: cannot unmarshal ${jsonTypeOf(value)} into Go value of type ` +
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
