import type { ObjectSchema } from '@coracle/api'
import {
  apiGroupDiscoveryListSchema,
  apiGroupListSchema,
  apiGroupSchema,
  apiResourceListSchema,
  apiVersionsSchema,
} from '@coracle/api/discovery'
import { encloseProtobuf, encodeHeld } from './protobuf-encode.ts'

const schemas: Readonly<Record<string, ObjectSchema>> = {
  APIGroup: apiGroupSchema,
  APIGroupDiscoveryList: apiGroupDiscoveryListSchema,
  APIGroupList: apiGroupListSchema,
  APIResourceList: apiResourceListSchema,
  APIVersions: apiVersionsSchema,
}

/** One of the documents of discovery. */
export interface DiscoveryValue {
  readonly kind: string
  readonly [member: string]: unknown
}

/** A document of discovery in protobuf, for clients that ask for everything in it. The legacy ones are all v1. */
export function discoveryProtobuf(document: DiscoveryValue): Buffer {
  const { kind, apiVersion = 'v1' } = document
  const schema = schemas[kind]
  if (schema === undefined) throw new Error(`${kind} has no message`)
  return encloseProtobuf(String(apiVersion), kind, encodeHeld(schema, document))
}
