import type {
  CauseClaim,
  FieldValidation,
  KubernetesList,
  KubernetesObject,
  ObjectMeta,
  Resource,
  Status,
} from '@coracle/api'

/** Part of an object: what somebody wants it to have, in one version of its kind. */
export type ApplyConfiguration<T extends KubernetesObject> = Pick<T, 'apiVersion' | 'kind'> & {
  readonly [K in Exclude<keyof T, 'apiVersion' | 'kind'>]?: PartOf<T[K]>
}

type PartOf<T> = T extends readonly (infer E)[]
  ? readonly PartOf<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: PartOf<T[K]> }
    : T

/** What a configuration says of the object it is for. */
export function metadataOf(configuration: unknown): Pick<ObjectMeta, 'name' | 'namespace'> {
  return (configuration as Partial<KubernetesObject>).metadata ?? {}
}

/** Which object: its name, and its namespace where the kind has namespaces. */
export interface ObjectKey {
  readonly namespace?: string
  readonly name: string
}

/** Why something is written goes into the causal record with it: in process, or as the header that `causeHeaderOf` makes. */
export interface WriteOptions extends CauseClaim {
  /** `All`: everything is checked and nothing stored. */
  readonly dryRun?: boolean
  /** Who writes, for field ownership. */
  readonly fieldManager?: string
  /** What happens to fields the schema does not know. The server's default is Warn. */
  readonly fieldValidation?: FieldValidation
  /** Writes through a subresource, such as `status`, `scale` or `binding`. */
  readonly subresource?: string
  readonly signal?: AbortSignal
}

export interface ApplyOptions extends Omit<WriteOptions, 'fieldManager'> {
  /** Who applies: what it applied before and leaves out now goes. */
  readonly fieldManager: string
  /** Takes over what others own instead of being refused. */
  readonly force?: boolean
}

export interface GetOptions {
  readonly subresource?: string
  readonly resourceVersion?: string
  readonly signal?: AbortSignal
}

export interface ListOptions {
  /** Absent: every namespace. */
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact'
  readonly signal?: AbortSignal
}

export interface WatchOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Events after this version. Absent or `0`: the present state first, as ADDED events. */
  readonly resourceVersion?: string
  readonly allowWatchBookmarks?: boolean
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
  readonly signal?: AbortSignal
}

export interface DeleteOptions extends CauseClaim {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan'
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
}

/** `apply` is server-side apply, see Client.apply. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

/** A patch: a list of operations for `json`, a partial object for the others. */
export interface Patch {
  readonly type: PatchType
  readonly body: unknown
}

/**
 * What a watch delivers. A bookmark's object has only `metadata.resourceVersion` to rely on. An error is the last
 * event; reason `Expired` (410) means: list again and watch from there.
 */
export type WatchEvent<T extends KubernetesObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly object: KubernetesObject }
  | { readonly type: 'ERROR'; readonly object: Status }

/**
 * A watch under way: iterate it once. It ends when the server ends it, or after `close()`. Events
 * that nobody has taken are held up to a limit; a watch whose reader falls further behind ends with an error.
 */
export interface Watch<T extends KubernetesObject> extends AsyncIterable<WatchEvent<T>> {
  /** The same events, to be iterated instead: all there are at a time. Absent where they come one by one. */
  batches?(): AsyncIterable<readonly WatchEvent<T>[]>
  close(): void
}

/**
 * The API, over HTTP or in process: callers cannot tell which. Every method rejects with an `ApiError` carrying the
 * server's Status. Objects that come back are frozen: never change one, make another that shares what stays the same.
 */
export interface Client {
  /** Whether requests for a resource stay in this process, where no connection dies unnoticed. Absent: they do not. */
  staysInProcess?(resource: Resource): boolean
  get<T extends KubernetesObject>(resource: Resource<T>, key: ObjectKey, options?: GetOptions): Promise<T>
  list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions): Promise<KubernetesList<T>>
  watch<T extends KubernetesObject>(resource: Resource<T>, options?: WatchOptions): Promise<Watch<T>>
  create<T extends KubernetesObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  update<T extends KubernetesObject>(resource: Resource<T>, object: T, options?: WriteOptions): Promise<T>
  /** POSTs `body` to a subresource that takes another kind than the object's, such as `pods/binding`. */
  createSubresource(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    body: unknown,
    options?: WriteOptions,
  ): Promise<unknown>
  /** Raw text of a subresource such as `pods/log`, in pieces as they come. `query` is sent as it is. */
  stream(
    resource: Resource,
    key: ObjectKey,
    subresource: string,
    query: Readonly<Record<string, string>>,
    signal?: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>>
  patch<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    patch: Patch,
    options?: WriteOptions,
  ): Promise<T>
  /**
   * Server-side apply: makes the object have what the configuration says, creating it where it is not there. Rejects with a
   * Conflict that names managers and fields where others own what it would change.
   */
  apply<T extends KubernetesObject>(
    resource: Resource<T>,
    configuration: ApplyConfiguration<T>,
    options: ApplyOptions,
  ): Promise<T>
  /** Returns the object where it stays for now (finalizers, grace period), or its last state where it is gone. */
  delete<T extends KubernetesObject>(
    resource: Resource<T>,
    key: ObjectKey,
    options?: DeleteOptions,
  ): Promise<T | Status>
  deleteCollection<T extends KubernetesObject>(
    resource: Resource<T>,
    list: ListOptions,
    options?: DeleteOptions,
  ): Promise<void>
}
