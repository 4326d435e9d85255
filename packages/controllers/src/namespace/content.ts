import { hasReason, type KubernetesObject, pods, type Resource } from '@coracle/api'
import type { Client, DeleteOptions } from '@coracle/client'

/** Objects deleted one by one at a time, where a resource cannot be deleted as a whole. */
const deletionsParallelMax = 64

/** What is left of one resource in a namespace. */
export interface RemainingContent {
  readonly resource: Resource
  readonly count: number
  /** How many objects each finalizer holds. */
  readonly finalizers: Readonly<Record<string, number>>
}

/** What is left in a namespace after all of it was asked to go. */
export interface NamespaceContent {
  readonly remaining: readonly RemainingContent[]
  /** Why something could not be deleted or looked for. */
  readonly errors: readonly string[]
}

/**
 * Deletes everything in a namespace and tells what is still there: objects that finalizers or a grace period hold. Pods go
 * first and alone (KEP-5080): while they end they may need what else there is, such as the network policies that guard them.
 */
export async function deleteContent(
  client: Client,
  resources: readonly Resource[],
  namespace: string,
): Promise<NamespaceContent> {
  const isPods = ({ group, plural }: Resource) => group === pods.group && plural === pods.plural
  const namespaced = resources.filter((resource) => resource.namespaced)
  const podContent = await deleteAll(client, namespaced.filter(isPods), namespace)
  if (podContent.remaining.length > 0 || podContent.errors.length > 0) return podContent
  return deleteAll(
    client,
    namespaced.filter((resource) => !isPods(resource)),
    namespace,
  )
}

async function deleteAll(client: Client, resources: readonly Resource[], namespace: string): Promise<NamespaceContent> {
  const outcomes = await Promise.all(resources.map((resource) => deleteResource(client, resource, namespace)))
  return {
    remaining: outcomes.filter((outcome) => typeof outcome !== 'string').filter(({ count }) => count > 0),
    errors: outcomes.filter((outcome) => typeof outcome === 'string').sort(),
  }
}

/** Deletes the objects of one resource. What went wrong is returned: the other resources can go all the same. */
async function deleteResource(
  client: Client,
  resource: Resource,
  namespace: string,
): Promise<RemainingContent | string> {
  try {
    const found = await list(client, resource, namespace)
    if (found.length === 0) return { resource, count: 0, finalizers: {} }
    await deleteObjects(client, resource, namespace, found)
    const left = await list(client, resource, namespace)
    return { resource, count: left.length, finalizers: countFinalizers(left) }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function deleteObjects(
  client: Client,
  resource: Resource,
  namespace: string,
  found: readonly KubernetesObject[],
): Promise<void> {
  try {
    await client.deleteCollection(resource, { namespace }, deleteOptionsIn(namespace))
  } catch (error) {
    if (!hasReason(error, 'MethodNotAllowed')) throw error
    for (let from = 0; from < found.length; from += deletionsParallelMax) {
      const batch = found.slice(from, from + deletionsParallelMax)
      await Promise.all(batch.map(({ metadata }) => deleteObject(client, resource, namespace, metadata.name ?? '')))
    }
  }
}

async function deleteObject(client: Client, resource: Resource, namespace: string, name: string): Promise<void> {
  try {
    await client.delete(resource, { namespace, name }, deleteOptionsIn(namespace))
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}

const deleteOptionsIn = (namespace: string): DeleteOptions => ({
  propagationPolicy: 'Background',
  because: `namespace ${namespace} is being deleted`,
})

/** The objects there are. A resource that is not served any more has none. */
async function list(client: Client, resource: Resource, namespace: string): Promise<readonly KubernetesObject[]> {
  try {
    return (await client.list(resource, { namespace })).items
  } catch (error) {
    if (hasReason(error, 'NotFound') || hasReason(error, 'MethodNotAllowed')) return []
    throw error
  }
}

function countFinalizers(objects: readonly KubernetesObject[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { metadata } of objects) {
    for (const finalizer of metadata.finalizers ?? []) counts[finalizer] = (counts[finalizer] ?? 0) + 1
  }
  return counts
}
