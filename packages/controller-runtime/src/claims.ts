import { hasReason, type KubernetesObject, type OwnerReference, type Resource } from '@coracle/api'
import { controllerRef } from './owners.ts'
import type { PatchAction } from './plan.ts'
import type { ReconcileContext } from './reconcile.ts'

/** Makes `owner` the controller of an object that has none. Whoever adopts asks for the `liveOwner` first. */
export function adoption(
  resource: Resource,
  owner: KubernetesObject,
  object: KubernetesObject,
  because: string,
): PatchAction {
  return ownersPatch(resource, object, [...(object.metadata.ownerReferences ?? []), controllerRef(owner)], because)
}

/** Ends that `owner` has a part in an object. */
export function release(
  resource: Resource,
  owner: KubernetesObject,
  object: KubernetesObject,
  because: string,
): PatchAction {
  const owners = object.metadata.ownerReferences?.filter(({ uid }) => uid !== owner.metadata.uid) ?? []
  return ownersPatch(resource, object, owners, because)
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

/** A merge patch replaces the whole list, so it holds for the version it was made from only. */
function ownersPatch(
  resource: Resource,
  { metadata }: KubernetesObject,
  owners: readonly OwnerReference[],
  because: string,
): PatchAction {
  const { namespace, name = '', uid, resourceVersion } = metadata
  const key = namespace === undefined ? { name } : { namespace, name }
  const ownerReferences = owners.length === 0 ? null : owners
  const patch = { type: 'merge', body: { metadata: { uid, resourceVersion, ownerReferences } } } as const
  return { type: 'patch', resource, key, patch, because }
}
