import {
  alreadyExists,
  apiVersionOf,
  applyStrategicMergePatch,
  badRequest,
  builtinKinds,
  conflict,
  deepEqual,
  deepFreeze,
  expired,
  formatTime,
  type KubernetesList,
  type KubernetesObject,
  methodNotAllowed,
  notFound,
  type ObjectMeta,
  type Resource,
  type Status,
  staleVersion,
} from '@coracle/api'
import { type Environment, nameAlphabet } from '@coracle/environment'
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
  type Watch,
  type WatchOptions,
  type WriteOptions,
} from '../client.ts'
import { keyOf, keyText } from '../object-key.ts'
import { scopeMatcher } from '../scope.ts'
import { appliedTo, writtenTo } from './fake-owners.ts'
import { type Change, FakeWatch } from './fake-watch.ts'
import { mergePatch } from './merge-patch.ts'

/** One request as `FakeClient.calls` records it. */
export interface FakeCall {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deletecollection'
  readonly plural: string
  readonly key: string
  readonly subresource?: string
}

/** An API in memory for tests of what stands on a `Client`, with faults at the test's command. */
export interface FakeClient extends Client {
  /** Every request, in order. */
  readonly calls: readonly FakeCall[]
  /** Runs before every request; what it throws is the answer. Returns a function that removes it. */
  intercept(check: (call: FakeCall) => void | Promise<void>): () => void
  /** Watches deliver nothing until `releaseWatches`, while writes go on. Without resources: all. */
  holdWatches(...resources: readonly Resource[]): void
  releaseWatches(): void
  /** Ends every watch as a lost connection does. */
  dropWatches(): void
  /** Sends every watch a bookmark at the present version. */
  sendBookmarks(): void
  /** Forgets history: watches from an older version get 410 Expired. */
  compact(): void
  /** The stored objects of a resource. */
  stored<T extends KubernetesObject>(resource: Resource<T>): readonly T[]
}

interface Collection {
  readonly objects: Map<string, KubernetesObject>
  readonly changes: Change[]
  readonly watches: Set<FakeWatch>
}

/**
 * A client onto an empty API in memory. It keeps what informers and controllers rely on: versions, identities,
 * generations, conflicts, status as a subresource, finalizers, selectors, pages, watches with history and bookmarks.
 * It has no defaults and validates nothing. Patches are merge patches, and for built-in kinds strategic ones. Server-side apply keeps the
 * owners of fields, from the first apply of an object on; of kinds that are not built in a list belongs to one manager.
 */
export function createFakeClient(environment: Environment): FakeClient {
  return new InMemoryClient(environment)
}

class InMemoryClient implements FakeClient {
  readonly calls: FakeCall[] = []
  readonly #environment: Environment
  readonly #collections = new Map<string, Collection>()
  readonly #checks = new Set<(call: FakeCall) => void | Promise<void>>()
  #version = 0
  #compactedTo = 0
  #isHeld: (resource: Resource) => boolean = () => false

  constructor(environment: Environment) {
    this.#environment = environment
  }

  intercept(check: (call: FakeCall) => void | Promise<void>): () => void {
    this.#checks.add(check)
    return () => this.#checks.delete(check)
  }

