import {
  apiVersionOf,
  type CauseClaim,
  causeHeader,
  causeHeaderOf,
  deepFreeze,
  type KubernetesList,
  type KubernetesObject,
  parseExactJson,
  type Resource,
  type ResourceDefinition,
  type Status,
  withoutNulls,
} from '@coracle/api'
import type { Environment } from '@coracle/environment'
import {
  type ApplyConfiguration,
  type ApplyOptions,
  type Client,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  metadataOf,
  type ObjectKey,
  type Patch,
  type PatchType,
  type Watch,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from './client.ts'
import { type DiscoveredResource, discoverResources } from './discovery.ts'
import {
  createTransport,
  type RawRequest,
  type RawResponse,
  type ResponseBody,
  type Transport,
  type TransportOptions,
} from './http-transport.ts'
import { linesOf } from './lines.ts'
import { collectionPath, objectPath, type Query, requiredNamespace, withQuery } from './resource-path.ts'
import type { OpenedSpdy } from './streaming/open-spdy.ts'
import type { OpenedWebSocket } from './streaming/open-web-socket.ts'

export interface HttpClientOptions extends TransportOptions, Environment {}

/** A client over HTTP, with what only HTTP has: raw paths and discovery. */
export interface HttpClient extends Client {
  /** Sends any request. Rejects with an ApiError for codes from 300, but that a GET follows where it is led within the server. */
  request(request: RawRequest): Promise<RawResponse>
  /**
   * Watches as `watch` does, and asks the server to draw what it tells of: the objects of events are Tables with a row for each object, or
   * the objects themselves where a server draws none. Columns are in the first event alone.
   */
  watchTables(resource: Resource, options?: WatchOptions): Promise<Watch<KubernetesObject>>
  /** The text under a path, such as `/version` or `/readyz?verbose`. */
  rawGet(path: string, signal?: AbortSignal): Promise<string>
  /** What is under a path, byte for byte as it comes: it may be no text, be larger than memory, and have no end. */
  rawStream(path: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Every resource the server serves, in all versions. */
  discover(): Promise<readonly DiscoveredResource[]>
  /**
   * Opens a WebSocket to a path, with one of these subprotocols: what `@coracle/client/streaming` stands on. Rejects with an
   * ApiError where the server refuses it.
   */
  openWebSocket(path: string, protocols: readonly string[]): Promise<OpenedWebSocket>
  /**
   * Opens a connection for a SPDY/3.1 session to a path, with one of these subprotocols: for servers that have no WebSocket for it.
   * Rejects with an ApiError where the server refuses it.
   */
  openSpdy(path: string, protocols: readonly string[]): Promise<OpenedSpdy>
  /** Ends all connections; watches end too. */
  close(): Promise<void>
}

/** How tables are asked for, in the versions there are. */
export const tableAccept: string = ['v1', 'v1beta1']
  .map((version) => `application/json;as=Table;v=${version};g=meta.k8s.io`)
  .join(',')

/** A client of the API server at `server`. Nothing is sent before the first request. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { clock, random, logger, ...transport } = options
  return new RestClient(createTransport(transport, { clock }))
}

/** A client over requests that are sent in some other way than by HTTP to one server. */
export function createRestClient(transport: Transport): HttpClient {
  return new RestClient(transport)
}

const patchContentType: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

class RestClient implements HttpClient {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const { subresource, signal, ...query } = options
    const path = withQuery(objectPath(resource, key, subresource), query)
    return this.#read<T>('GET', path, signal).then((answer) => deepFreeze(decoded(resource, answer)))
  }

  async list<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubernetesList<T>> {
    const { namespace, signal, ...query } = options
    const path = withQuery(collectionPath(resource, namespace), query)
    const list = await this.#read<KubernetesList<T>>('GET', path, signal)
    // Items of a list do not repeat its kind on the wire.
    const typed = { apiVersion: apiVersionOf(resource), kind: resource.kind }
    return deepFreeze({ ...list, items: (list.items ?? []).map((item) => decoded(resource, { ...typed, ...item })) })
  }

  async watch<T extends KubernetesObject>(resource: Resource<T>, options: WatchOptions = {}): Promise<Watch<T>> {
    return new HttpWatch<T>(resource, await this.#openWatch(resource, options))
  }

  async watchTables(resource: Resource, options: WatchOptions = {}): Promise<Watch<KubernetesObject>> {
    return new HttpWatch(resource, await this.#openWatch(resource, options, `${tableAccept},application/json`))
  }

  #openWatch(resource: Resource, options: WatchOptions, accept = 'application/json'): Promise<ResponseBody> {
    const { namespace, signal, ...query } = options
    // The API wants to be told what the initial events are compared with; there is only this one way (KEP-3157).
    const initial = options.sendInitialEvents === undefined ? {} : { resourceVersionMatch: 'NotOlderThan' }
    const path = withQuery(collectionPath(resource, namespace), { watch: true, ...query, ...initial })
    return this.#transport.open({ method: 'GET', path, accept, ...signalOf(signal) })
  }

  create<T extends KubernetesObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata
    const path =
      options.subresource === undefined
        ? collectionPath(resource, requiredNamespace(resource, namespace))
        : objectPath(
            resource,
            { ...(namespace === undefined ? {} : { namespace }), name: name ?? '' },
            options.subresource,
          )
    return this.#write<T>(resource, 'POST', withQuery(path, writeQuery(options)), options, object)
  }

  update<T extends KubernetesObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name = '' } = object.metadata
    const key = { ...(namespace === undefined ? {} : { namespace }), name }
    const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options))
    return this.#write<T>(resource, 'PUT', path, options, object)
  }

  createSubresource(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<unknown> {
    const path = withQuery(objectPath(resource, key, subresource), writeQuery(options))
    return this.#write<unknown>(undefined, 'POST', path, options, body)
  }

  async stream(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    query: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const path = withQuery(objectPath(resource, key, subresource), query)
    return this.rawStream(path, signal)
  }

  patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options))
    return this.#write<T>(resource, 'PATCH', path, options, patch.body, patchContentType[patch.type])
  }

  apply<T extends KubernetesObject>(
    resource: Resource<T>,
    configuration: ApplyConfiguration<T>,
    options: ApplyOptions,
  ): Promise<T> {
    const { namespace, name = '' } = metadataOf(configuration)
    const key = { ...(namespace === undefined ? {} : { namespace }), name }
    const { force } = options
    const query = { ...writeQuery(options), ...(force === undefined ? {} : { force }) }
    const path = withQuery(objectPath(resource, key, options.subresource), query)
    return this.#write<T>(resource, 'PATCH', path, options, configuration, patchContentType.apply)
  }

  delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    return this.#write<T | Status>(resource, 'DELETE', objectPath(resource, key), options, deleteBody(options))
  }

  async deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    list: ListOptions,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { namespace, signal, ...query } = list
    const path = withQuery(collectionPath(resource, namespace), query)
    await this.#write<unknown>(undefined, 'DELETE', path, { signal, ...options }, deleteBody(options))
  }

  request(request: RawRequest): Promise<RawResponse> {
    return this.#transport.send(request)
  }

  async rawGet(path: string, signal?: AbortSignal): Promise<string> {
    const response = await this.#transport.send({ method: 'GET', path, accept: '*/*', ...signalOf(signal) })
    return response.body
  }

  async rawStream(path: string, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#transport.open({
      method: 'GET',
      path,
      accept: 'application/json, */*',
      mayBeginLate: true,
      ...signalOf(signal),
    })
  }

  discover(): Promise<readonly DiscoveredResource[]> {
    return discoverResources((path, accept) => this.#transport.send({ method: 'GET', path, accept }).then(parseBody))
  }

  async openWebSocket(path: string, protocols: readonly string[]): Promise<OpenedWebSocket> {
    const { openWebSocket } = this.#transport
    if (openWebSocket === undefined) throw new Error('this client has no connection that could become a WebSocket')
    return openWebSocket(path, protocols)
  }

  async openSpdy(path: string, protocols: readonly string[]): Promise<OpenedSpdy> {
    const { openSpdy } = this.#transport
    if (openSpdy === undefined) throw new Error('this client has no connection that could become one of SPDY')
    return openSpdy(path, protocols)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }

  async #write<R>(
    resource: Resource | undefined,
    method: RawRequest['method'],
    path: string,
    { signal, because, reconcile }: CauseClaim & { readonly signal?: AbortSignal | undefined },
    body: unknown,
    contentType = 'application/json',
  ): Promise<R> {
    const cause = causeHeaderOf({ ...(because && { because }), ...(reconcile && { reconcile }) })
    const headers = cause === undefined ? {} : { headers: { [causeHeader]: cause } }
    const content = { body: JSON.stringify(body), contentType, ...headers }
    const answer = parseBody(await this.#transport.send({ method, path, ...content, ...signalOf(signal) })) as R
    return deepFreeze(resource === undefined ? answer : decoded(resource, answer))
  }

  async #read<R>(method: RawRequest['method'], path: string, signal: AbortSignal | undefined): Promise<R> {
    return parseBody(await this.#transport.send({ method, path, ...signalOf(signal) })) as R
  }
}

