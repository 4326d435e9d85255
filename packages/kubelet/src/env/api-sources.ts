import { configMaps, hasReason, type KubernetesObject, type Resource, secrets } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { EnvironmentSources } from './environment-variables.ts'

/** Looks ConfigMaps and Secrets up when a container starts, so that it gets their present state. */
export function apiSources(client: Client): EnvironmentSources {
  const find = async <T extends KubernetesObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> => {
    try {
      return await client.get(resource, { namespace, name })
    } catch (error) {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    }
  }
  return {
    configMap: (namespace, name) => find(configMaps, namespace, name),
    secret: (namespace, name) => find(secrets, namespace, name),
  }
}
