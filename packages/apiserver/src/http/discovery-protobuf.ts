import {
  apiGroupListSchema,
  apiGroupSchema,
  apiResourceListSchema,
  apiVersionsSchema,
  type ObjectSchema,
} from '@coracle/api'
import { encloseProtobuf, encodeHeld } from './protobuf-encode.ts'

export const protobufType = 'application/vnd.kubernetes.protobuf'

const schemas: Readonly<Record<string, ObjectSchema>> = {
  APIGroup: apiGroupSchema,
  APIGroupList: apiGroupListSchema,
  APIResourceList: apiResourceListSchema,
  APIVersions: apiVersionsSchema,
}

/** One of the legacy documents of discovery. */
export interface LegacyDocument {
  readonly kind: string
  readonly [member: string]: unknown
}

/** A legacy document of discovery in protobuf, for clients that ask for everything in it. */
export function discoveryProtobuf(document: LegacyDocument): Buffer {
  const schema = schemas[document.kind]
  if (schema === undefined) throw new Error(`${document.kind} has no message`)
  return encloseProtobuf('v1', document.kind, encodeHeld(schema, document))
}
