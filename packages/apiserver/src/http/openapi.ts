import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  apiVersionOf,
  deleteOptionsSchema,
  type JsonObject,
  type ResourceDefinition,
  scaleSchema,
  statusSchema,
} from '@coracle/api'
import { type OpenApiOptions, openApiV2, openApiV3 } from '@coracle/api/openapi'
import { mergedOpenApi } from '../aggregation/merged-open-api.ts'
import type { RemoteVersions } from './discovery.ts'
import { type Document, Documents, type ServedVersions, sendDocument } from './documents.ts'
import { accepts, notAcceptable } from './media-types.ts'
import { encodeOpenApiV2 } from './openapi-protobuf.ts'
import { serverVersion } from './version.ts'

const yearSeconds = 31_536_000

/**
 * The schemas of the API as OpenAPI documents: `/openapi/v2` in one piece, `/openapi/v3` as an index of one document
 * per group and version; what other servers behind this one say is merged into the first, and of the second theirs to give. Made at the first request and kept. In JSON, and `/openapi/v2` in protobuf for those who take
 * nothing else; of `/openapi/v3` all take JSON too.
 */
export class OpenApi {
  readonly #served: ServedVersions
  readonly #remotes: RemoteVersions
  readonly #documents: Documents
  readonly #indexes: Documents

  constructor(served: ServedVersions, remotes: RemoteVersions) {
    this.#served = served
    this.#remotes = remotes
    this.#documents = new Documents(served)
    this.#indexes = new Documents({
      get generation() {
        // Both only rise.
        return served.generation + remotes.generation
      },
    })
  }

  get #definitions(): readonly ResourceDefinition[] {
    return this.#served.definitions()
  }

  /** Those of this server, but what has been given to another. */
  get #own(): readonly ResourceDefinition[] {
    return this.#definitions.filter(({ group, version }) => !this.#remotes.isRemote(group, version))
  }

  /** Answers a GET of `path`; false where it is no path of OpenAPI. Throws NotAcceptable where no form of it will do. */
  handle(path: string, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): boolean {
    const { accept } = request.headers
    const document = this.#document(path.replace(/\/+$/, ''), (type) => accepts(accept, type))
    if (document === undefined) return false
    const hash = query.get('hash')
    // Under its hash a document never changes, so that address may be kept for good.
    const cacheControl =
      hash !== null && `"${hash}"` === document.etag ? `public, immutable, max-age=${yearSeconds}` : 'no-cache, private'
    sendDocument(request, response, document, cacheControl)
    return true
  }

  #document(path: string, isAccepted: (mediaType: string) => boolean): Document | undefined {
    const isJson = isAccepted(jsonType)
    if (path === '/openapi/v2' && !isJson) {
      if (!protobufTypes.some(isAccepted)) throw notAcceptable([jsonType, ...protobufTypes])
      return this.#protobuf(path)
    }
    if (path.startsWith('/openapi/v3') && !isJson) throw notAcceptable([jsonType])
    if (path === '/openapi/v2') return this.#indexes.get(path, () => documentOf(jsonType, jsonBytes(this.#merged())))
    if (path === '/openapi/v3') return this.#indexes.get(path, () => documentOf(jsonType, jsonBytes(this.#index())))
    const served = this.#groupVersions().find((each) => `/openapi/v3/${each.path}` === path)
    return served === undefined ? undefined : this.#groupVersion(served)
  }

  #groupVersion({ path, group, version }: GroupVersion): Document {
    return this.#made(`/openapi/v3/${path}`, () => openApiV3(this.#definitions, group, version, options))
  }

  /** What this server serves and what others do. */
  #merged(): JsonObject {
    return mergedOpenApi(openApiV2(this.#own, options), this.#remotes.openApis())
  }

  #index(): unknown {
    const entries = this.#groupVersions().map((each) => {
      const hash = this.#groupVersion(each).etag.slice(1, -1)
      return [each.path, { serverRelativeURL: `/openapi/v3/${each.path}?hash=${hash}` }] as const
    })
    const remote = this.#remotes.groupVersions().flatMap(({ group, version, schemas }) => {
      return schemas === undefined ? [] : [[`apis/${group}/${version}`, { serverRelativeURL: schemas }] as const]
    })
    return { paths: Object.fromEntries([...entries, ...remote]) }
  }

  /** Those of this server, but what has been given to another. */
  #groupVersions(): readonly GroupVersion[] {
    const byPath = new Map(
      this.#own.map((definition) => {
        const { group, version } = definition
        const path = `${group === '' ? 'api' : 'apis'}/${apiVersionOf(definition)}`
        return [path, { path, group, version }]
      }),
    )
    return [...byPath.values()]
  }

  #protobuf(path: string): Document {
    const [contentType] = protobufTypes
    const make = () => documentOf(contentType, encodeOpenApiV2(this.#merged()))
    return this.#indexes.get(`${path} ${contentType}`, make)
  }

  #made(path: string, make: () => unknown): Document {
    return this.#documents.get(path, () => documentOf(jsonType, jsonBytes(make())))
  }
}

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

function documentOf(contentType: string, bytes: Buffer): Document {
  const etag = `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"`
  return { bytes, contentType, etag }
}

const jsonType = 'application/json'

/** The second is the older name, which clients still ask for. */
const protobufTypes = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
] as const

interface GroupVersion {
  /** `api/v1`, `apis/apps/v1`. */
  readonly path: string
  readonly group: string
  readonly version: string
}

/** What is exchanged without being stored. */
const options: OpenApiOptions = {
  serverVersion: serverVersion.gitVersion,
  kinds: [
    { schema: statusSchema, kinds: [{ group: '', version: 'v1', kind: 'Status' }] },
    { schema: deleteOptionsSchema, kinds: [{ group: '', version: 'v1', kind: 'DeleteOptions' }] },
    { schema: scaleSchema, kinds: [{ group: 'autoscaling', version: 'v1', kind: 'Scale' }] },
  ],
}
