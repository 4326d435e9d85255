import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  apiVersionOf,
  deleteOptionsSchema,
  type OpenApiOptions,
  openApiV2,
  openApiV3,
  type ResourceDefinition,
  scaleSchema,
  statusSchema,
} from '@coracle/api'
import { type Document, sendDocument } from './documents.ts'
import { accepts, notAcceptable } from './media-types.ts'
import { serverVersion } from './version.ts'

const yearSeconds = 31_536_000

/**
 * The schemas of the API as OpenAPI documents: `/openapi/v2` in one piece, `/openapi/v3` as an index of one document
 * per group and version. Made at the first request and kept. JSON only: clients that would rather have protobuf take
 * JSON too.
 */
export class OpenApi {
  readonly #definitions: readonly ResourceDefinition[]
  readonly #documents = new Map<string, Document>()

  constructor(definitions: readonly ResourceDefinition[]) {
    this.#definitions = definitions
  }

  /** Answers a GET of `path`; false where it is no path of OpenAPI. Throws NotAcceptable where JSON will not do. */
  handle(path: string, query: URLSearchParams, request: IncomingMessage, response: ServerResponse): boolean {
    const document = this.#document(path.replace(/\/+$/, ''))
    if (document === undefined) return false
    if (!accepts(request.headers.accept, 'application/json')) throw notAcceptable(['application/json'])
    const hash = query.get('hash')
    // Under its hash a document never changes, so that address may be kept for good.
    const cacheControl =
      hash !== null && `"${hash}"` === document.etag ? `public, immutable, max-age=${yearSeconds}` : 'no-cache, private'
    sendDocument(request, response, document, cacheControl)
    return true
  }

  #document(path: string): Document | undefined {
    if (path === '/openapi/v2') return this.#made(path, () => openApiV2(this.#definitions, options))
    if (path === '/openapi/v3') return this.#made(path, () => this.#index())
    const served = this.#groupVersions().find((each) => `/openapi/v3/${each.path}` === path)
    return served === undefined ? undefined : this.#groupVersion(served)
  }

  #groupVersion({ path, group, version }: GroupVersion): Document {
    return this.#made(`/openapi/v3/${path}`, () => openApiV3(this.#definitions, group, version, options))
  }

  #index(): unknown {
    const entries = this.#groupVersions().map((each) => {
      const hash = this.#groupVersion(each).etag.slice(1, -1)
      return [each.path, { serverRelativeURL: `/openapi/v3/${each.path}?hash=${hash}` }] as const
    })
    return { paths: Object.fromEntries(entries) }
  }

  #groupVersions(): readonly GroupVersion[] {
    const byPath = new Map(
      this.#definitions.map((definition) => {
        const { group, version } = definition
        const path = `${group === '' ? 'api' : 'apis'}/${apiVersionOf(definition)}`
        return [path, { path, group, version }]
      }),
    )
    return [...byPath.values()]
  }

  #made(path: string, make: () => unknown): Document {
    const kept = this.#documents.get(path)
    if (kept !== undefined) return kept
    const bytes = Buffer.from(JSON.stringify(make()))
    const etag = `"${createHash('sha256').update(bytes).digest('hex').toUpperCase()}"`
    const document: Document = { bytes, contentType: 'application/json', etag }
    this.#documents.set(path, document)
    return document
  }
}

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