  holdWatches(...resources: readonly Resource[]): void {
    this.#isHeld = (resource) => resources.length === 0 || resources.some((held) => held.plural === resource.plural)
    for (const watch of this.#watches()) watch.hold(this.#isHeld(watch.resource))
  }

  releaseWatches(): void {
    this.#isHeld = () => false
    for (const watch of this.#watches()) watch.hold(false)
  }

  dropWatches(): void {
    for (const watch of this.#watches()) watch.close()
  }

  sendBookmarks(): void {
    for (const watch of this.#watches()) watch.bookmark(String(this.#version))
  }

  compact(): void {
    this.#compactedTo = this.#version
  }

  stored<T extends KubernetesObject>(resource: Resource<T>): readonly T[] {
    return [...this.#collection(resource).objects.values()] as unknown as readonly T[]
  }

  async get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, options: GetOptions = {}): Promise<T> {
    await this.#check({ verb: 'get', plural: resource.plural, key: keyText(key.namespace, key.name) }, options.signal)
    return this.#require(resource, keyText(key.namespace, key.name)) as unknown as T
  }

  async list<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}): Promise<KubernetesList<T>> {
    await this.#check({ verb: 'list', plural: resource.plural, key: options.namespace ?? '' }, options.signal)
    const matches = scopeMatcher(options)
    const sorted = [...this.#collection(resource).objects.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    const from = Number(options.continue ?? 0)
    const selected = sorted.filter(matches)
    const items = selected.slice(from, from + (options.limit ?? selected.length)) as unknown as readonly T[]
    const isLast = from + items.length >= selected.length
    return deepFreeze({
      apiVersion: apiVersionOf(resource),
      kind: `${resource.kind}List`,
      metadata: {
        resourceVersion: String(this.#version),
        ...(isLast ? {} : { continue: String(from + items.length) }),
      },
      items,
    })
  }

  async watch<T extends KubernetesObject>(resource: Resource<T>, options: WatchOptions = {}): Promise<Watch<T>> {
    await this.#check({ verb: 'watch', plural: resource.plural, key: options.namespace ?? '' }, options.signal)
    const collection = this.#collection(resource)
    const from = Number(options.resourceVersion ?? 0)
    if (from !== 0 && from < this.#compactedTo)
      throw expired(`too old resource version: ${from} (${this.#compactedTo})`)
    const past: readonly Change[] =
      from === 0
        ? [...collection.objects.values()].map((object) => ({ object, old: undefined, isDeleted: false }))
        : collection.changes.filter((change) => Number(change.object.metadata.resourceVersion) > from)
    const watch = new FakeWatch(resource, scopeMatcher(options), () => collection.watches.delete(watch))
    watch.hold(this.#isHeld(resource))
    for (const change of past) watch.push(change)
    collection.watches.add(watch)
    options.signal?.addEventListener('abort', () => watch.close(), { once: true })
    return watch as unknown as Watch<T>
  }

  async create<T extends KubernetesObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const generated = object.metadata.generateName
    const suffix = () => this.#environment.random.string(5, nameAlphabet)
    const name = object.metadata.name ?? (generated === undefined ? '' : `${generated}${suffix()}`)
    if (name === '') throw badRequest('name or generateName is required')
    const key = keyText(object.metadata.namespace, name)
    await this.#check({ verb: 'create', plural: resource.plural, key }, options.signal)
    const { objects } = this.#collection(resource)
    if (objects.has(key)) throw alreadyExists(resource, name)
    const named = { ...object, metadata: { ...object.metadata, name } }
    return this.#create(resource, named, options) as unknown as T
  }

  async update<T extends KubernetesObject>(resource: Resource<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const key = keyOf(object)
    await this.#check({ verb: 'update', plural: resource.plural, key, ...subresourceOf(options) }, options.signal)
    return this.#change(resource, key, object, options) as unknown as T
  }

  async patch<T extends KubernetesObject>(
    resource: Resource<T>,
    { namespace, name }: ObjectKey,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const key = keyText(namespace, name)
    await this.#check({ verb: 'patch', plural: resource.plural, key, ...subresourceOf(options) }, options.signal)
    const patched = applyPatch(resource, this.#require(resource, key), patch)
    return this.#change(resource, key, patched, options) as unknown as T
  }

  async apply<T extends KubernetesObject>(
    resource: Resource<T>,
    configuration: ApplyConfiguration<T>,
    options: ApplyOptions,
  ): Promise<T> {
    const { namespace, name = '' } = metadataOf(configuration)
    if (name === '') throw badRequest('metadata.name is required')
    if (options.fieldManager === '') throw badRequest('an apply needs the name of its field manager')
    const key = keyText(namespace, name)
    await this.#check({ verb: 'apply', plural: resource.plural, key, ...subresourceOf(options) }, options.signal)
    const live = this.#collection(resource).objects.get(key)
    if (live === undefined && options.subresource !== undefined) throw notFound(resource, name)
    const applied = appliedTo(resource, live, configuration, options, this.#now())
    if (live === undefined) return this.#create(resource, applied, options) as unknown as T
    checkSameObject(resource, live, applied.metadata)
    const changed = withManagedFields(changedPart(live, applied, options), applied)
    return this.#keep(resource, live, changed, options) as unknown as T
  }

  async delete<T extends KubernetesObject>(
    resource: Resource<T>,
    { namespace, name }: ObjectKey,
    options: DeleteOptions = {},
  ): Promise<T | Status> {
    const key = keyText(namespace, name)
    await this.#check({ verb: 'delete', plural: resource.plural, key }, options.signal)
    return this.#delete(resource, key, options) as unknown as T | Status
  }

  async deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    list: ListOptions,
    options: DeleteOptions = {},
  ): Promise<void> {
    await this.#check({ verb: 'deletecollection', plural: resource.plural, key: list.namespace ?? '' }, list.signal)
    const selected = this.stored(resource as Resource).filter(scopeMatcher(list))
    for (const object of selected) this.#delete(resource, keyOf(object), options)
  }

  async createSubresource(resource: Resource, _key: ObjectKey, subresource: string): Promise<unknown> {
    throw methodNotAllowed(resource, `create ${subresource}`)
  }

  async stream(resource: Resource, _key: ObjectKey, subresource: string): Promise<AsyncIterable<Uint8Array>> {
    throw methodNotAllowed(resource, `get ${subresource}`)
  }

  /** Requests take a turn of the microtask queue, as real ones take at least that. */
  async #check(call: FakeCall, signal: AbortSignal | undefined): Promise<void> {
    this.calls.push(call)
    await Promise.resolve()
    signal?.throwIfAborted()
    for (const check of this.#checks) await check(call)
    signal?.throwIfAborted()
  }

  #now(): string {
    return formatTime(this.#environment.clock.now())
  }

  #create(resource: Resource, object: KubernetesObject, { dryRun }: Pick<WriteOptions, 'dryRun'>): KubernetesObject {
    const created = {
      ...object,
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      metadata: {
        ...object.metadata,
        uid: this.#environment.random.uuid(),
        generation: 1,
        creationTimestamp: this.#now(),
      },
    }
    return dryRun ? created : this.#store(resource, created)
  }

  #change(resource: Resource, key: string, wanted: KubernetesObject, options: WriteOptions): KubernetesObject {
    const old = this.#require(resource, key)
    checkSameObject(resource, old, wanted.metadata)
    const changed = changedPart(old, wanted, options)
    return this.#keep(resource, old, writtenTo(resource, old, changed, options, this.#now()), options)
  }

  /** Stores what `old` has become, or removes it where nothing holds it any more. */
  #keep(
    resource: Resource,
    old: KubernetesObject,
    changed: KubernetesObject,
    { dryRun }: WriteOptions,
  ): KubernetesObject {
    if (deepEqual(changed, old)) return old
    if (dryRun) return changed
    const key = keyOf(old)
    const isGone = changed.metadata.deletionTimestamp !== undefined && (changed.metadata.finalizers ?? []).length === 0
    return isGone ? this.#remove(resource, key, changed) : this.#store(resource, changed)
  }

  #delete(resource: Resource, key: string, options: DeleteOptions): KubernetesObject | Status {
    const old = this.#require(resource, key)
    const { uid, resourceVersion } = options.preconditions ?? {}
    if (uid !== undefined && uid !== old.metadata.uid) {
      throw conflict(
        resource,
        old.metadata.name ?? '',
        `the UID in the precondition (${uid}) does not match the UID in record (${old.metadata.uid}).`,
      )
    }
    if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
      throw staleVersion(resource, old.metadata.name ?? '')
    if (options.dryRun) return old
    if ((old.metadata.finalizers ?? []).length > 0) {
      if (old.metadata.deletionTimestamp !== undefined) return old
      const deletionTimestamp = this.#now()
      return this.#store(resource, {
        ...old,
        metadata: { ...old.metadata, deletionTimestamp, deletionGracePeriodSeconds: 0 },
      })
    }
    this.#remove(resource, key, old)
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 200,
      details: { name: old.metadata.name ?? '', kind: resource.plural, uid: old.metadata.uid ?? '' },
    }
  }

  #store(resource: Resource, object: KubernetesObject): KubernetesObject {
    const collection = this.#collection(resource)
    const key = keyOf(object)
    const stored = this.#stamp(object)
    const old = collection.objects.get(key)
    collection.objects.set(key, stored)
    publish(collection, { object: stored, old, isDeleted: false })
    return stored
  }

  #remove(resource: Resource, key: string, object: KubernetesObject): KubernetesObject {
    const collection = this.#collection(resource)
    const last = this.#stamp(object)
    const old = collection.objects.get(key)
    collection.objects.delete(key)
    publish(collection, { object: last, old, isDeleted: true })
    return last
  }

  #stamp(object: KubernetesObject): KubernetesObject {
    const resourceVersion = String(++this.#version)
    return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion } })
  }

  #require(resource: Resource, key: string): KubernetesObject {
    const object = this.#collection(resource).objects.get(key)
    if (object === undefined) throw notFound(resource, key.slice(key.indexOf('/') + 1))
    return object
  }

  #collection(resource: Resource): Collection {
    const name = `${apiVersionOf(resource)}/${resource.plural}`
    let collection = this.#collections.get(name)
    if (collection === undefined) {
      collection = { objects: new Map(), changes: [], watches: new Set() }
      this.#collections.set(name, collection)
    }
    return collection
  }

  #watches(): readonly FakeWatch[] {
    return [...this.#collections.values()].flatMap((collection) => [...collection.watches])
  }
}

