import type { FieldSet } from './apply/field-set.ts'
import type { FieldError } from './field-error.ts'
import type { KubernetesObject } from './meta.ts'
import type { ResourceDefinition } from './resource.ts'
import type { ObjectSchema } from './schema/schema.ts'

/**
 * A kind as the server keeps it: stored once, in one form, the hub, which is a version as well; rules that work on that
 * form; and any number of further versions that convert to and from it. One value of this type makes the kind exist.
 */
export interface StoredKind<H extends KubernetesObject = KubernetesObject> extends ResourceDefinition<H> {
  /** Where objects are in the store, one for all versions: `<group>/<plural>`, with `core` for the first group. */
  readonly storageKey: string
  /** Whether clients may use the hub's own version. */
  readonly served: boolean
  /** The versions served beside the hub's. */
  readonly versions: readonly ConvertedVersion<H>[]
  /** How names must look; upstream's rule for the kind. */
  readonly nameFormat: NameFormat
  /** Fields that `fieldSelector` may name beside metadata.name and metadata.namespace. Absent values are ''. */
  readonly selectableFields: Readonly<Record<string, FieldReader<H>>>
  readonly strategy: Strategy<H>
  readonly rules: KindRules
  /** What a custom kind has beside: its versions and its objects change apart from each other. */
  readonly custom?: CustomForms<H>
}

/** How objects are dealt with that may have been stored under another definition of their kind. */
export interface CustomForms<H extends KubernetesObject = KubernetesObject> {
  /** The schemas of all versions by apiVersion: what is stored is pruned and given defaults by that of its own version. */
  readonly schemas: Readonly<Record<string, ObjectSchema>>
  /** An object that its schema cannot decode, without what is malformed in its metadata, and in that of objects in it. */
  withoutMalformedMetadata(schema: ObjectSchema, object: KubernetesObject): KubernetesObject
  /** What is wrong with the counts of an object in a version that can be scaled, by apiVersion; with those of its status alone where only that is written. */
  readonly scaleErrors: Readonly<
    Record<string, (object: KubernetesObject, part: 'whole' | 'status') => readonly FieldError[]>
  >
  /** Which of the kind's `selectableFields`, those of all versions together, the hub's own version may be selected by. */
  readonly hubFields: readonly string[]
  /**
   * The hub's form of what is stored in any version. Present where converting takes time: then objects are cached as they
   * are stored, until they are written, and versions convert from whatever that is.
   */
  fromStored?(object: KubernetesObject): H | Promise<H>
}

/** A version of a kind that is not the form its objects are stored in. */
export interface ConvertedVersion<
  H extends KubernetesObject = KubernetesObject,
  V extends KubernetesObject = KubernetesObject,
> extends ResourceDefinition<V> {
  /** The stored form of an object of this version. A promise where somebody else must be asked. Pure otherwise. */
  toHub(object: V): H | Promise<H>
  /** What this version shows of a stored object. Whatever is lost there and back is lost by a write through this version. */
  fromHub(hub: H): V | Promise<V>
  /** The fields that may be selected by, with the hub's name for each. */
  readonly hubFields: Readonly<Record<string, string>>
}

export type NameFormat = 'dns1123-subdomain' | 'dns1123-label' | 'dns1035-label' | 'path-segment'

/** Reads one field as text. */
export type FieldReader<T> = { bivarianceHack(object: T): string }['bivarianceHack']

/**
 * How a write changes an object of a kind between decoding and storing, and what is wrong with it, in the hub's form. All
 * pure; `nowMs` is the time of the request.
 */
