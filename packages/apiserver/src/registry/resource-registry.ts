import {
  ApiError,
  compile,
  hasReason,
  type KubernetesObject,
  type ResourceDefinition,
  type StoredKind,
  staleVersion,
} from '@coracle/api'
import type { DeleteOptions, ListOptions, Patch, WatchOptions } from '@coracle/client'
import { type Environment, nameAlphabet } from '@coracle/environment'
import type { AdmissionAttributes, AdmissionChain } from '../admission/admission.ts'
import type {
  DeleteResult,
  Page,
  Registry,
  RegistryWatch,
  RegistryWriteOptions,
  Stored,
  WatchDelivery,
  WriteResult,
} from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { OrderedWatch } from '../versions/ordered-watch.ts'
import type { VersionView } from '../versions/version-view.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import { type StoredObject, unstored } from '../watch-cache/stored-object.ts'
import { type DecodedBody, decodeBody } from './body.ts'
import { CollectionReader } from './collection-reader.ts'
import { checkPreconditions, deletedStatus, endsDeletion, planDeletion } from './deletion.ts'
import type { KindStorage } from './kind-storage.ts'
import { parseResourceVersion, requestedVersion } from './list-request.ts'
import { checkIdentity, generatedName, generatedSuffixLength, namespaceForCreate } from './object-metadata.ts'
import type { ObjectWriter } from './object-writer.ts'
import { applyPatch, decodePatched } from './patching.ts'
import { type ChangedPart, prepareForCreate, prepareForUpdate } from './preparation.ts'
import { checkVersion, isUnconditional, nameTaken, noUniqueName, uidConflict } from './refusals.ts'
import { sharingSpec, sharingWith } from './structure-sharing.ts'
import { checkCreate, checkUpdate } from './validation.ts'

/** How often a patch, or an update that names no version, is tried again because something else came first. */
export const optimisticAttemptsMax = 32

/** How many names are tried for an object with a generated one. */
export const generatedNameAttemptsMax = 8

/** How many objects of a collection are deleted at a time. */
export const concurrentDeletesMax = 100

export interface RegistryParts {
  readonly storage: KindStorage
  /** The version that is served. */
  readonly view: VersionView
  readonly feed: StoreFeed
  readonly environment: Environment
  readonly admission: AdmissionChain
  readonly registries: { byKind(apiVersion: string, kind: string): unknown }
}

/** A change of an object, computed from its present state. */
export interface Change {
  readonly object: KubernetesObject
  readonly warnings: readonly string[]
  /** False where the change was meant for one version only: if that is gone it is a conflict. */
  readonly repeatable: boolean
}

/**
 * The write path and the read path of one served version of a kind, for built-in and custom kinds alike. Objects come in
 * and go out in that version; in between they are in the form they are stored in, the hub's.
 */
export class ResourceRegistry implements Registry {
  readonly definition: ResourceDefinition
  readonly storage: KindStorage
  readonly #parts: RegistryParts
  readonly #view: VersionView
  readonly #reader: CollectionReader
  readonly #writer: ObjectWriter
  readonly #watches = new Set<RegistryWatch>()
  #closed = false

  constructor(parts: RegistryParts) {
    this.definition = parts.view.definition
    this.storage = parts.storage
    this.#parts = parts
    this.#view = parts.view
    this.#reader = new CollectionReader(parts.storage.cache, parts.feed, parts.view)
    this.#writer = parts.storage.writer
  }

  /** The kind whose version this is. */
  get kind(): StoredKind {
    return this.storage.kind
  }

  /** What this server knows to be stored, without waiting; undefined where there is nothing. */
  peek(namespace: string, name: string): StoredObject | undefined {
    return this.storage.peek(namespace, name)
  }

  /** What is stored now, whichever server wrote it; undefined where there is nothing. */
  async current(namespace: string, name: string): Promise<StoredObject | undefined> {
    await this.#parts.feed.catchUp()
    return this.peek(namespace, name)
  }

  async get(namespace: string, name: string, resourceVersion = ''): Promise<Stored> {
    const { feed } = this.#parts
    await (resourceVersion === '' ? feed.catchUp() : feed.reach(requestedVersion(resourceVersion, false)))
    return this.#view.show(this.storage.existing(namespace, name))
  }

  async list(options: ListOptions): Promise<Page> {
    return this.#view.showPage(await this.#reader.list(options))
  }

