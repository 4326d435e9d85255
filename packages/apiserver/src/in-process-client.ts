import {
  ApiError,
  badRequest,
  type CauseClaim,
  type KubernetesList,
  type KubernetesObject,
  methodNotAllowed,
  type Resource,
  type Status,
} from '@coracle/api'
import {
  type ApplyConfiguration,
  type ApplyOptions,
  type Client,
  createRestClient,
  type DeleteOptions,
  type GetOptions,
  type ListOptions,
  metadataOf,
  type ObjectKey,
  type Patch,
  routeClient,
  type Watch,
  type WatchOptions,
  type WriteOptions,
} from '@coracle/client'
import { remoteTransport } from './aggregation/remote-transport.ts'
import type { ApiCore } from './api-core.ts'
import { InProcessWatch } from './in-process-watch.ts'
import type { Registry, RegistryWriteOptions } from './registry-contract.ts'
import { collectionAttributes, type RequestContext, type User } from './request.ts'
import type { Subresource } from './subresources/subresource.ts'

/**
 * A client without a network between: the same authorization, admission and validation as over HTTP, and the server's own
 * frozen objects instead of copies.
 */
export function createInProcessClient(core: ApiCore, user: User): Client {
  const own = new InProcessClient(core, user)
  let remote: Client | undefined
  return routeClient(({ group, version }) => {
    if (!core.aggregator.isRemote(group, version)) return own
    remote ??= createRestClient(remoteTransport(core, user))
    return remote
  })
}

const readVerbs: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

type EnteringRequest = readonly [
  verb: string,
  resource: Resource,
  subresource: string,
  namespace: string | undefined,
  name: string,
  signal: AbortSignal | undefined,
  fieldSelector?: string,
]

/** Where a request goes. */
interface Entered {
  readonly registry: Registry
  readonly namespace: string
}

class InProcessClient implements Client {
  readonly #core: ApiCore
  readonly #context: RequestContext

  constructor(core: ApiCore, user: User) {
    this.#core = core
    const context = { user, userAgent: `${componentOf(user)}/in-process` }
    this.#context = isController(user) ? { ...context, program: 'kube-controller-manager' } : context
  }

  staysInProcess(): boolean {
    return true
  }

