import {
  apiVersionOf,
  deployments,
  hasReason,
  type KubernetesObject,
  type OwnerReference,
  type Resource,
  replicaSets,
  replicationControllers,
  type Scale,
  statefulSets,
} from '@coracle/api'
import { type Client, keyText } from '@coracle/client'
import { controllerOf, type Lookup } from '@coracle/controller-runtime'
import type { GuardedController } from './guarded-pods.ts'
import type { ExpectedScale } from './plan.ts'

export interface ScaleSources extends Lookup {
  readonly client: Client
  readonly resources: () => readonly Resource[]
}

/**
 * How many pods these objects of a namespace want together. A replica set that belongs to a deployment counts as the deployment,
 * and that once, however many replica sets a rollout has.
 */
export async function expectedScale(
  sources: ScaleSources,
  namespace: string,
  controllers: readonly GuardedController[],
): Promise<ExpectedScale> {
  const scales = new Map<string, number>()
  for (const { owner, podName } of controllers) {
    const found = await scaleOf(sources, namespace, owner)
    if (found === undefined) return { error: `found no controllers for pod ${JSON.stringify(podName)}` }
    if (typeof found === 'string') return { error: found }
    scales.set(found.uid, found.replicas)
  }
  return { count: scales.values().reduce((sum, each) => sum + each, 0) }
}

interface FoundScale {
  /** Of the object that says how many. */
  readonly uid: string
  readonly replicas: number
}

/** How many pods an object wants; undefined where it is not there, text where it cannot be asked. */
async function scaleOf(
  sources: ScaleSources,
  namespace: string,
  owner: OwnerReference,
): Promise<FoundScale | string | undefined> {
  const group = groupOf(owner)
  const cached = cachedKinds.find(({ kind, groups }) => kind === owner.kind && groups.includes(group))?.resource
  if (cached === undefined) return askedScale(sources, namespace, owner)
  const found = cachedObject(sources, cached, namespace, owner)
  if (found === undefined) return undefined
  const deployment = cached === replicaSets ? controllerOf(found, deployments) : undefined
  const counted = deployment && cachedObject(sources, deployments, namespace, deployment)
  return { uid: (counted ?? found).metadata.uid ?? '', replicas: (counted ?? found).spec?.replicas ?? 1 }
}

/** Kinds whose caches are there, since their controllers have them, and the groups that they are or were in, in any version. */
const cachedKinds: readonly { resource: Resource<Scalable>; kind: string; groups: readonly string[] }[] = [
  { resource: replicationControllers, kind: 'ReplicationController', groups: [''] },
  { resource: replicaSets, kind: 'ReplicaSet', groups: ['apps', 'extensions'] },
  { resource: deployments, kind: 'Deployment', groups: ['apps'] },
  { resource: statefulSets, kind: 'StatefulSet', groups: ['apps'] },
]

const groupOf = ({ apiVersion }: OwnerReference): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''

type Scalable = KubernetesObject & { readonly spec?: { readonly replicas?: number | undefined } }

function cachedObject(
  { informer }: ScaleSources,
  resource: Resource<Scalable>,
  namespace: string,
  { name, uid }: OwnerReference,
): Scalable | undefined {
  const found = informer(resource).get(keyText(namespace, name))
  return found?.metadata.uid === uid ? found : undefined
}

async function askedScale(
  sources: ScaleSources,
  namespace: string,
  { apiVersion, kind, name, uid }: OwnerReference,
): Promise<FoundScale | string | undefined> {
  const resource = sources.resources().find((each) => apiVersionOf(each) === apiVersion && each.kind === kind)
  if (resource === undefined)
    return `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
  try {
    const key = resource.namespaced ? { namespace, name } : { name }
    const scale = (await sources.client.get(resource, key, { subresource: 'scale' })) as Scale
    return scale.metadata.uid === uid ? { uid, replicas: scale.spec?.replicas ?? 0 } : undefined
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    // What names no object says that there is no such path.
    if ((error.status.details?.name ?? '') !== '') return undefined
    const name = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`
    return `${name} does not implement the scale subresource`
  }
}
