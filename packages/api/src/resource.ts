import type { FieldError } from './field-error.ts'
import type { KubernetesObject } from './meta.ts'
import type { ObjectSchema } from './schema/schema.ts'

declare const objectType: unique symbol

/** Names a collection of the API: all a client needs to address it. `T` is the static type of its objects. */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  readonly [objectType]?: T
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly kind: string
  /** Lowercase plural, as in URLs: `replicationcontrollers`. */
  readonly plural: string
  readonly namespaced: boolean
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch'

/** A cell of a table, as JSON. */
export type Cell = string | number | boolean | null

/** A column of the table that `kubectl get` shows. Names, types and priorities are upstream's (printers/internalversion). */
export interface Column<T> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` marks the column that identifies the row. */
  readonly format?: string
  readonly description: string
  /** 0 is always shown; anything higher only with `-o wide`. */
  readonly priority: number
  /** `nowMs` is for ages. Pure. */
  cell(object: T, nowMs: number): Cell
}

/** How a write changes an object between decoding and validation. All pure; `nowMs` is the time of the request. */
export interface Strategy<T extends KubernetesObject> {
  /** Defaults that depend on other fields; after the schema's own. Idempotent. */
  applyDefaults?(object: T): T
  /** Fills in what creation fixes, such as the initial status. Fields the client may not set are already gone. */
  prepareForCreate?(object: T, nowMs: number): T
  /** Carries over what a plain update may not change. The status (where it is a subresource) is already the old one. */
  prepareForUpdate?(object: T, old: T): T
  prepareForStatusUpdate?(object: T, old: T): T
  /** Checks beyond the schema, with upstream's wording. Errors of the schema come first. */
  validate?(object: T): readonly FieldError[]
  /** Checks on create beyond `validate`: what may not be there yet. */
  validateCreate?(object: T): readonly FieldError[]
  /** Checks on update beyond `validate`, such as fields that cannot change. */
  validateUpdate?(object: T, old: T): readonly FieldError[]
  validateStatusUpdate?(object: T, old: T): readonly FieldError[]
  /** Texts for `Warning` headers: deprecated or pointless settings. */
  warnings?(object: T, old: T | undefined): readonly string[]
  /**
   * Seconds a delete waits before the object goes, given what the request asks for (undefined: not said). 0 means at
   * once. Absent: always at once. Pods on a node wait for the node agent to delete them with 0.
   */
  gracePeriodSeconds?(object: T, requestedSeconds: number | undefined): number
  /** Whether objects count generations: the server raises `metadata.generation` when anything but metadata and status changes. */
  readonly countsGenerations?: boolean
}

/** The scale subresource: where the counts and the selector are. */
export interface ScaleMapping<T> {
  replicas(object: T): number
  statusReplicas(object: T): number
  /** As a query string: `app=web,tier in (front)`. */
  selector(object: T): string
  /** A copy with another desired count. */
  withReplicas(object: T, replicas: number): T
}

/** Reads one field as text. */
export type FieldReader<T> = { bivarianceHack(object: T): string }['bivarianceHack']

/** Everything the server knows about a kind. One value of this type per kind makes the kind exist. */
export interface ResourceDefinition<T extends KubernetesObject = KubernetesObject> extends Resource<T> {
  readonly singular: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  /** `all` makes `kubectl get all` show it. */
  readonly categories: readonly string[]
  readonly verbs: readonly Verb[]
  readonly schema: ObjectSchema<T>
  /** `status` is written through its own subresource, and only there. */
  readonly hasStatus: boolean
  readonly scale?: ScaleMapping<T>
  /**
   * Further subresources by name, as discovery lists them: kind and verbs. What they do is the server's
   * (`pods/binding`, `pods/log`, `namespaces/finalize`).
   */
  readonly subresources: Readonly<Record<string, SubresourceDefinition>>
  /** How names must look; upstream's rule for the kind. */
  readonly nameFormat: 'dns1123-subdomain' | 'dns1123-label' | 'dns1035-label' | 'path-segment'
  readonly columns: readonly Column<T>[]
  /** Fields that `fieldSelector` may name beside metadata.name and metadata.namespace. Absent values are ''. */
  readonly selectableFields: Readonly<Record<string, FieldReader<T>>>
  readonly strategy: Strategy<T>
}

export interface SubresourceDefinition {
  /** Group, version and kind of what is exchanged, such as policy/v1 Eviction. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}
