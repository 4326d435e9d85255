import {
  apiVersionOf,
  hasReason,
  type OwnerReference,
  type Resource,
  replicationControllers,
  type Scale,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Lookup } from '@coracle/controller-runtime'
import type { GuardedController } from './guarded-pods.ts'
import type { ExpectedScale } from './plan.ts'

export interface ScaleSources extends Lookup {
  readonly client: Client
  readonly resources: () => readonly Resource[]
}

/** How many pods these objects of a namespace want together. */
export async function expectedScale(
  sources: ScaleSources,
  namespace: string,
  controllers: readonly GuardedController[],
): Promise<ExpectedScale> {
  let count = 0
  for (const { owner, podName } of controllers) {
    const found = await scaleOf(sources, namespace, owner)
    if (found === undefined) return { error: `found no controllers for pod ${JSON.stringify(podName)}` }
    if (typeof found === 'string') return { error: found }
    count += found
  }
  return { count }
}

/** How many pods an object wants; undefined where it is not there, text where it cannot be asked. */
async function scaleOf(
  sources: ScaleSources,
  namespace: string,
  owner: OwnerReference,
): Promise<number | string | undefined> {
  const { apiVersion, kind, name, uid } = owner
  if (apiVersion === 'v1' && kind === 'ReplicationController') {
    const found = sources.informer(replicationControllers).get(`${namespace}/${name}`)
    return found?.metadata.uid === uid ? (found.spec?.replicas ?? 1) : undefined
  }
  const resource = sources.resources().find((each) => apiVersionOf(each) === apiVersion && each.kind === kind)
  if (resource === undefined)
    return `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
  try {
    const key = resource.namespaced ? { namespace, name } : { name }
    const scale = (await sources.client.get(resource, key, { subresource: 'scale' })) as Scale
    return scale.metadata.uid === uid ? (scale.spec?.replicas ?? 0) : undefined
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
    // What names no object says that there is no such path.
    if ((error.status.details?.name ?? '') !== '') return undefined
    return `${resource.plural}.${resource.group} does not implement the scale subresource`
  }
}
