import { hasReason, type KubernetesObject, type Pod, pods, type Resource } from '@coracle/api'
import type { Client, DeleteOptions } from '@coracle/client'
import { hasEnded } from '../pods/pod-state.ts'

/** Objects deleted one by one at a time, where a resource cannot be deleted as a whole. */
const deletionsParallelMax = 64

/** What is left of one resource in a namespace. */
export interface RemainingContent {
  readonly resource: Resource
  readonly count: number
  /** How many objects each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>
}

/** What is left in a namespace after all of it was asked to go. */
export interface NamespaceContent {
  readonly remaining: readonly RemainingContent[]
  /** Why something could not be deleted or looked for. */
  readonly errors: readonly string[]
  /** Of which servers it cannot be told what they have: there may be something left of it. */
  readonly unknown?: string | undefined
}

/**
 * Deletes everything in a namespace and tells what is still there: objects that finalizers or a grace period hold. Pods go
 * first and alone (KEP-5080): while they end they may need what else there is, such as the network policies that guard them.
 * `ageMs` is how long ago the namespace was deleted.
 */
export async function deleteContent(
  client: Client,
  resources: readonly Resource[],
  namespace: string,
  ageMs: number,
): Promise<NamespaceContent> {
  const namespaced = resources.filter((resource) => resource.namespaced)
  const deleteAll = (some: readonly Resource[]) =>
    Promise.all(some.map((resource) => deleteResource(client, resource, namespace, ageMs)))
  const ofPods = await deleteAll(namespaced.filter(isPods))
  if (ofPods.some(({ count }) => count > 0)) return contentOf(ofPods)
  const ofOthers = await deleteAll(namespaced.filter((resource) => !isPods(resource)))
  return contentOf([...ofPods, ...ofOthers])
}

const isPods = ({ group, plural }: Resource): boolean => group === pods.group && plural === pods.plural

interface Outcome extends RemainingContent {
  /** What went wrong: the other resources can go all the same. */
  readonly error?: string
}

const contentOf = (outcomes: readonly Outcome[]): NamespaceContent => ({
  remaining: outcomes
    .filter(({ count }) => count > 0)
    .map(({ resource, count, finalizers }) => ({ resource, count, finalizers })),
  errors: outcomes.flatMap(({ error }) => (error === undefined ? [] : [error])).sort(),
})

const none: ReadonlyMap<string, number> = new Map()

/** Deletes the objects of one resource. */
async function deleteResource(client: Client, resource: Resource, namespace: string, ageMs: number): Promise<Outcome> {
  try {
    const found = await list(client, resource, namespace)
    if (found.length === 0) return { resource, count: 0, finalizers: none }
    await deleteObjects(client, resource, namespace, found)
    const left = await list(client, resource, namespace)
    const finalizers = countFinalizers(left)
    const isExpected = left.length === 0 || finalizers.size > 0 || ageMs < graceMs(resource, found)
    const { group, version, plural } = resource
    const error = `unexpected items still remain in namespace: ${namespace} for gvr: ${group}/${version}, Resource=${plural}`
    return { resource, count: left.length, finalizers, ...(isExpected ? {} : { error }) }
  } catch (error) {
    return { resource, count: 0, finalizers: none, error: error instanceof Error ? error.message : String(error) }
  }
}

/** How long objects may take to go that nothing holds: pods as long as the most patient of them says. */
function graceMs(resource: Resource, objects: readonly KubernetesObject[]): number {
  if (!isPods(resource)) return 0
  const running = (objects as readonly Pod[]).filter((pod) => !hasEnded(pod))
  return running.reduce((most, { spec }) => Math.max(most, Number(spec.terminationGracePeriodSeconds ?? 0) * 1000), 0)
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

function countFinalizers(objects: readonly KubernetesObject[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { metadata } of objects) {
    for (const finalizer of metadata.finalizers ?? []) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1)
  }
  return counts
}
