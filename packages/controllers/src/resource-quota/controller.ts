import {
  claimChangesScope,
  configMaps,
  conflict,
  deepEqual,
  describeStatusChange,
  hasReason,
  isBeingResized,
  type KubernetesObject,
  type Pod,
  type PodSpec,
  persistentVolumeClaims,
  podChangesScope,
  pods,
  quotaUsage,
  type Resource,
  type ResourceQuota,
  replicationControllers,
  resourceQuotas,
  secrets,
  services,
} from '@coracle/api'
import { type Aggregate, type Client, keyOf } from '@coracle/client'
import { type Change, type Controller, controller, type Lookup } from '@coracle/controller-runtime'
import { hasEnded } from '../pods/pod-state.ts'
import { type CountedObjects, countedKinds, isWatched, planQuotaStatus } from './plan.ts'

/** Kinds that nobody tells of are counted anew this often. */
export const recountMs = 30_000
/** All is counted anew this often, for pods that are stuck in their deletion, and in case a deletion was missed. */
export const resyncMs = 300_000

/** Objects are read so many at a time. */
const pageLimit = 500

/**
 * Says what of each quota is used, from what there is. Quotas are charged by the API server as objects come; this counts what
 * a new quota finds, and what is given back. It reads the quota first and the objects after, and writes only if the quota has
 * not been charged since: no charge is ever lost.
 */
export function createResourceQuotaController({ resources }: { resources(): readonly Resource[] }): Controller {
  const known = new Set<string>()
  const aggregate: Aggregate<ResourceQuota> = {
    add: ({ metadata: { uid = '' } }) => known.add(uid),
    remove: ({ metadata: { uid = '' } }) => known.delete(uid),
  }
  // Most clusters have no quota, and then it does not matter what an object takes.
  const hasQuotas = (): boolean => known.size > 0
  return controller('resourcequota-controller', { component: 'resourcequota-controller' })
    .for(resourceQuotas, { predicates: [changesLimits], aggregates: [aggregate] })
    .watches(pods, quotasOf, {
      predicates: [hasQuotas, mayGiveBack, (change) => changesScope(change, podChangesScope) || givesBack(change)],
    })
    .watches(services, quotasOf, { predicates: [hasQuotas, givesBack] })
    .watches(persistentVolumeClaims, quotasOf, {
      predicates: [hasQuotas, (change) => changesScope(change, claimChangesScope) || givesBack(change)],
    })
    .watches(configMaps, quotasOf, { predicates: [goes] })
    .watches(secrets, quotasOf, { predicates: [goes] })
    .watches(replicationControllers, quotasOf, { predicates: [goes] })
    .reconcile(async ({ object, namespace = '', name }, { client, clock }) => {
      if (object === undefined) return undefined
      const quota = await readQuota(client, namespace, name)
      if (quota === undefined) return undefined
      const kinds = countedKinds(quota)
      const counted = await Promise.all(kinds.map((kind) => readAll(client, resources(), kind, namespace)))
      const served = counted.filter((each) => each !== undefined)
      const status = planQuotaStatus(quota, served, clock.now())
      if (status !== quota.status) {
        const because = `what there is was counted: ${describeStatusChange(quota.status, status)}`
        await client.update(resourceQuotas, { ...quota, status }, { subresource: 'status', because })
      } else await checkUncharged(client, quota)
      return { requeueAfterMs: kinds.every(isWatched) ? resyncMs : recountMs }
    })
}

async function readQuota(client: Client, namespace: string, name: string): Promise<ResourceQuota | undefined> {
  try {
    return await client.get(resourceQuotas, { namespace, name })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/**
 * That a count is what the quota said before it proves nothing where the quota was charged since: the count has what the charge was
 * for, and something else has been given back. Throws a conflict then, as a write would have met.
 */
async function checkUncharged(client: Client, counted: ResourceQuota): Promise<void> {
  const { namespace = '', name = '' } = counted.metadata
  const now = await readQuota(client, namespace, name)
  if (now !== undefined && !deepEqual(now.status, counted.status))
    throw conflict(resourceQuotas, name, 'it was charged while objects were counted')
}

/** Every object of a kind in a namespace, as of now; undefined where the kind is not served. */
async function readAll(
  client: Client,
  served: readonly Resource[],
  kind: string,
  namespace: string,
): Promise<CountedObjects | undefined> {
  const [plural = '', ...group] = kind.split('.')
  const wanted = { group: group.join('.'), plural }
  const resource = served.find((each) => each.plural === plural && each.group === wanted.group)
  const objects: KubernetesObject[] = []
  if (resource === undefined) return undefined
  let token = ''
  do {
    const page = await client.list(resource, {
      namespace,
      limit: pageLimit,
      ...(token === '' ? {} : { continue: token }),
    })
    objects.push(...page.items)
    token = page.metadata.continue ?? ''
  } while (token !== '')
  return { resource: wanted, objects }
}

/** The quotas of the namespace that an object is in. */
const quotasOf = ({ metadata }: KubernetesObject, lookup: Lookup): readonly string[] =>
  lookup.informer(resourceQuotas).list(metadata.namespace).map(keyOf)

const goes = (change: Change<KubernetesObject>): boolean => change.type === 'delete'

/**
 * Whether what a pod takes may have changed: most updates of pods place them, or tell how they are, and nothing need be summed up for
 * those. While its resources are changed the status says what it has, and so what it takes.
 */
export const mayGiveBack = (change: Change<Pod>): boolean =>
  change.type !== 'update' ||
  hasEnded(change.old) !== hasEnded(change.object) ||
  demandsElse(change.old.spec, change.object.spec) ||
  podChangesScope(change.old, change.object) ||
  isBeingResized(change.old) ||
  isBeingResized(change.object)

/** What is the same in two versions of an object is the same reference in process; where it is not, the sums tell. */
const demandsElse = (old: PodSpec, spec: PodSpec): boolean =>
  old.containers !== spec.containers ||
  old.initContainers !== spec.initContainers ||
  old.resources !== spec.resources ||
  old.overhead !== spec.overhead

/** Whether an object may be for other quotas than before. */
const changesScope = <T extends KubernetesObject>(
  change: Change<T>,
  differs: (old: T, object: T) => boolean,
): boolean => change.type === 'update' && differs(change.old, change.object)

/** Whether an object may take less than before. What time alone gives back is found when all is counted anew. */
function givesBack<T extends KubernetesObject>(change: Change<T>): boolean {
  if (change.type !== 'update') return change.type === 'delete'
  const { old, object } = change
  const kind = { group: '', plural: `${object.kind.toLowerCase()}s` }
  return !deepEqual([...quotaUsage(kind, old, 0)], [...quotaUsage(kind, object, 0)])
}

/** What is used is charged by the server, and no reason to count. */
function changesLimits(change: Change<ResourceQuota>): boolean {
  if (change.type !== 'update') return true
  const { old, object } = change
  return !deepEqual(old.spec, object.spec) || !deepEqual(object.status?.hard, object.spec?.hard)
}
