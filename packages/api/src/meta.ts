import {
  anyObject,
  atomicList,
  boolean,
  type InferFields,
  int64,
  list,
  mapList,
  object,
  optional,
  pointer,
  required,
  setList,
  string,
  stringMap,
  time,
} from './schema/builders.ts'
import type { Field, Infer, ObjectSchema } from './schema/schema.ts'

const metaV1 = 'io.k8s.apimachinery.pkg.apis.meta.v1'

export interface OwnerReference extends Infer<typeof ownerReference> {}
export const ownerReference = object(
  `${metaV1}.OwnerReference`,
  'Names an object that owns this one. Owner and dependent share a namespace, unless the owner is cluster-scoped.',
  {
    apiVersion: required(string(), 'API version of the owner.', { default: '' }),
    kind: required(string(), 'Kind of the owner.', { default: '' }),
    name: required(string(), 'Name of the owner.', { default: '' }),
    uid: required(string(), 'UID of the owner: a new object of the same name is another owner.', { default: '' }),
    controller: pointer(boolean, 'Whether this owner is the one controller that manages the object.'),
    blockOwnerDeletion: pointer(boolean, 'Whether a foreground deletion of the owner waits until this object is gone.'),
  },
  { mapType: 'atomic' },
)

export interface ManagedFieldsEntry extends Infer<typeof managedFieldsEntry> {}
export const managedFieldsEntry = object(`${metaV1}.ManagedFieldsEntry`, 'The fields that one field manager has set.', {
  manager: optional(string(), 'Name of the field manager.'),
  operation: optional(string(), 'How it set them: Apply or Update.'),
  apiVersion: optional(string(), 'Version of the kind that the field names belong to.'),
  time: optional(time, 'When the manager last changed what it owns.'),
  fieldsType: optional(string(), 'Format of fieldsV1; FieldsV1 is the only one.'),
  fieldsV1: optional(anyObject(`${metaV1}.FieldsV1`, 'A set of fields as a trie in JSON.'), 'The fields owned.'),
  subresource: optional(string(), 'The subresource through which they were set; empty for the object itself.'),
})

/** What `metadata` is, as the documentation of every kind says. */
export const metadataDoc = "Standard object's metadata: name, labels, owners and what else every stored object carries."

export interface ObjectMeta extends Infer<typeof objectMeta> {}
export const objectMeta = object(
  `${metaV1}.ObjectMeta`,
  'What every stored object carries.',
  {
    name: optional(string(), 'Name, unique among the objects of its kind in its namespace. It cannot be changed.'),
    generateName: optional(string(), 'Prefix from which the server makes a unique name where name is empty.'),
    namespace: optional(
      string(),
      'Namespace the object lives in; empty for cluster-scoped kinds. It cannot be changed.',
    ),
    selfLink: optional(string(), 'No longer filled in.', { deprecated: 'selfLink is no longer filled in' }),
    uid: optional(string(), 'Identity of this object in time and space, given by the server.'),
    resourceVersion: optional(
      string(),
      'Opaque version of the object, for optimistic locking and watches. Given by the server.',
    ),
    generation: optional(int64(), 'Counts the changes of the desired state. Given by the server.'),
    creationTimestamp: optional(
      time,
      'CreationTimestamp is a timestamp of the moment the object was created. Given by the server.',
    ),
    deletionTimestamp: optional(
      time,
      'When the object was, or is going to be, deleted. Given by the server on a graceful delete.',
    ),
    deletionGracePeriodSeconds: pointer(
      int64(),
      'Seconds the object has to end gracefully. Set along with deletionTimestamp.',
    ),
    labels: optional(stringMap, 'Keys and values that identify the object and by which it is selected.'),
    annotations: optional(stringMap, 'Keys and values that tools attach; not for selecting.'),
    ownerReferences: optional(
      mapList(ownerReference, ['uid'], { duplicates: 'allowed' }),
      'Objects this one depends on: once all are gone it is collected.',
    ),
    finalizers: optional(
      setList(string(), { patchStrategy: 'merge', duplicates: 'allowed' }),
      'What must be done before the object goes: it stays until the list is empty.',
    ),
    managedFields: optional(
      atomicList(managedFieldsEntry),
      'Which field manager set which fields. Kept by the server.',
      // An empty list takes all of them away.
      { keepsEmpty: true },
    ),
  },
  { dialect: 'go' },
)

export interface ShardInfo extends Infer<typeof shardInfo> {}
export const shardInfo = object(`${metaV1}.ShardInfo`, 'Which part of a collection a list holds.', {
  selector: required(string(), 'The shard selector that was asked for.'),
})

export interface ListMeta extends Infer<typeof listMeta> {}
export const listMeta = object(`${metaV1}.ListMeta`, 'The version of a list, and where its next page begins.', {
  selfLink: optional(string(), 'No longer filled in.'),
  resourceVersion: optional(
    string(),
    'The version at which the list is consistent; watch from here to see what follows.',
  ),
  continue: optional(string(), 'Token that gets the next page; empty on the last one.'),
  remainingItemCount: pointer(int64(), 'How many items follow this page, where the server knows.'),
  shardInfo: optional(shardInfo, 'Which part of the collection this is, where only a part was asked for.'),
})

/** What every object has. `kind` and `apiVersion` are always there once decoded. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
}

/** A page of objects, as the API returns it. */
export interface KubernetesList<T extends KubernetesObject = KubernetesObject> {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ListMeta
  readonly items: readonly T[]
}

/** The structs that upstream's kinds hold by value. */
const byValue: ReadonlySet<string> = new Set(['metadata', 'spec', 'status'])

/**
 * A top-level kind: `apiVersion`, `kind` and `metadata` with the fields given (`spec`, `status`, or whatever it has).
 * `name` is the OpenAPI definition name.
 */
export function kindSchema<const F extends Parameters<typeof object>[2]>(
  name: string,
  doc: string,
  fields: F,
  options: Parameters<typeof object<F>>[3] = {},
): ObjectSchema<KubernetesObject & InferFields<F>> {
  const all: Readonly<Record<string, Field>> = {
    apiVersion: optional(string(), 'APIVersion defines the schema this object is written in, such as v1 or apps/v1.'),
    kind: optional(string(), 'Kind of the object, in CamelCase. It cannot be changed.'),
    metadata: optional(objectMeta, metadataDoc, { default: {} }),
    ...fields,
  }
  const marked = Object.entries(all).map(([field, value]) => [
    field,
    byValue.has(field) && value.schema.type === 'object' ? { ...value, byValue: true } : value,
  ])
  const schema = object(name, doc, Object.fromEntries(marked), options as Parameters<typeof object>[3])
  return schema as ObjectSchema<KubernetesObject & InferFields<F>>
}

/** The list kind of `item`, such as PodList; `plural` is what its documentation calls the objects. */
export function listSchema<T extends KubernetesObject>(
  name: string,
  item: ObjectSchema<T>,
  plural = 'objects',
): ObjectSchema<KubernetesList<T>> {
  const schema = object(name, `A list of ${item.name.slice(item.name.lastIndexOf('.') + 1)} objects.`, {
    apiVersion: optional(string(), 'Version of the schema this list is written in.'),
    kind: optional(string(), 'Kind of the list.'),
    metadata: optional(listMeta, 'What every list carries.'),
    items: required(list(item), `List of ${plural}.`),
  })
  return schema as unknown as ObjectSchema<KubernetesList<T>>
}