/** A watch whose events are parsed as they are taken: while nobody takes them, TCP holds the server back. */
class HttpWatch<T extends KubernetesObject> implements Watch<T> {
  readonly #resource: Resource<T>
  readonly #body: ResponseBody
  #isClosed = false

  constructor(resource: Resource<T>, body: ResponseBody) {
    this.#resource = resource
    this.#body = body
  }

  close(): void {
    this.#isClosed = true
    this.#body.destroy()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<T>> {
    try {
      for await (const line of linesOf(this.#body)) {
        if (this.#isClosed) return
        const event = parseExactJson(line) as WatchEvent<T>
        yield deepFreeze({ ...event, object: decoded(this.#resource, event.object) } as WatchEvent<T>)
      }
    } catch (error) {
      if (!this.#isClosed) throw error
    } finally {
      this.#body.destroy()
    }
  }
}

/**
 * An object of a resource whose schema the caller has brought along, as a server in this process would give it: without the nulls that
 * Go writes for what is not there. All else is as it came.
 */
function decoded<T, R extends KubernetesObject>(resource: Resource<R>, answer: T): T {
  const { schema, kind } = resource as Partial<ResourceDefinition>
  return schema !== undefined && (answer as Partial<KubernetesObject>).kind === kind
    ? (withoutNulls(schema, answer as KubernetesObject) as T)
    : answer
}

function parseBody(response: RawResponse): unknown {
  try {
    return parseExactJson(response.body)
  } catch (cause) {
    throw new Error(`the server's answer is no JSON: ${response.body.slice(0, 100)}`, { cause })
  }
}

function writeQuery({ dryRun, fieldManager, fieldValidation }: WriteOptions): Query {
  return { dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation }
}

function deleteBody(options: DeleteOptions): unknown {
  const { dryRun, signal: _signal, because: _because, reconcile: _reconcile, ...rest } = options
  return { kind: 'DeleteOptions', apiVersion: 'v1', ...rest, ...(dryRun === true ? { dryRun: ['All'] } : {}) }
}

const signalOf = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal })
