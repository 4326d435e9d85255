import {
  apiVersionOf,
  hasReason,
  type OwnerReference,
  type Pod,
  type Resource,
  replicationControllers,
  type Scale,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import { controllerOf, type Lookup } from '@coracle/controller-runtime'
import type { ExpectedScale } from './plan.ts'

export interface ScaleSources extends Lookup {
  readonly client: Client
  readonly resources: () => readonly Resource[]
}

/** How many pods the objects that control these want together. Each counts once. */
export async function expectedScale(sources: ScaleSources, pods: readonly Pod[]): Promise<ExpectedScale> {
  const scales = new Map<string, number>()
  const unmanaged: string[] = []
  for (const pod of pods) {
    const { namespace = '', name = '' } = pod.metadata
    const owner = controllerOf(pod)
    if (owner === undefined) {
      unmanaged.push(name)
      continue
    }
    if (scales.has(owner.uid)) continue
    const found = await scaleOf(sources, namespace, owner)
    if (found === undefined) return { error: `found no controllers for pod ${JSON.stringify(name)}` }
    if (typeof found === 'string') return { error: found }
    scales.set(owner.uid, found)
  }
  return { count: [...scales.values()].reduce((sum, each) => sum + each, 0), unmanaged }
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