function publish(collection: Collection, change: Change): void {
  collection.changes.push(change)
  for (const watch of collection.watches) watch.push(change)
}

const subresourceOf = ({ subresource }: WriteOptions) => (subresource === undefined ? {} : { subresource })

type WithStatus = KubernetesObject & { readonly status?: unknown; readonly spec?: unknown }

/** Refuses a write that was meant for another version of the object, or another object of that name. */
function checkSameObject(
  resource: Resource,
  old: KubernetesObject,
  { name = '', resourceVersion, uid }: ObjectMeta,
): void {
  if (resourceVersion !== undefined && resourceVersion !== old.metadata.resourceVersion)
    throw staleVersion(resource, name)
  if (uid !== undefined && uid !== old.metadata.uid)
    throw conflict(resource, name, 'Precondition failed: UID in precondition')
}

/** What a write changes, which goes through one part of the object. */
const changedPart = (
  old: KubernetesObject,
  wanted: KubernetesObject,
  { subresource }: WriteOptions,
): KubernetesObject => (subresource === 'status' ? withStatus(old, wanted) : withoutStatus(old, wanted))

function withManagedFields(
  object: KubernetesObject,
  { metadata: { managedFields } }: KubernetesObject,
): KubernetesObject {
  return managedFields === undefined ? object : { ...object, metadata: { ...object.metadata, managedFields } }
}

