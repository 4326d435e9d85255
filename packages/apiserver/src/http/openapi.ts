import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  apiVersionOf,
  deleteOptionsSchema,
  type JsonObject,
  type ResourceDefinition,
  scaleSchema,
  statusSchema,
  trimRight,
} from '@coracle/api'
import {
  documentSources,
  type OpenApiOptions,
  openApiV2,
  openApiV3,
  openApiV3OfGroups,
  tokenIssuerPaths,
  versionPath,
} from '@coracle/api/openapi'
import { mergedOpenApi } from '../aggregation/merged-open-api.ts'
import type { RemoteVersions } from './discovery.ts'
import { type Document, Documents, etagOf, type ServedVersions, sendDocument } from './documents.ts'
import { clausesOf, matches } from './media-types.ts'
import { encodeOpenApiV2 } from './openapi-protobuf.ts'
import { serverVersion } from './version.ts'

const yearSeconds = 31_536_000

/**
 * The schemas of the API as OpenAPI documents: `/openapi/v2` in one piece, `/openapi/v3` as an index of one document
 * per group and version; what other servers behind this one say is merged into the first, and of the second theirs to give. Made at
 * the first request and kept: a document of one version until what it is made of changes, the others until anything does. In JSON,
 * and `/openapi/v2` in protobuf too.
 */
export class OpenApi {
  readonly #served: ServedVersions
  readonly #remotes: RemoteVersions
  readonly #options: OpenApiOptions
  readonly #documents: Documents
  readonly #indexes: Documents
  /** Documents of `/openapi/v3` by path, with what they are made of: what others come from does not make them anew. */
  readonly #madeOf = new Map<string, { readonly sources: readonly unknown[]; readonly document: Document }>()
  #groups: { readonly own: readonly unknown[]; readonly documents: ReadonlyMap<string, GroupsDocument> } | undefined

