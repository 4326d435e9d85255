import { deepEqual, type KubernetesObject, type OwnerReference, type Resource } from '@coracle/api'
import { controllerIndexName, type Informer, keyText } from '@coracle/client'

/** The reference that makes `owner` the controller of an object. Deleting the owner in the foreground waits for the object. */
export function controllerRef(owner: KubernetesObject): OwnerReference {
  const { name = '', uid = '' } = owner.metadata
  return { apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true }
}

/** The reference to the owner that controls an object; with `resource` only if the owner is of that group and kind. */
export function controllerOf(object: KubernetesObject, resource?: Resource): OwnerReference | undefined {
  // A loop: it is asked some fifty times for each change of a pod.
  for (const owner of object.metadata.ownerReferences ?? []) {
    if (owner.controller !== true) continue
    const isWanted =
      resource === undefined || (owner.kind === resource.kind && groupOf(owner.apiVersion) === resource.group)
    return isWanted ? owner : undefined
  }
  return undefined
}

/** Whether `owner` itself, not just one of its name, controls the object. */
export function isControlledBy(object: KubernetesObject, owner: KubernetesObject): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid
}

/**
 * The objects of a cache that `owner` controls. One in a namespace has none in others, whatever owner they name: whoever may write there is
 * to have no say here. The cache needs the index `controllerIndexName`, as that of what a controller owns has it.
 */
export function controlledBy<T extends KubernetesObject>(
  cache: Pick<Informer<T>, 'byIndex'>,
  { metadata: { namespace, uid = '' } }: Pick<KubernetesObject, 'metadata'>,
): readonly T[] {
  const found = cache.byIndex(controllerIndexName, uid)
  const isHere = ({ metadata }: T): boolean => metadata.namespace === namespace
  return namespace === undefined || found.every(isHere) ? found : found.filter(isHere)
}

/** Says that an object has a controller already, which is another. */
export class AlreadyOwnedError extends Error {
  override readonly name = 'AlreadyOwnedError'
  /** The controller it has. */
  readonly owner: OwnerReference

  constructor(object: KubernetesObject, owner: OwnerReference) {
    super(`${object.kind} ${nameOf(object)} is controlled by ${owner.kind} ${owner.name} already`)
    this.owner = owner
  }
}

/**
 * The object with `owner` as its controller: the same object where it is that already. Throws an AlreadyOwnedError where another
 * controls it, and a TypeError where the two cannot be bound: an owner must be in the object's namespace, or in none.
 */
export function setControllerReference<T extends KubernetesObject>(owner: KubernetesObject, object: T): T {
  const other = controllerOf(object)
  if (other !== undefined && other.uid !== owner.metadata.uid) throw new AlreadyOwnedError(object, other)
  return withOwner(owner, object, controllerRef(owner))
}

/** The object with `owner` among its owners, not as its controller. Throws as `setControllerReference` where they cannot be bound. */
export function setOwnerReference<T extends KubernetesObject>(owner: KubernetesObject, object: T): T {
  const { apiVersion, kind, name, uid } = controllerRef(owner)
  return withOwner(owner, object, { apiVersion, kind, name, uid })
}

/** The object without `owner` among its owners. */
export function removeOwnerReference<T extends KubernetesObject>(owner: KubernetesObject, object: T): T {
  const { ownerReferences = [] } = object.metadata
  const left = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid)
  if (left.length === ownerReferences.length) return object
  return { ...object, metadata: { ...object.metadata, ownerReferences: left } }
}

function withOwner<T extends KubernetesObject>(owner: KubernetesObject, object: T, reference: OwnerReference): T {
  const { namespace } = owner.metadata
  if (namespace !== undefined && namespace !== object.metadata.namespace) {
    throw new TypeError(
      `${owner.kind} ${nameOf(owner)} cannot own ${object.kind} ${nameOf(object)}: an owner must be in the same namespace, or in none`,
    )
  }
  const { ownerReferences = [] } = object.metadata
  const references = withReference(ownerReferences, reference)
  if (deepEqual(references, ownerReferences)) return object
  return { ...object, metadata: { ...object.metadata, ownerReferences: references } }
}

/** The references with `reference` in the place of the one to the same owner, or at their end: an owner is named once. */
export function withReference(
  references: readonly OwnerReference[],
  reference: OwnerReference,
): readonly OwnerReference[] {
  if (!references.some(({ uid }) => uid === reference.uid)) return [...references, reference]
  return references.map((each) => (each.uid === reference.uid ? reference : each))
}

const nameOf = ({ metadata: { namespace, name = '' } }: KubernetesObject): string => keyText(namespace, name)

function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? '' : apiVersion.slice(0, slash)
}