/** A write through `status` changes the status, annotations and finalizers. */
function withStatus(old: WithStatus, wanted: WithStatus): KubernetesObject {
  const { annotations, finalizers } = wanted.metadata
  return { ...old, metadata: { ...old.metadata, annotations, finalizers }, status: wanted.status } as KubernetesObject
}

/** A plain write leaves the status as it is, and counts a generation when the spec changes. */
function withoutStatus(old: WithStatus, wanted: WithStatus): KubernetesObject {
  const { uid, creationTimestamp, deletionTimestamp, generation = 1, resourceVersion } = old.metadata
  const { status: _ignored, ...rest } = wanted
  const kept = {
    ...wanted.metadata,
    uid,
    creationTimestamp,
    resourceVersion,
    generation: deepEqual(old.spec, wanted.spec) ? generation : generation + 1,
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  }
  return { ...rest, metadata: kept, ...(old.status === undefined ? {} : { status: old.status }) } as KubernetesObject
}

function applyPatch(resource: Resource, object: KubernetesObject, patch: Patch): KubernetesObject {
  if (patch.type === 'merge') return mergePatch(object, patch.body) as KubernetesObject
  const kind = builtinKinds.find(({ plural, group }) => plural === resource.plural && group === resource.group)
  if (patch.type !== 'strategic' || kind === undefined)
    throw badRequest(`the fake client applies no ${patch.type} patches to ${resource.plural}`)
  return applyStrategicMergePatch(kind.schema, object, patch.body) as KubernetesObject
}
