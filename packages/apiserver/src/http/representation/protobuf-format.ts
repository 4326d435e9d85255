import {
  type ObjectSchema,
  partialObjectMetadataListSchema,
  partialObjectMetadataSchema,
  statusSchema,
  tokenRequestSchema,
} from '@coracle/api'
import { encloseProtobuf, encodeHeld, encodeWatchEvent } from '../protobuf-encode.ts'
import type { Format } from './format.ts'

/** What of the answers made for one request alone has a message. Tables have none. */
const schemas: Readonly<Record<string, ObjectSchema>> = {
  PartialObjectMetadata: partialObjectMetadataSchema,
  PartialObjectMetadataList: partialObjectMetadataListSchema,
  Status: statusSchema,
  TokenRequest: tokenRequestSchema,
}

const contentType = 'application/vnd.kubernetes.protobuf'

/** Upstream's protobuf: an envelope that names what is in it. */
export const protobuf = {
  contentType,
  encode,
  events: {
    contentType: `${contentType};stream=watch`,
    encode: (type, object) => encodeWatchEvent(type, encode(object)),
  },
} satisfies Format

function encode(value: unknown): Buffer {
  const { apiVersion = '', kind = '' } = value as { readonly apiVersion?: string; readonly kind?: string }
  const schema = schemas[kind]
  if (schema === undefined) throw new Error(`answers of kind ${kind} have no protobuf message`)
  return encloseProtobuf(apiVersion, kind, encodeHeld(schema, value))
}
