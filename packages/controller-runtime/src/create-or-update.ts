import {
  createJsonMergePatch,
  deepEqual,
  deepFreeze,
  hasReason,
  type KubernetesObject,
  type Resource,
} from '@coracle/api'
import { type ApplyConfiguration, type Client, type ObjectKey, objectKeyOf, type Patch } from '@coracle/client'

/** What was done to make an object as it should be. */
export type Operation = 'created' | 'updated' | 'unchanged'

/** An object as it is now, and what was done for that. */
export interface Ensured<T> {
  readonly object: T
  readonly operation: Operation
}

/** Which object, and what it should become: from what it is, or from nothing but its name. Pure: it may be called again, and may not change the object it is given. */
export interface Wanted<T extends KubernetesObject> {
  /** The object as it begins where there is none; its name and namespace say which it is. */
  readonly initial: T
  readonly change: (object: T) => T
}

/**
 * Makes sure that an object is there and as `change` wants it; writes nothing where it is. The object is read from the server, not
 * from a cache. Rejects with a Conflict or AlreadyExists where somebody else was faster: reconcile again.
 */
export async function createOrUpdate<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  wanted: Wanted<T>,
): Promise<Ensured<T>> {
  return ensure(client, resource, wanted, (_, changed) => client.update(resource, changed))
}

/**
 * As `createOrUpdate`, but writes only the fields that change, by a merge patch: it overwrites nothing that others write
 * meanwhile, and is refused for no change of theirs.
 */
export async function createOrPatch<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  wanted: Wanted<T>,
): Promise<Ensured<T>> {
  return ensure(client, resource, wanted, (present, changed) =>
    client.patch(resource, objectKeyOf(present), mergePatch(present, changed)),
  )
}

export interface MergePatchOptions {
  /** The patch is refused with a Conflict where the object has changed since. For lists, which a merge patch replaces whole. */
  readonly optimisticLock?: boolean
}

/** The merge patch that makes `to` of `from`, for the object that `from` is and no other of its name. */
export function mergePatch(
  from: KubernetesObject,
  to: KubernetesObject,
  { optimisticLock = false }: MergePatchOptions = {},
): Patch {
  const { uid, resourceVersion } = from.metadata
  const changes = createJsonMergePatch({ ...from }, { ...to })
  const metadata = {
    ...(changes.metadata as object | undefined),
    ...(uid === undefined ? {} : { uid }),
    ...(optimisticLock ? { resourceVersion } : {}),
  }
  return { type: 'merge', body: { ...changes, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) } }
}

export interface ApplyOwnedOptions {
  /** Whose fields they are from now on: the controller's name. */
  readonly fieldManager: string
}

/**
 * Applies the fields that a controller cares about (server-side apply), taking them from others where they differ: the way to
 * keep an object as it should be without reading it. Fields that were applied before and are not any more are removed.
 */
export function applyFields<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  fields: ApplyConfiguration<T>,
  { fieldManager }: ApplyOwnedOptions,
): Promise<T> {
  return client.apply(resource, fields, { fieldManager, force: true })
}

async function ensure<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  { initial, change }: Wanted<T>,
  write: (present: T, changed: T) => Promise<T>,
): Promise<Ensured<T>> {
  // What was changed in place would look as if nothing were to be written.
  const present = deepFreeze(await find(client, resource, objectKeyOf(initial)))
  if (present === undefined) return { object: await client.create(resource, change(initial)), operation: 'created' }
  const changed = change(present)
  const { namespace, name } = present.metadata
  if (changed.metadata.name !== name || changed.metadata.namespace !== namespace)
    throw new TypeError(`${resource.kind} ${name}: its name and namespace cannot be changed`)
  if (deepEqual(present, changed)) return { object: present, operation: 'unchanged' }
  return { object: await write(present, changed), operation: 'updated' }
}

async function find<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
): Promise<T | undefined> {
  try {
    return await client.get(resource, key)
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}
