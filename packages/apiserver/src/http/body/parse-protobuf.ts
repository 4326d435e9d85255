import { badRequest } from '@coracle/api'
import { unknownBodyFormat } from '../media-types.ts'
import { hasProtobufFields } from '../protobuf.ts'
import { type ExpectedKind, namedKind } from './expected-kind.ts'
import type { Wording } from './wording.ts'

/**
 * An object from protobuf in upstream's envelope; of one of another kind only what the envelope says. Throws UnsupportedMediaType (415)
 * where the kind has no protobuf, and BadRequest (400) where the bytes cannot be read.
 */
export async function parseProtobuf(body: Buffer, expected: ExpectedKind, wording: Wording): Promise<unknown> {
  const { kind, schema } = expected
  if (schema === undefined || !hasProtobufFields(schema)) throw unknownBodyFormat()
  const { decodeProtobuf, openProtobuf, ProtobufError } = await import('../protobuf-decode.ts')
  const orBadRequest = <T>(read: () => T, explain: (why: string) => string): T => {
    try {
      return read()
    } catch (error) {
      if (error instanceof ProtobufError) throw badRequest(explain(error.message))
      throw error
    }
  }
  const envelope = orBadRequest(
    () => openProtobuf(body),
    (why) => wording.unrecognized(why, expected, body),
  )
  const named = namedKind(envelope, expected)
  const type = {
    ...(envelope.apiVersion === '' ? {} : { apiVersion: envelope.apiVersion }),
    ...(envelope.kind === '' ? {} : { kind: envelope.kind }),
  }
  // The fields of another kind have other numbers.
  if (named.kind !== kind) return type
  const value = orBadRequest(
    () => decodeProtobuf(schema, envelope.raw),
    (why) => wording.undecodable(why, expected, named),
  )
  return { ...type, ...value }
}
