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
  if (!hasTrueCondition(definition, 'Established')) return { type: 'never-established' }
  const resource = resourceOf(definition)
  const because = `CustomResourceDefinition ${definition.metadata.name} is being deleted`
  try {
    const found = await list(client, resource)
    for (const namespace of new Set(found.map(({ metadata }) => metadata.namespace))) {
      await client.deleteCollection(resource, namespace === undefined ? {} : { namespace }, { because })
    }
    return { type: 'remaining', count: found.length === 0 ? 0 : (await list(client, resource)).length }
  } catch (error) {
    return { type: 'failed', message: `could not issue all deletes: ${error instanceof Error ? error.message : error}` }
  }
}

/**
 * The kind in the version that its objects are stored in, as upstream deletes them: whoever converts them may be gone. Where that is not
 * served, in one that is; where none is, the stored version is served while the definition goes.
 */
function resourceOf({ spec }: CustomResourceDefinition): Resource {
  const { group, names, scope, versions } = spec
  const stored = versions.find(({ storage }) => storage)
  const { name: version = '' } =
    (stored?.served === true ? stored : versions.find(({ served }) => served)) ?? stored ?? {}
  const { plural, kind } = names
  return { group, version, kind, plural, namespaced: scope === 'Namespaced' }
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
