import { hasReason, type KubernetesObject, type ResourceDefinition, type StoredKind } from '@coracle/api'
import type { DeleteOptions, ListOptions } from '@coracle/client'
import type { Clock } from '@coracle/environment'
import type { AdmissionOperation, AdmittedKind } from '../admission/admission.ts'
import type {
  DeleteResult,
  Page,
  Registry,
  RegistryWatch,
  RegistryWatchOptions,
  RegistryWriteOptions,
  RequestedPatch,
  Stored,
  WatchDelivery,
  WriteResult,
} from '../registry-contract.ts'
import type { RequestContext } from '../request.ts'
import { OrderedWatch } from '../versions/ordered-watch.ts'
import type { ShownView } from '../versions/shown-view.ts'
import type { VersionView } from '../versions/version-view.ts'
import type { StoredObject } from '../watch-cache/stored-object.ts'
import { type Configuration, readConfiguration } from './apply-configuration.ts'
import { type ChangedPart, mainPart, statusPart } from './changed-part.ts'
import { CollectionReader } from './collection-reader.ts'
import { concernsManagedFields } from './field-ownership.ts'
import type { KindStorage } from './kind-storage.ts'
import { requestedVersion } from './list-request.ts'
import { applyObject } from './object-apply.ts'
import { type Change, changeObject } from './object-change.ts'
import { createObject } from './object-creation.ts'
import { deleteObject } from './object-deletion.ts'
import { checkIdentity } from './object-metadata.ts'
import { applyPatch, decodePatched } from './patching.ts'
import { checkVersion, isUnconditional, uidConflict } from './refusals.ts'
import { type RegistryParts, warning } from './registry-parts.ts'
import { decodeRequested, type RequestedBody, withOwnersOnce } from './requested-body.ts'
import { WriteAdmission } from './write-admission.ts'

/** How many objects of a collection are deleted at a time. */
export const concurrentDeletesMax = 100

/** A request to an object that does not write it: something POSTed to one of its subresources, or a connection to it. */
export interface PostedObject {
  readonly operation: Extract<AdmissionOperation, 'CREATE' | 'CONNECT'>
  /** The subresource of the object; '' where `posted` is the resource in the path. */
  readonly subresource: string
  /** The resource that it is posted to, where that is not the resource of the object. */
  readonly posted?: ResourceDefinition
  /** The kind of what is posted, or of the options of a connection. Absent: the kind of the resource. */
  readonly kind?: AdmittedKind
  readonly object: KubernetesObject
  readonly options: RegistryWriteOptions
  /** Throws where the object is not valid, after admission may have changed it. */
  check?(object: KubernetesObject): void
  /** Completes the object, after admission may have changed it and before it is checked. */
  complete?(object: KubernetesObject): Promise<KubernetesObject>
}

/**
 * The write path and the read path of one served version of a kind, built-in or custom. Objects come in and go out in
 * that version; in between they have the version they are stored in, the hub's.
 */
export class ResourceRegistry implements Registry {
  readonly definition: ResourceDefinition
  readonly storage: KindStorage
  readonly #parts: RegistryParts
  readonly #view: VersionView
  readonly #reader: CollectionReader
  readonly #watches = new Set<RegistryWatch>()
  #closed = false

  constructor(parts: RegistryParts) {
    this.definition = parts.view.definition
    this.storage = parts.storage
    this.#parts = parts
    this.#view = parts.view
    this.#reader = new CollectionReader(parts.storage.cache, parts.feed, parts.view)
  }

  /** The kind whose version this is. */
  get kind(): StoredKind {
    return this.storage.kind
  }

  /** The clock of the server. */
  get clock(): Clock {
    return this.#parts.environment.clock
  }

  /** What this version shows of what is stored. */
  async show(stored: Stored): Promise<Stored> {
    return this.#view.show(stored)
  }

  /** What this version shows of an object in the hub's form. */
  async fromHub(object: KubernetesObject): Promise<KubernetesObject> {
    return this.#view.fromHub(object)
  }

  /** The hub's form of an object of this version. */
  async toHub(object: KubernetesObject): Promise<KubernetesObject> {
    return this.#view.toHub(object)
  }

