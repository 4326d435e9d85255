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
export type Cell = string | number | bigint | boolean | null

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

/** The scale subresource: where the counts and the selector are. */
export interface ScaleMapping<T> {
  replicas(object: T): number
  /** Where the desired count ought to be, if the object has none and its kind has no default. */
  missing?(object: T): string | undefined
  statusReplicas(object: T): number
  /** As a query string: `app=web,tier in (front)`. */
  selector(object: T): string
  /** A copy with another desired count. */
  withReplicas(object: T, replicas: number): T
}

/** One version of a kind as clients see it: its names, its schema, and how it is shown. */
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
  readonly columns: readonly Column<T>[]
  /** The order of the rows of a table, where it is not that of the list. */
  tableOrder?(a: T, b: T): number
  /** Defaults that depend on other fields; after the schema's own. Idempotent. Members that are those of `complete` have them. */
  applyDefaults?(object: T, complete?: T): T
  /** Why and from when on to use something else: a `Warning` header to whoever uses this version. */
  readonly deprecated?: string
}

export interface SubresourceDefinition {
  /** Group, version and kind of what is exchanged, such as policy/v1 Eviction. */
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
  /** Requests become connections; the kind is that of their options, which are in the query. */
  readonly connects?: true
  /** Requests of any method go on to another server, with the path below; the kind is that of their options. */
  readonly proxies?: true
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
}
