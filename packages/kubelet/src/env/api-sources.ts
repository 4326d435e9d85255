import { configMaps, hasReason, type KubernetesObject, type Resource, type Service, secrets } from '@coracle/api'
import type { Client, Informer } from '@coracle/client'
import type { EnvironmentSources } from './environment-variables.ts'
import { atServer, type ServerAddress } from './service-variables.ts'

/**
 * Looks ConfigMaps and Secrets up when a container starts, so that it gets their present state. Services, of which a container
 * sees all of its namespace, come from a cache, if there is one; that of the API is where `apiServer` says.
 */
export function apiSources(
  client: Client,
  services?: Informer<Service>,
  apiServer: () => ServerAddress | undefined = () => undefined,
): EnvironmentSources {
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
    services: (namespace) => atServer(services?.list(namespace) ?? [], apiServer()),
  }
}