  /** The object as this server's cache has it, without waiting; undefined where there is none. Of a value that cannot be read, the object before it. */
  peek(namespace: string, name: string): StoredObject | undefined {
    return this.storage.peek(namespace, name)
  }

  /** The object as it is stored now, whichever server wrote it; undefined where there is none. Rejects where it cannot be read. */
  async current(namespace: string, name: string): Promise<StoredObject | undefined> {
    await this.#parts.feed.catchUp()
    this.storage.checkReadable(namespace, name)
    return this.peek(namespace, name)
  }

  async get(namespace: string, name: string, resourceVersion = ''): Promise<Stored> {
    const { feed } = this.#parts
    await (resourceVersion === '' ? feed.catchUp() : feed.reach(requestedVersion(resourceVersion), resourceVersion))
    return this.#view.show(this.storage.existing(namespace, name))
  }

  async list(options: ListOptions): Promise<Page> {
    return this.#view.showPage(await this.#reader.list(options))
  }

  async watch(
    options: RegistryWatchOptions,
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
    const given = decodeRequested(this.#parts, body, options)
    const decoded = withOwnersOnce(given instanceof Promise ? await given : given)
    const caughtUp = this.#parts.feed.catchUp()
    if (caughtUp !== undefined) await caughtUp
    return await createObject(this.#parts, { context, namespace, body: decoded, options })
  }

  async update(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const known = this.#decodedBefore(namespace, name)
    const decoded = withOwnersOnce(await decodeRequested(this.#parts, body, options, known))
    const updated = this.#updateTo(decoded, context, namespace, name, subresource, options)
    return decoded.warnings.length === 0 ? updated : warning(decoded.warnings, updated)
  }

  async #updateTo(
    decoded: RequestedBody,
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: string,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    checkIdentity(this.definition, decoded.object, namespace, name)
    const { metadata } = decoded.object
    if ((await this.current(namespace, name)) === undefined) {
      const { uid = '' } = metadata
      // A uid in the body says that the object should exist.
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
    patch: RequestedPatch,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    if (patch.type === 'apply') {
      const configuration = readConfiguration(this.definition, patch.body, options)
      return this.apply(context, namespace, name, partOf(subresource), configuration, options)
    }
    return this.change(context, namespace, name, partOf(subresource), options, async (old) => {
      const shown = await this.#view.show(old)
      const base = concernsManagedFields(patch.body) ? shown.withManagedFields : shown.object
      const patched = applyPatch(this.definition.schema, base, patch)
      const decoded = await decodePatched(this.clock, patched, patch, (value) =>
        decodeRequested(this.#parts, value, options, shown === old && old.decoded ? old.object : undefined),
      )
      checkIdentity(this.definition, decoded.object, namespace, name)
      // Unless the patch sets a resourceVersion, the patched object has the one it was made from. A changed uid is refused by validation.
      const { resourceVersion } = decoded.object.metadata
      this.checkVersion(old, { resourceVersion })
      return { ...decoded, repeatable: true, isPatch: true }
    })
  }

  /** Server-side apply of a configuration through one part of the object. Subresources use it, too. */
  async apply(
    context: RequestContext,
    namespace: string,
    name: string,
    part: ChangedPart,
    configuration: Configuration,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    return applyObject(this.#parts, { context, namespace, name, part, configuration, options })
  }

  async delete(
    context: RequestContext,
    namespace: string,
    name: string,
    options: DeleteOptions,
  ): Promise<DeleteResult> {
    this.#warnOfDependents(context, options)
    return deleteObject(this.#parts, context, namespace, name, options)
  }

  #warnOfDependents({ warn }: RequestContext, { propagationPolicy }: DeleteOptions): void {
    const { dependentsWarning } = this.kind.rules
    if (dependentsWarning !== undefined && propagationPolicy === undefined) warn?.(dependentsWarning)
  }

  async deleteCollection(context: RequestContext, list: ListOptions, options: DeleteOptions): Promise<Page> {
    this.#warnOfDependents(context, options)
    const page = await this.#reader.list(list)
    // Made before anything is deleted: nothing is, where the answer cannot be.
    const shown = await this.#view.showPage(page)
    for (let at = 0; at < page.items.length; at += concurrentDeletesMax) {
      const batch = page.items.slice(at, at + concurrentDeletesMax)
      await Promise.all(batch.map(({ object }) => this.#deleteIfThere(context, object, options)))
    }
    return shown
  }

  /**
   * Changes one object: computes the change from the stored object, and again where another write came first, unless the
   * change was meant for one version. Resolves without writing where nothing changes. Subresources use it, too.
   */
  async change(
    context: RequestContext,
    namespace: string,
    name: string,
    part: ChangedPart,
    options: RegistryWriteOptions,
    compute: (old: StoredObject) => Change | Promise<Change>,
  ): Promise<WriteResult> {
    return changeObject(this.#parts, { context, namespace, name, part, options, compute })
  }

  /** The posted object as admission leaves it. Throws where admission, or `check`, refuses it. */
  async admitPosted(
    context: RequestContext,
    namespace: string,
    name: string,
    { operation, subresource, posted, kind, object, options, check, complete }: PostedObject,
  ): Promise<KubernetesObject> {
    const request = { operation, context, subresource, posted, kind, namespace, name, old: undefined, options }
    const admission = new WriteAdmission(this.#parts, request)
    const mutated = await admission.admit(object)
    const admitted = complete === undefined ? mutated : await complete(mutated)
    check?.(admitted)
    await admission.judge(admitted)
    return admitted
  }

  /** Throws a Conflict where `wanted` names another version than `old`, or another object of its name. */
  checkVersion(
    old: StoredObject,
    wanted: { readonly resourceVersion?: string | undefined; readonly uid?: string | undefined },
  ): void {
    checkVersion(this.kind, old.object, wanted)
  }

  async #begin(
    options: RegistryWatchOptions,
    onEvent: (delivery: WatchDelivery) => boolean,
    onEnd: () => void,
  ): Promise<RegistryWatch> {
    if (this.#view.isHub) return this.#reader.watch(options, onEvent, onEnd)
    const shown = await this.#reader.shownView(options)
    const watch = new OrderedWatch({
      show: (delivery) => this.#view.showDelivery(delivery),
      onEvent: shown === undefined ? onEvent : selectedBy(shown.view, onEvent),
      onEnd,
    })
    return watch.attach(await this.#reader.watch(shown?.options ?? options, watch.take, watch.sourceEnded))
  }

  /** A PUT of an object that does not exist. */
  async #createByUpdate(
    context: RequestContext,
    namespace: string,
    decoded: RequestedBody,
    options: RegistryWriteOptions,
  ): Promise<WriteResult> {
    const { resourceVersion: _resourceVersion, ...metadata } = decoded.object.metadata
    const object = { ...decoded.object, metadata }
    const body = { ...decoded, object }
    const result = await createObject(this.#parts, { context, namespace, body, options, implied: true })
    return { ...result, created: true }
  }

  /**
   * The object as it was decoded when it was written, in the version of this registry. Clients in process send most of it
   * back by reference: those values need not be decoded again.
   */
  #decodedBefore(namespace: string, name: string): KubernetesObject | undefined {
    const { view, storage } = this.#parts
    const stored = view.isHub ? storage.peek(namespace, name) : undefined
    return stored?.decoded === true ? stored.object : undefined
  }

  async #deleteIfThere(context: RequestContext, object: KubernetesObject, options: DeleteOptions): Promise<void> {
    const { namespace = '', name = '' } = object.metadata
    try {
      await deleteObject(this.#parts, context, namespace, name, options, true)
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
  }
}

/** Passes on only events of objects that the view selects. */
function selectedBy(view: ShownView, onEvent: (delivery: WatchDelivery) => boolean): typeof onEvent {
  return (delivery) => {
    const selected = view.take(delivery)
    return selected === undefined || onEvent(selected)
  }
}

const partOf = (subresource: string): ChangedPart => (subresource === 'status' ? statusPart : mainPart)
