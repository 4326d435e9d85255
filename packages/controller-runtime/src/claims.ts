import { hasReason, type KubernetesObject, type OwnerReference, type Resource } from '@coracle/api'
import { controllerRef, withReference } from './owners.ts'
import type { PatchAction } from './plan.ts'
import type { ReconcileContext } from './reconcile.ts'

/**
 * Makes `owner` the controller of an object that has none. Whoever adopts asks for the `liveOwner` first. `finalizer`: what the owner
 * keeps its objects by.
 */
export function adoption(
  resource: Resource,
  owner: KubernetesObject,
  object: KubernetesObject,
  because: string,
  finalizer?: string,
): PatchAction {
  const { ownerReferences = [], finalizers = [] } = object.metadata
  const isNew = finalizer !== undefined && !finalizers.includes(finalizer)
  const held = isNew ? { finalizers: [...finalizers, finalizer] } : {}
  return ownershipPatch(
    resource,
    object,
    { ownerReferences: withReference(ownerReferences, controllerRef(owner)), ...held },
    because,
  )
}

/** Ends that `owner` has a part in an object, and keeps it by its finalizer. */
export function release(
  resource: Resource,
  owner: KubernetesObject,
  object: KubernetesObject,
  because: string,
  finalizer?: string,
): PatchAction {
  const { ownerReferences = [], finalizers = [] } = object.metadata
  const owners = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid)
  const isHeld = finalizer !== undefined && finalizers.includes(finalizer)
  const free = isHeld ? { finalizers: finalizers.filter((each) => each !== finalizer) } : {}
  return ownershipPatch(resource, object, { ownerReferences: owners, ...free }, because)
}

/**
 * The reconciled object as the server has it, if it is still the same: an owner known from the cache only may be gone, and would
 * take an object from the one that has come after it (https://issue.k8s.io/42639).
 */
export async function liveOwner<T extends KubernetesObject>(
  context: ReconcileContext<T>,
  { metadata }: T,
): Promise<T | undefined> {
  const { namespace, name = '', uid } = metadata
  try {
    const live = await context.client.get(context.resource, namespace === undefined ? { name } : { namespace, name })
    return live.metadata.uid === uid ? live : undefined
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** A merge patch replaces whole lists, so it holds for the version it was made from only. */
function ownershipPatch(
  resource: Resource,
  { metadata }: KubernetesObject,
  lists: { readonly ownerReferences: readonly OwnerReference[]; readonly finalizers?: readonly string[] },
  because: string,
): PatchAction {
  const { namespace, name = '', uid, resourceVersion } = metadata
  const key = namespace === undefined ? { name } : { namespace, name }
  const changed = Object.entries(lists).map(([field, list]) => [field, list.length === 0 ? null : list])
  const body = { metadata: { uid, resourceVersion, ...Object.fromEntries(changed) } }
  return { type: 'patch', resource, key, patch: { type: 'merge', body }, because }
}
