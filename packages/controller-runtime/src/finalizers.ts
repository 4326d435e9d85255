import { hasReason, type KubernetesObject, type Resource } from '@coracle/api'
import { type Client, objectKeyOf, type Patch } from '@coracle/client'

/** Whether a finalizer holds the object back from going. */
export function hasFinalizer(object: KubernetesObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) === true
}

/** Whether somebody has asked for the object to go: clean up, then remove the finalizer. */
export function isBeingDeleted(object: KubernetesObject): boolean {
  return object.metadata.deletionTimestamp !== undefined
}

/**
 * Puts a finalizer on an object, unless it is there, and returns the object as it is then. Rejects with a Conflict when
 * the object has changed since. Do it before making anything that must be cleaned up.
 */
export async function addFinalizer<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  because = `${finalizer} has something to do before the object goes`,
): Promise<T> {
  if (hasFinalizer(object, finalizer)) return object
  return client.patch(
    resource,
    objectKeyOf(object),
    finalizersPatch(object, [...(object.metadata.finalizers ?? []), finalizer]),
    { because },
  )
}

/** Takes a finalizer off an object. That the object is gone already is fine. Rejects with a Conflict when it has changed since. */
export async function removeFinalizer<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  because = `${finalizer} has nothing left to do`,
): Promise<void> {
  if (!hasFinalizer(object, finalizer)) return
  const left = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer)
  try {
    await client.patch(resource, objectKeyOf(object), finalizersPatch(object, left), { because })
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

/** A merge patch replaces the whole list, so it holds for the version it was made from only. */
export function finalizersPatch(object: KubernetesObject, finalizers: readonly string[]): Patch {
  const { uid, resourceVersion } = object.metadata
  return {
    type: 'merge',
    body: { metadata: { uid, resourceVersion, finalizers: finalizers.length === 0 ? null : finalizers } },
  }
}