export interface Strategy<T extends KubernetesObject> {
  /** Brings what the rest needs and what most clusters can do without. Asked before each write: undefined once it is there. */
  load?(): Promise<void> | undefined
  /** Fills in what creation fixes, such as the initial status. Fields the client may not set are already gone. */
  prepareForCreate?(object: T, nowMs: number): T
  /** Carries over what a plain update may not change. The status (where it is a subresource) is already the old one. */
  prepareForUpdate?(object: T, old: T, nowMs: number): T
  prepareForStatusUpdate?(object: T, old: T, nowMs: number): T
  /** What a delete makes of an object that is not on its way out yet, such as one more finalizer that holds it. */
  prepareForDelete?(object: T, nowMs: number): T
  /**
   * Checks beyond the schema, with upstream's wording. Errors of the schema come first. `requested` is the apiVersion that the
   * request is made in: some versions ask for more than others.
   */
  validate?(object: T, requested: string): readonly FieldError[]
  /** Checks on create beyond `validate`: what may not be there yet. */
  validateCreate?(object: T, requested: string): readonly FieldError[]
  /** Checks on update beyond `validate`, such as fields that cannot change. */
  validateUpdate?(object: T, old: T, requested: string): readonly FieldError[]
  validateStatusUpdate?(object: T, old: T): readonly FieldError[]
  /** Texts for `Warning` headers: deprecated or pointless settings. Nobody is warned of them who writes the status alone. */
  warnings?(object: T, old: T | undefined): readonly string[]
  /** Those where the status alone is written: `warnings` are about what people want, and say nothing to who reports. */
  statusWarnings?(object: T): readonly string[]
  /**
   * Seconds a delete waits before the object goes, given what the request asks for (undefined: not said). 0 means at
   * once. Absent: always at once. Pods on a node wait for the node agent to delete them with 0.
   */
  gracePeriodSeconds?(object: T, requestedSeconds: number | undefined): number
  /**
   * Whether objects count generations: the server raises `metadata.generation` when anything but metadata and status
   * changes, or annotations or labels do where it says so. Objects of some kinds have a first generation and no other, and of some
   * only changes count, so that what is new has none.
   */
  readonly countsGenerations?: boolean | 'with-annotations' | 'with-labels' | 'first-only' | 'changes-only'
}

/** What upstream's registries decide kind by kind (`strategy.go` and `storage.go` of each resource). */
export interface KindRules {
  /** Whether a PUT to a name that is free creates the object. */
  readonly createsOnUpdate: boolean
  /** Whether an update may leave out the resourceVersion and so overwrite whatever is there. */
  readonly updatesUnconditionally: boolean
  /** Whether a delete answers with the object; else with a Status. */
  readonly returnsDeletedObject: boolean
  /** Whether an object that comes without a name gets one nobody has. */
  readonly namesNameless?: boolean
  /** Whether the client may set the status at creation, as node agents do when they register. */
  readonly keepsStatusOnCreate: boolean
  /** What of the metadata a write of the status leaves as it is: all that people write there, or these fields. Nothing unless said. */
  readonly statusKeeps?: 'metadata' | readonly ('labels' | 'ownerReferences' | 'deletionTimestamp')[]
  /**
   * Fields that a write through a part leaves as they are, so that nobody owns them through it: by subresource, '' for the object itself. Where
   * it says nothing of a part they follow from what the kind has. https://pkg.go.dev/k8s.io/apiserver/pkg/registry/rest#ResetFieldsStrategy
   */
  readonly resetFields?: Readonly<Record<string, FieldSet>>
  /** Why an object of that name may not be deleted; undefined where it may. Whoever deletes a collection is not asked, as upstream. */
  readonly deletionRefusal?: (name: string) => string | undefined
  /** What becomes of dependents when a delete does not say. `ignored`: objects of the kind own nothing. */
  readonly dependents: 'collected' | 'orphaned' | 'ignored'
  /** The text of a warning for whoever deletes and does not say what becomes of dependents. */
  readonly dependentsWarning?: string
}

/** Every version of a kind that clients may use, the hub's first. */
export function servedVersions(
  kind: ResourceDefinition & Pick<StoredKind, 'served' | 'versions'>,
): readonly ResourceDefinition[] {
  return kind.served ? [kind, ...kind.versions] : kind.versions
}
