import type { ResourceDefinition } from '@coracle/api'
import type { StreamingService } from '@coracle/client/streaming'
import type { NodeAgent } from '../node-gateway.ts'
import type { ProxyTarget } from '../proxy/proxy-target.ts'
import type { RegistryWriteOptions, RequestedPatch, Stored } from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'

/** A request that is to be sent on. */
export interface ProxyRequest {
  readonly method: string
  /** Below the subresource, decoded: `/a/b/`, or ''. */
  readonly path: string
  readonly query: URLSearchParams
  /** Aborted when the client goes or the server closes. */
  readonly signal: AbortSignal
}

/** A request for a connection of streams that the agent of a node answers, which is not in this process. */
export interface AgentStreams {
  readonly kind: 'agent'
  readonly agent: NodeAgent
  /** Where kubelets have it, and the query, without the `?`. */
  readonly path: string
  readonly search: string
}

/** What a subresource answers: a JSON value, frozen, to be sent with this code. */
export interface SubresourceResult {
  readonly code: 200 | 201
  readonly value: unknown
  /** Where the answer is a stored object: the object with its bytes. `value` is its `object`. */
  readonly stored?: Stored
  /** Of which kind that object is, where it is another than the resource's: what its table is like. */
  readonly kind?: ResourceDefinition
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[]
}

/**
 * What is behind a path such as `pods/web/binding`, whichever way a request comes in. A method that is absent is not
 * allowed (405). Authentication and authorization have happened; bodies are parsed JSON values.
 *
 * `status` is none of these: registries write it themselves.
 */
export interface Subresource {
  get?(namespace: string, name: string): Promise<SubresourceResult>
  create?(
    context: RequestContext,
    namespace: string,
    name: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<SubresourceResult>
  update?(
    context: RequestContext,
    namespace: string,
    name: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<SubresourceResult>
  patch?(
    context: RequestContext,
    namespace: string,
    name: string,
    patch: RequestedPatch,
    options: RegistryWriteOptions,
  ): Promise<SubresourceResult>
  /**
   * A GET or POST that becomes a connection of streams. Admission judges it here, and all is found that can be wrong before
   * there is a connection.
   */
  connect?(
    context: RequestContext,
    namespace: string,
    name: string,
    query: URLSearchParams,
  ): Promise<StreamingService | AgentStreams>
  /**
   * A request of any method that goes on to another server. Admission judges it here as a connection, and `id` may say more
   * than a name: `https:web:8443`. Rejects where there is nowhere to send it.
   */
  proxy?(context: RequestContext, namespace: string, id: string, request: ProxyRequest): Promise<ProxyTarget>
  /** A GET that answers with text in pieces as they come. `query` holds the request's parameters. */
  stream?(
    namespace: string,
    name: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>
}

/** What becomes a connection of streams, and nothing else. */
export type Connectable = Required<Pick<Subresource, 'connect'>>

/** What creates, and nothing else. */
export type Creatable = Required<Pick<Subresource, 'create'>>

/** What passes requests on, and nothing else. */
export type Proxied = Required<Pick<Subresource, 'proxy'>>
