import type { KubernetesObject, Resource } from '@coracle/api'
import { type Client, metadataOf, type Watch } from './client.ts'

/** A call of a client, as what stands in its way sees it. */
export interface ClientCall {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'
  readonly resource: Resource
  /** Undefined: every namespace, or the kind has none. */
  readonly namespace: string | undefined
  /** Empty for collections, and for objects whose name the server makes. */
  readonly name: string
  readonly subresource: string
  /** What is to be created, or written in the place of another; undefined for other verbs. */
  readonly object?: KubernetesObject
  /** How long what is to be deleted may take; undefined where that is not said. */
  readonly gracePeriodSeconds?: number | undefined
}

/** What stands between a client and its server. `proceed` makes the call; an interceptor may call it late, or not at all. */
export interface Interceptor {
  call<T>(call: ClientCall, proceed: () => Promise<T>): Promise<T>
  /** For watches, whose events follow the answer. Absent: `call`, and events come as they do. */
  watch?<T extends KubernetesObject>(call: ClientCall, proceed: () => Promise<Watch<T>>): Promise<Watch<T>>
}

/** A client whose calls go through `interceptor` to whatever `target` gives at that time. */
export function interceptClient(target: () => Client, interceptor: Interceptor): Client {
  return new InterceptedClient(target, interceptor)
}

class InterceptedClient implements Client {
  readonly #target: () => Client
  readonly #interceptor: Interceptor

  constructor(target: () => Client, interceptor: Interceptor) {
    this.#target = target
    this.#interceptor = interceptor
  }

  staysInProcess(resource: Resource): boolean {
    return this.#target().staysInProcess?.(resource) ?? false
  }

  get: Client['get'] = (resource, key, options) => {
    const call = callOf('get', resource, key.namespace, key.name, options?.subresource)
    return this.#interceptor.call(call, async () => this.#target().get(resource, key, options))
  }

  list: Client['list'] = (resource, options) => {
    const call = callOf('list', resource, options?.namespace)
    return this.#interceptor.call(call, async () => this.#target().list(resource, options))
  }

  watch: Client['watch'] = <T extends KubernetesObject>(
    resource: Resource<T>,
    options?: Parameters<Client['watch']>[1],
  ) => {
    const call = callOf('watch', resource, options?.namespace)
    const proceed = async () => this.#target().watch(resource, options)
    return this.#interceptor.watch?.(call, proceed) ?? this.#interceptor.call(call, proceed)
  }

  create: Client['create'] = (resource, object, options) => {
    const { namespace, name } = object.metadata
    const call = { ...callOf('create', resource, namespace, name, options?.subresource), object }
    return this.#interceptor.call(call, async () => this.#target().create(resource, object, options))
  }

  update: Client['update'] = (resource, object, options) => {
    const { namespace, name } = object.metadata
    const call = { ...callOf('update', resource, namespace, name, options?.subresource), object }
    return this.#interceptor.call(call, async () => this.#target().update(resource, object, options))
  }

  createSubresource: Client['createSubresource'] = (resource, key, subresource, body, options) => {
    const call = callOf('create', resource, key.namespace, key.name, subresource)
    return this.#interceptor.call(call, async () =>
      this.#target().createSubresource(resource, key, subresource, body, options),
    )
  }

  stream: Client['stream'] = (resource, key, subresource, query, signal) => {
    const call = callOf('get', resource, key.namespace, key.name, subresource)
    return this.#interceptor.call(call, async () => this.#target().stream(resource, key, subresource, query, signal))
  }

  patch: Client['patch'] = (resource, key, patch, options) => {
    const call = callOf('patch', resource, key.namespace, key.name, options?.subresource)
    return this.#interceptor.call(call, async () => this.#target().patch(resource, key, patch, options))
  }

  apply: Client['apply'] = (resource, configuration, options) => {
    const { namespace, name } = metadataOf(configuration)
    const call = callOf('patch', resource, namespace, name, options.subresource)
    return this.#interceptor.call(call, async () => this.#target().apply(resource, configuration, options))
  }

  delete: Client['delete'] = (resource, key, options) => {
    const { gracePeriodSeconds } = options ?? {}
    const call = { ...callOf('delete', resource, key.namespace, key.name), gracePeriodSeconds }
    return this.#interceptor.call(call, async () => this.#target().delete(resource, key, options))
  }

  deleteCollection: Client['deleteCollection'] = (resource, list, options) => {
    const call = callOf('deletecollection', resource, list.namespace)
    return this.#interceptor.call(call, async () => this.#target().deleteCollection(resource, list, options))
  }
}

function callOf(
  verb: ClientCall['verb'],
  resource: Resource,
  namespace: string | undefined,
  name = '',
  subresource = '',
): ClientCall {
  return { verb, resource, namespace, name, subresource }
}