  async get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    const { subresource = '', signal } = options
    const { registry, namespace } = await this.#enter('get', resource, subresource, key.namespace, key.name, signal)
    if (subresource === '' || subresource === 'status') return (await registry.get(namespace, key.name)).object as T
    const found = this.#subresource(resource, subresource)
    if (found.get === undefined) throw notAllowed(resource, subresource, 'get')
    return (await found.get(namespace, key.name)).value as T
  }

  async list<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubernetesList<T>> {
    const { registry } = await this.#enter(
      'list',
      resource,
      '',
      options.namespace,
      '',
      options.signal,
      options.fieldSelector,
    )
    const page = await registry.list(options)
    return {
      apiVersion: resource.group === '' ? resource.version : `${resource.group}/${resource.version}`,
      kind: registry.definition.listKind,
      metadata: {
        resourceVersion: String(page.revision),
        ...(page.continue === '' ? {} : { continue: page.continue }),
        ...(page.remainingItemCount === undefined ? {} : { remainingItemCount: page.remainingItemCount }),
      },
      items: page.items.map(({ object }) => object as T),
    }
  }

  async watch<T extends KubernetesObject>(resource: Resource<T>, options: WatchOptions = {}): Promise<Watch<T>> {
    const { registry } = await this.#enter(
      'watch',
      resource,
      '',
      options.namespace,
      '',
      options.signal,
      options.fieldSelector,
    )
    const watch = new InProcessWatch<T>()
    watch.attach(await registry.watch({ ...options, bookmarksOnlyEnd: true }, watch.onEvent, watch.onEnd))
    return watch
  }

  async create<T extends KubernetesObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const own = object.metadata.namespace ?? ''
    // As over HTTP, a create has no name in its path: rights to single names do not cover it.
    const { registry, namespace } = await this.#enter('create', resource, '', own, '', options.signal)
    const { stored } = await registry.create(this.#contextOf(options), namespace, object, writeOptionsOf(options))
    return stored.object as T
  }

  async update<T extends KubernetesObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { subresource = '', signal } = options
    const name = object.metadata.name ?? ''
    const { registry, namespace } = await this.#enter(
      'update',
      resource,
      subresource,
      object.metadata.namespace,
      name,
      signal,
    )
    const writeOptions = writeOptionsOf(options)
    if (subresource === '' || subresource === 'status') {
      return (await registry.update(this.#contextOf(options), namespace, name, subresource, object, writeOptions))
        .stored.object as T
    }
    const found = this.#subresource(resource, subresource)
    if (found.update === undefined) throw notAllowed(resource, subresource, 'update')
    return (await found.update(this.#contextOf(options), namespace, name, object, writeOptions)).value as T
  }

  async createSubresource(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    body: unknown,
    options: WriteOptions = {},
  ): Promise<unknown> {
    const { namespace } = await this.#enter('create', resource, subresource, key.namespace, key.name, options.signal)
    const found = this.#subresource(resource, subresource)
    if (found.create === undefined) throw notAllowed(resource, subresource, 'create')
    return (await found.create(this.#contextOf(options), namespace, key.name, body, writeOptionsOf(options))).value
  }

  async stream(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const { namespace } = await this.#enter('get', resource, subresource, key.namespace, key.name, signal)
    const found = this.#subresource(resource, subresource)
    if (found.stream === undefined) throw notAllowed(resource, subresource, 'get')
    return found.stream(namespace, key.name, query, signal)
  }

  async patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const { subresource = '', signal } = options
    const { registry, namespace } = await this.#enter('patch', resource, subresource, key.namespace, key.name, signal)
    const writeOptions = writeOptionsOf(options)
    if (subresource === '' || subresource === 'status') {
      const result = await registry.patch(
        this.#contextOf(options),
        namespace,
        key.name,
        subresource,
        patch,
        writeOptions,
      )
      return result.stored.object as T
    }
    const found = this.#subresource(resource, subresource)
    if (found.patch === undefined) throw notAllowed(resource, subresource, 'patch')
    return (await found.patch(this.#contextOf(options), namespace, key.name, patch, writeOptions)).value as T
  }

  async apply<T extends KubernetesObject>(
    resource: Resource<T>,
    configuration: ApplyConfiguration<T>,
    options: ApplyOptions,
  ): Promise<T> {
    const { namespace, name = '' } = metadataOf(configuration)
    const { force, ...rest } = options
    const { subresource = '', signal } = rest
    const entered = await this.#enter('patch', resource, subresource, namespace, name, signal)
    const writeOptions = { ...writeOptionsOf(rest), ...(force === true ? { force } : {}) }
    const patch = { type: 'apply', body: configuration } as const
    if (subresource === '' || subresource === 'status') {
      const { registry } = entered
      const result = await registry.patch(
        this.#contextOf(rest),
        entered.namespace,
        name,
        subresource,
        patch,
        writeOptions,
      )
      return result.stored.object as T
    }
    const found = this.#subresource(resource, subresource)
    if (found.patch === undefined) throw notAllowed(resource, subresource, 'patch')
    return (await found.patch(this.#contextOf(rest), entered.namespace, name, patch, writeOptions)).value as T
  }

  async delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    const { registry, namespace } = await this.#enter('delete', resource, '', key.namespace, key.name, options.signal)
    const result = await registry.delete(this.#contextOf(options), namespace, key.name, options)
    return result.type === 'status' ? result.status : (result.stored.object as T)
  }

  async deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    list: ListOptions,
    options: DeleteOptions = {},
  ): Promise<void> {
    const { registry } = await this.#enter(
      'deletecollection',
      resource,
      '',
      list.namespace,
      '',
      options.signal,
      list.fieldSelector,
    )
    await registry.deleteCollection(this.#contextOf(options), list, options)
  }

  #contextOf({ because, reconcile }: CauseClaim): RequestContext {
    if (because === undefined && reconcile === undefined) return this.#context
    const claim = { ...(because === undefined ? {} : { because }), ...(reconcile === undefined ? {} : { reconcile }) }
    return { ...this.#context, claim }
  }

  /** What every request begins with: it is not cancelled, the resource is served, and the user may. */
  #enter(...request: EnteringRequest): Entered | Promise<Entered> {
    const [verb, resource] = request
    const caughtUp = readVerbs.has(verb) ? undefined : this.#core.environment.clock.catchUp()
    if (caughtUp !== undefined) return caughtUp.then(() => this.#enter(...request))
    const settled = this.#served(resource) === undefined ? this.#core.kindsSettled() : undefined
    return settled === undefined ? this.#enterNow(...request) : settled.then(() => this.#enterNow(...request))
  }

  #enterNow(...request: EnteringRequest): Entered {
    const [verb, resource, subresource, requestedNamespace, name, signal, fieldSelector = ''] = request
    signal?.throwIfAborted()
    const registry = this.#served(resource)
    const namespace = registry?.definition.namespaced === false ? '' : (requestedNamespace ?? '')
    const attributes = { kind: 'resource', verb, resource, subresource, namespace, name } as const
    this.#core.authorize(
      this.#context.user,
      fieldSelector === '' ? attributes : collectionAttributes(attributes, fieldSelector),
    )
    if (registry === undefined) throw notServed()
    const { namespaced, hasStatus } = registry.definition
    if (subresource === 'status' && !hasStatus) throw notServed()
    // Over HTTP there is no path to an object without these.
    if (namespaced && namespace === '' && name !== '')
      throw badRequest(`no namespace is given for ${resource.plural} "${name}"`)
    if (name === '' && (verb === 'get' || verb === 'update' || verb === 'patch' || verb === 'delete')) {
      throw badRequest('name must be provided')
    }
    return { registry, namespace }
  }

  #served({ group, version, plural }: Resource): Registry | undefined {
    return this.#core.registries.served(group, version, plural)
  }

  #subresource(resource: Resource, name: string): Subresource {
    const found = this.#core.subresource(resource, name)
    if (found === undefined) throw notServed()
    return found
  }
}

function writeOptionsOf({ dryRun, fieldManager, fieldValidation }: WriteOptions): RegistryWriteOptions {
  return {
    dryRun: dryRun ?? false,
    fieldManager: fieldManager ?? '',
    fieldValidation: fieldValidation ?? 'Warn',
  }
}

/** The program behind a user, as upstream's components name themselves when they write. */
function componentOf({ name }: User): string {
  return name.startsWith('system:node:') ? 'kubelet' : (name.split(':').at(-1) ?? name)
}

/** Upstream's controllers have accounts of their own and are one program. */
const isController = ({ name }: User): boolean => name.startsWith('system:serviceaccount:kube-system:')

const notServed = (): ApiError => new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})

function notAllowed({ group, plural }: Resource, subresource: string, verb: string): ApiError {
  return methodNotAllowed({ group, plural: `${plural}/${subresource}` }, verb)
}
