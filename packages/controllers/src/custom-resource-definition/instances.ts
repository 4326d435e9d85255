import {
  type CustomResourceDefinition,
  hasReason,
  hasTrueCondition,
  type KubernetesObject,
  type Resource,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Instances } from './plan.ts'

/** Asks all objects of a definition to go, and tells how many are left. */
export async function deleteInstances(client: Client, definition: CustomResourceDefinition): Promise<Instances> {
  const resource = resourceOf(definition)
  if (!hasTrueCondition(definition, 'Established') || resource === undefined) return { type: 'never-established' }
  try {
    const found = await list(client, resource)
    for (const namespace of new Set(found.map(({ metadata }) => metadata.namespace))) {
      await client.deleteCollection(resource, namespace === undefined ? {} : { namespace })
    }
    return { type: 'remaining', count: found.length === 0 ? 0 : (await list(client, resource)).length }
  } catch (error) {
    return { type: 'failed', message: `could not issue all deletes: ${error instanceof Error ? error.message : error}` }
  }
}

/** The kind in one of the versions that it is served in. */
function resourceOf({ spec }: CustomResourceDefinition): Resource | undefined {
  const { group, names, scope, versions } = spec
  const version = versions.find(({ served }) => served)?.name
  const { plural, kind } = names
  return version === undefined ? undefined : { group, version, kind, plural, namespaced: scope === 'Namespaced' }
}

/** The objects there are. A kind that is not served has none. */
async function list(client: Client, resource: Resource): Promise<readonly KubernetesObject[]> {
  try {
    return (await client.list(resource)).items
  } catch (error) {
    if (hasReason(error, 'NotFound')) return []
    throw error
  }
}
