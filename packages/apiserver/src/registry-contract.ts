import type { FieldOwners, FieldValidation, KubernetesObject, ResourceDefinition, Status } from '@coracle/api'
import type { DeleteOptions, ListOptions, Patch, WatchEvent, WatchOptions } from '@coracle/client'
import type { RequestContext } from './request.ts'

/** An object as the server holds it: frozen, with its JSON made once. */
export interface Stored<T extends KubernetesObject = KubernetesObject> {
  /** Without managedFields, which few want and which take as much as the rest: callers in process see it like this. */
  readonly object: T
  readonly revision: number
  /** Who owns which of its fields. */
  readonly owners: FieldOwners
  /** The object as clients over HTTP see it, made on each call. */
  readonly withManagedFields: T
  /** The JSON of the object with managedFields in UTF-8, without a trailing newline. Made at the first read and kept. */
  readonly bytes: Buffer
}

export interface WriteResult {
  readonly stored: Stored
  /** False where an update or patch changed nothing: nothing was written and the revision is the old one. */
  readonly changed: boolean
  /** True where an update made the object because there was none: answered with 201. */
  readonly created?: boolean
  /** Texts for `Warning` headers. */
  readonly warnings: readonly string[]
}

export interface RegistryWriteOptions {
  readonly dryRun: boolean
  /** Who writes, for the ownership of fields. Empty: the first part of the user agent. */
  readonly fieldManager: string
  /** An apply takes over what others own. */
  readonly force?: boolean
  readonly fieldValidation: FieldValidation
}

/** A page of a list: what `bytes` of each item concatenate to. */
export interface Page {
  readonly items: readonly Stored[]
  /** The revision the page is consistent at, for `metadata.resourceVersion`. */
  readonly revision: number
  readonly continue: string
  /** Undefined where it is not known (a selector is in force) or nothing remains. */
  readonly remainingItemCount: number | undefined
}

/** An event with its bytes, so that each is serialized once however many watch. */
export interface WatchDelivery {
  readonly event: WatchEvent<KubernetesObject>
  /** The stored object behind an ADDED, MODIFIED or DELETED event; a table or metadata rendering reads it. */
  readonly stored?: Stored
  /** One line of the watch stream: `{"type":…,"object":…}` and a newline. Made at most once per event. */
  readonly bytes: Buffer
}

export interface RegistryWatchOptions extends WatchOptions {
  /**
   * A reader that loses nothing while its watch goes on needs no bookmarks but one, with which the watch ends that the server closes. In
   * place of those that come each minute.
   */
  readonly bookmarksOnlyEnd?: boolean
}

export interface RegistryWatch {
  close(): void
  /**
   * Holds deliveries back until `resume`, for a reader whose connection is full. What the watch begins with may wait
   * without limit; of what happens meanwhile `heldDeliveriesMax` are held, then the watch ends.
   */
  pause(): void
  resume(): void
}

/** A patch as a request has it. */
export interface RequestedPatch extends Patch {
  /** What is said of fields that occur twice in it, or that a JSON patch does not have, where that is an error. */
  readonly duplicates?: readonly string[]
  /** Whether numbers in it are kept as they are written, for nobody knew yet of which fields they are. */
  readonly hasWrittenNumbers?: boolean
}

/**
 * One collection of the API: the write path and the read path of one kind. Authentication and authorization have
 * happened; decoding has not: bodies are parsed JSON values.
 */
export interface Registry<T extends KubernetesObject = KubernetesObject> {
  readonly definition: ResourceDefinition<T>
  /**
   * Consistent: sees every write acknowledged before it began. Where the caller has seen a `resourceVersion`, waits a
   * moment for it, and rejects with a Timeout (504) where it does not come. Rejects with NotFound.
   */
  get(namespace: string, name: string, resourceVersion?: string): Promise<Stored<T>>
  list(options: ListOptions): Promise<Page>
  /**
   * Delivers to `onEvent` in order, never from within the call. The watch ends by `onEnd`: after an ERROR event, at its
   * timeout, when the server closes, or when `close` is called. A callee that returns false is too slow: the watch ends.
   */
  watch(
    options: RegistryWatchOptions,
    onEvent: (delivery: WatchDelivery) => boolean,
    onEnd: () => void,
  ): Promise<RegistryWatch>
  create(context: RequestContext, namespace: string, body: unknown, options: RegistryWriteOptions): Promise<WriteResult>
  /** `subresource` is '' or `status`. */
  update(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: string,
    body: unknown,
    options: RegistryWriteOptions,
  ): Promise<WriteResult>
  patch(
    context: RequestContext,
    namespace: string,
    name: string,
    subresource: string,
    patch: RequestedPatch,
    options: RegistryWriteOptions,
  ): Promise<WriteResult>
  delete(context: RequestContext, namespace: string, name: string, options: DeleteOptions): Promise<DeleteResult>
  deleteCollection(context: RequestContext, list: ListOptions, options: DeleteOptions): Promise<Page>
}

/** The object where it stays for now (a finalizer or a grace period holds it) or what it was; else a Success status. */
export type DeleteResult =
  | { readonly type: 'object'; readonly stored: Stored; readonly gone: boolean }
  | { readonly type: 'status'; readonly status: Status }