  async watch(
    options: WatchOptions,
    onEvent: (delivery: WatchDelivery) => boolean,
    onEnd: () => void,
  ): Promise<RegistryWatch> {
    let watch: RegistryWatch | undefined
    const ended = () => {
      if (watch !== undefined) this.#watches.delete(watch)
      onEnd()
    }
    watch = await this.#begin(options, onEvent, ended)
    this.#watches.add(watch)
    if (this.#closed) watch.close()
    return watch
  }

  /** Ends all watches: this version is not served any more. */
  close(): void {
    this.#closed = true
    for (const watch of [...this.#watches]) watch.close()
  }

  async create(
    context: RequestContext,
    namespace: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const decoded = await this.#decode(body, options)
    await this.#parts.feed.catchUp()
    return this.#create(context, namespace, decoded, options)
  }

  async update(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const decoded = await this.#decode(body, options)
    checkIdentity(this.definition, decoded.object, namespace, name)
    const { metadata } = decoded.object
    if ((await this.current(namespace, name)) === undefined) {
      const { uid = '' } = metadata
      // A uid says that something should be.
      if (uid !== '') throw uidConflict(this.kind, { namespace, name }, uid, '')
      if (subresource === '' && this.kind.rules.createsOnUpdate) {
        return this.#createByUpdate(context, namespace, decoded, options)
      }
    }
    const repeatable = isUnconditional(metadata)
    return this.change(context, namespace, name, partOf(subresource), options, (old) => {
      this.checkVersion(old, metadata)
      return { ...decoded, repeatable }
    })
  }

  async patch(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: string,
    patch: Patch,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    return this.change(context, namespace, name, partOf(subresource), options, async (old) => {
      const shown = await this.#view.show(old)
      const patched = applyPatch(this.definition.schema, shown.object, patch)
      const decoded = await decodePatched(patched, (value) =>
        this.#decode(value, options, shown === old && old.decoded ? old.object : undefined),
      )
      checkIdentity(this.definition, decoded.object, namespace, name)
      // Unless the patch itself names a version, the patched object carries the one it was made from. That it may not
      // change the uid is for validation to say.
      const { resourceVersion } = decoded.object.metadata
      this.checkVersion(old, { resourceVersion })
      return { ...decoded, repeatable: true }
    })
  }

  async delete(
    context: RequestContext,
    namespace: string,
    name: string,
    options: DeleteOptions,
  ): Promise<DeleteResult> {
    const { kind: definition } = this
    const dryRun = options.dryRun === true
    const key = this.storage.cache.keyOf(namespace, name)
    await this.#parts.feed.catchUp()
    for (let attempt = 0; attempt < optimisticAttemptsMax; attempt += 1) {
      const old = this.storage.existing(namespace, name)
      checkPreconditions(definition, old.object.metadata, options.preconditions)
      const attributes = this.#attributes('DELETE', context, '', namespace, name, old.object, dryRun)
      await this.#parts.admission.validate(attributes, undefined)
      const plan = planDeletion(definition, old.object, options, this.#nowMs)
      if (plan.type === 'keep') return { type: 'object', stored: await this.#view.show(old), gone: false }
      if (plan.type === 'mark') {
        const stored = dryRun
          ? unstored(plan.object, old.revision)
          : await this.#writer.put(key, plan.object, old.revision)
        if (stored !== undefined) return { type: 'object', stored: await this.#view.show(stored), gone: false }
      } else {
        const gone = dryRun ? old : await this.#writer.remove(key, old)
        if (gone !== undefined) return this.#deleted(plan.object, gone.revision)
      }
    }
    throw staleVersion(definition, name)
  }

  async deleteCollection(context: RequestContext, list: ListOptions, options: DeleteOptions): Promise<Page> {
    const page = await this.#reader.list(list)
    for (let at = 0; at < page.items.length; at += concurrentDeletesMax) {
      const batch = page.items.slice(at, at + concurrentDeletesMax)
      await Promise.all(batch.map(({ object }) => this.#deleteIfThere(context, object, options)))
    }
    return this.#view.showPage(page)
  }

  /**
   * Changes one object: computes the change from what is there, and again where another write came first, unless the
   * change was meant for one version. Resolves without writing where nothing changes. What subresources are made of.
   */
  async change(
    context: RequestContext,
    namespace: string,
    name: string,
    part: ChangedPart,
    options: RegistryWriteOptions,
    compute: (old: StoredObject) => Change | Promise<Change>,
  ): Promise<WriteResult> {
    const { cache, turns } = this.storage
    const key = cache.keyOf(namespace, name)
    const attempt = () => this.#tryChange(context, namespace, name, part, options, compute)
    await this.#parts.feed.catchUp()
    // Most writes meet no other. Those that do line up, or hundreds at one object would all but never come through.
    const made = turns.isTaken(key) ? undefined : await attempt()
    if (made !== undefined) return made
    return turns.take(key, async () => {
      for (let attempts = 0; attempts < optimisticAttemptsMax; attempts += 1) {
        const result = await attempt()
        if (result !== undefined) return result
      }
      throw staleVersion(this.kind, name)
    })
  }

  /** Undefined where another write came first and the change may be computed anew. */
  async #tryChange(
    context: RequestContext,
    namespace: string,
    name: string,
    part: ChangedPart,
    options: RegistryWriteOptions,
    compute: (old: StoredObject) => Change | Promise<Change>,
  ): Promise<WriteResult | undefined> {
    const { kind: definition } = this
    const { admission } = this.#parts
    const key = this.storage.cache.keyOf(namespace, name)
    const old = this.storage.existing(namespace, name)
    const computed = compute(old)
    const { object: wanted, warnings: given, repeatable } = computed instanceof Promise ? await computed : computed
    const subresource = part === 'status' ? 'status' : ''
    const attributes = this.#attributes('UPDATE', context, subresource, namespace, name, old.object, options.dryRun)
    const admitted = part === 'raw' ? wanted : await this.#admit(attributes, wanted)
    const object = sharingWith(old.object, prepareForUpdate(definition, admitted, old.object, part))
    const ends = endsDeletion(definition, object, old.object)
    if (!ends && object === old.object) return this.#answer(old, false, given)
    if (part !== 'raw') {
      checkUpdate(definition, object, old.object, part, this.definition)
      await admission.validate(attributes, object)
    }
    const warnings = [...given, ...(definition.strategy.warnings?.(object, old.object) ?? [])]
    if (options.dryRun) return this.#answer(unstored(object, old.revision), true, warnings)
    const stored = await (ends ? this.#writer.remove(key, old) : this.#writer.put(key, object, old.revision))
    // Whoever took the last finalizer away sees the object as that left it; watchers see the last state it was stored in.
    if (stored !== undefined) return this.#answer(ends ? unstored(object, stored.revision) : stored, true, warnings)
    if (!repeatable) throw staleVersion(definition, name)
    return undefined
  }

  /** Throws a Conflict where `wanted` names another version than `old`, or another object of its name. */
  checkVersion(
    old: StoredObject,
    wanted: { readonly resourceVersion?: string | undefined; readonly uid?: string | undefined },
  ): void {
    checkVersion(this.kind, old.object, wanted)
  }

  get #nowMs(): number {
    return this.#parts.environment.clock.now()
  }

  async #begin(
    options: WatchOptions,
    onEvent: (delivery: WatchDelivery) => boolean,
    onEnd: () => void,
  ): Promise<RegistryWatch> {
    if (this.#view.isHub) return this.#reader.watch(options, onEvent, onEnd)
    const watch = new OrderedWatch({ show: (delivery) => this.#view.showDelivery(delivery), onEvent, onEnd })
    return watch.attach(await this.#reader.watch(options, watch.take, watch.sourceEnded))
  }

  #answer(stored: Stored, changed: boolean, warnings: readonly string[]): WriteResult | Promise<WriteResult> {
    const shown = this.#view.show(stored)
    return shown instanceof Promise
      ? shown.then((made) => ({ stored: made, changed, warnings }))
      : { stored: shown, changed, warnings }
  }

  /** A body in the form that is stored, with this version's defaults and the hub's. */
  #decode(
    body: unknown,
    { fieldValidation }: RegistryWriteOptions,
    known?: KubernetesObject,
  ): DecodedBody | Promise<DecodedBody> {
    const { registries } = this.#parts
    const knowsKind = (apiVersion: string, kind: string) => registries.byKind(apiVersion, kind) !== undefined
    const decoded = decodeBody(this.definition, body, fieldValidation, knowsKind, known)
    const hub = this.#view.toHub(decoded.object)
    if (hub === decoded.object) return decoded
    return hub instanceof Promise ? hub.then((object) => ({ ...decoded, object })) : { ...decoded, object: hub }
  }

  async #create(
    context: RequestContext,
    requestedNamespace: string,
    decoded: DecodedBody,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const { kind: definition } = this
    const { name: givenName = '', generateName = '', resourceVersion = '' } = decoded.object.metadata
    if (parseResourceVersion(resourceVersion) > 0) {
      throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created')
    }
    const namespace = namespaceForCreate(definition, requestedNamespace, decoded.object)
    const attributes = this.#attributes('CREATE', context, '', namespace, givenName, undefined, options.dryRun)
    const admitted = await this.#admit(attributes, decoded.object)
    const generates = givenName === '' && generateName !== ''
    for (let attempt = 1; ; attempt += 1) {
      const name = generates ? this.#generateName(generateName) : givenName
      const identity = { namespace, name, uid: this.#parts.environment.random.uuid() }
      const prepared = prepareForCreate(definition, admitted, identity, this.#nowMs)
      const object = sharingSpec(this.storage.lastCreated, prepared)
      checkCreate(definition, object, this.definition)
      await this.#parts.admission.validate(attributes, object)
      const stored = await this.#insert(namespace, name, object, options.dryRun)
      if (stored !== undefined) {
        if (!options.dryRun) this.storage.lastCreated = stored.object
        const warnings = [...decoded.warnings, ...(definition.strategy.warnings?.(object, undefined) ?? [])]
        return this.#answer(stored, true, warnings)
      }
      if (!generates) throw nameTaken(definition, name, this.peek(namespace, name)?.object)
      if (attempt === generatedNameAttemptsMax) throw noUniqueName(definition, name)
    }
  }

  /** Stores a new object; undefined where its name is taken. */
  async #insert(
    namespace: string,
    name: string,
    object: KubernetesObject,
    dryRun: boolean,
  ): Promise<WriteResult['stored'] | undefined> {
    const { cache } = this.storage
    const key = cache.keyOf(namespace, name)
    if (cache.get(key) !== undefined) return undefined
    return dryRun ? unstored(object, 0) : this.#writer.put(key, object, 0)
  }

  #generateName(prefix: string): string {
    return generatedName(prefix, this.#parts.environment.random.string(generatedSuffixLength, nameAlphabet))
  }

  /** A PUT where nothing is. */
  async #createByUpdate(
    context: RequestContext,
    namespace: string,
    decoded: DecodedBody,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const { resourceVersion: _resourceVersion, ...metadata } = decoded.object.metadata
    const object = { ...decoded.object, metadata }
    const result = await this.#create(context, namespace, { ...decoded, object }, options)
    return { ...result, created: true }
  }

  /** What admission makes of an object, again in the form that decoding gives: canonical, in the schema's order. */
  async #admit(attributes: AdmissionAttributes, object: KubernetesObject): Promise<KubernetesObject> {
    const admitted = await this.#parts.admission.mutate(attributes, object)
    return admitted === object ? object : compile(this.kind.schema).decode(admitted).value
  }

  #attributes(
    operation: AdmissionAttributes['operation'],
    context: RequestContext,
    subresource: string,
    namespace: string,
    name: string,
    old: KubernetesObject | undefined,
    dryRun: boolean,
  ): AdmissionAttributes {
    return {
      operation,
      context,
      definition: this.kind,
      requested: this.definition,
      subresource,
      namespace,
      name,
      old,
      dryRun,
    }
  }

  async #deleteIfThere(context: RequestContext, object: KubernetesObject, options: DeleteOptions): Promise<void> {
    const { namespace = '', name = '' } = object.metadata
    try {
      await this.delete(context, namespace, name, options)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }

  async #deleted(object: KubernetesObject, revision: number): Promise<DeleteResult> {
    if (!this.kind.rules.returnsDeletedObject) {
      return { type: 'status', status: deletedStatus(this.kind, object) }
    }
    const metadata = { ...object.metadata, resourceVersion: String(revision) }
    return { type: 'object', stored: await this.#view.show(unstored({ ...object, metadata }, revision)), gone: true }
  }
}

const partOf = (subresource: string): 'main' | 'status' => (subresource === 'status' ? 'status' : 'main')