  /** `hasTokens`: whether the server issues tokens of service accounts, and tells how to check them. */
  constructor(served: ServedVersions, remotes: RemoteVersions, hasTokens: boolean) {
    this.#options = { ...options, serverPaths: [versionPath, ...(hasTokens ? tokenIssuerPaths : [])] }
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

  /** Answers a GET of `path`; false where it is no path of OpenAPI. As upstream a 406 says nothing, and the index asks for no type. */
  handle(
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): false | void | Promise<void> {
    const form = this.#form(trimRight(path, '/'))
    if (form === undefined) return false
    const mediaType = firstAccepted(request.headers.accept, form.mediaTypes)
    if (mediaType === undefined) {
      response.writeHead(406, ['Vary', 'Accept', 'Content-Length', '0'])
      response.end()
      return
    }
    const document = form.document(mediaType)
    const hash = query.get('hash') ?? ''
    if (hash === '' || form.path === undefined) return sendDocument(request, response, document)
    // Under its hash a document never changes, so that address may be kept for good.
    if (`"${hash}"` === document.etag) {
      return sendDocument(request, response, document, `public, immutable, max-age=${yearSeconds}`)
    }
    response.writeHead(301, ['Location', addressOf(form.path, document), 'Content-Length', '0'])
    response.end()
  }

  #form(path: string): Form | undefined {
    if (path === '/openapi/v2') {
      return {
        mediaTypes: [jsonType, ...protobufTypes],
        document: (mediaType) => (mediaType === jsonType ? this.#whole(path) : this.#protobuf(path)),
      }
    }
    if (path === '/openapi/v3') {
      return {
        mediaTypes: [],
        document: () => this.#indexes.get(path, () => documentOf(jsonType, jsonBytes(this.#index()))),
      }
    }
    const ofGroups = this.#ofGroups().get(path.slice('/openapi/v3/'.length))
    if (ofGroups !== undefined && path.startsWith('/openapi/v3/')) {
      return { mediaTypes: [jsonType], path: ofGroups.path, document: () => ofGroups.document }
    }
    const served = this.#groupVersions().find((each) => `/openapi/v3/${each.path}` === path)
    if (served === undefined) return undefined
    return { mediaTypes: [jsonType], path: served.path, document: () => this.#groupVersion(served) }
  }

  #whole(path: string): Document {
    return this.#indexes.get(path, () => documentOf(jsonType, jsonBytes(this.#merged())))
  }

  #groupVersion({ path, group, version }: GroupVersion): Document {
    return this.#documents.get(path, () => {
      const definitions = this.#definitions
      const sources = documentSources(definitions, group, version)
      const before = this.#madeOf.get(path)
      if (before !== undefined && haveSameElements(before.sources, sources)) return before.document
      const document = documentOf(jsonType, jsonBytes(openApiV3(definitions, group, version, this.#options)))
      this.#madeOf.set(path, { sources, document })
      return document
    })
  }

  /** Documents of what tells of groups and versions, by path: they change with the groups that are built in alone. */
  #ofGroups(): ReadonlyMap<string, GroupsDocument> {
    const own = this.#own.filter(({ schema }) => schema.dialect !== 'structural')
    if (this.#groups === undefined || !haveSameElements(this.#groups.own, own)) {
      const made = openApiV3OfGroups(own, this.#options)
      const documents = [...made].map(([path, value]): readonly [string, GroupsDocument] => {
        return [path, { path, document: documentOf(jsonType, jsonBytes(value)) }]
      })
      this.#groups = { own, documents: new Map(documents) }
    }
    return this.#groups.documents
  }

  /** What this server serves and what others do. */
  #merged(): JsonObject {
    return mergedOpenApi(openApiV2(this.#own, this.#options), this.#remotes.openApis())
  }

  #index(): unknown {
    const groupVersions = this.#groupVersions()
    const paths = new Set(groupVersions.map(({ path }) => path))
    for (const path of this.#madeOf.keys()) if (!paths.has(path)) this.#madeOf.delete(path)
    const entries = groupVersions.map((each) => {
      return [each.path, { serverRelativeURL: addressOf(each.path, this.#groupVersion(each)) }] as const
    })
    const ofGroups = [...this.#ofGroups().values()].map(({ path, document }) => {
      return [path, { serverRelativeURL: addressOf(path, document) }] as const
    })
    const remote = this.#remotes.groupVersions().flatMap(({ group, version, schemas }) => {
      return schemas === undefined ? [] : [[`apis/${group}/${version}`, { serverRelativeURL: schemas }] as const]
    })
    return { paths: Object.fromEntries([...ofGroups, ...entries, ...remote]) }
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
}

const haveSameElements = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index])

const jsonBytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

const documentOf = (contentType: string, bytes: Buffer): Document => ({ bytes, contentType, etag: etagOf(bytes) })

/** Where a document is that never changes. */
const addressOf = (path: string, { etag }: Document): string => `/openapi/v3/${path}?hash=${etag.slice(1, -1)}`

/** The type that an `Accept` header names first of those that there are; undefined where it names none of them. */
function firstAccepted(accept: string | undefined, offered: readonly string[]): string | undefined {
  if (accept === undefined || accept === '' || offered.length === 0) return offered[0] ?? jsonType
  return clausesOf(accept)
    .map(({ type }) => offered.find((each) => matches(type, each)))
    .find((each) => each !== undefined)
}

const jsonType = 'application/json'

/** The second is the older name, which clients still ask for. */
const protobufTypes = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
] as const

/** What there is at a path. */
interface Form {
  /** What it may be had in, the best first. None: it is JSON, whatever is asked for. */
  readonly mediaTypes: readonly string[]
  /** Of a group and version, which have addresses with hashes. */
  readonly path?: string
  document(mediaType: string): Document
}

/** A document that belongs to no version of a group. */
interface GroupsDocument {
  /** `api`, `apis`, `apis/apps`. */
  readonly path: string
  readonly document: Document
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
