import {
  ApiError,
  configMaps,
  hasReason,
  type KubernetesObject,
  type Resource,
  type Service,
  secrets,
} from '@coracle/api'
import { BoundedMap, type Client, type Informer } from '@coracle/client'
import type { EnvironmentSources } from './environment-variables.ts'
import { atServer, type ServerAddress } from './service-variables.ts'

/** Objects that are kept for when the API is away. */
const keptMax = 1_000

/**
 * Looks ConfigMaps and Secrets up when a container starts, so that it gets their present state; while the API is away, the last that was seen of them:
 * containers start again all the same. Services, of which a container
 * sees all of its namespace, come from a cache, if there is one; that of the API is where `apiServer` says.
 */
export function apiSources(
  client: Client,
  services?: Informer<Service>,
  apiServer: () => ServerAddress | undefined = () => undefined,
): EnvironmentSources {
  const kept = new BoundedMap<string, KubernetesObject | undefined>(keptMax)
  const find = async <T extends KubernetesObject>(
    resource: Resource<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> => {
    const key = `${resource.plural}/${namespace}/${name}`
    try {
      const found = await client.get(resource, { namespace, name })
      kept.set(key, found)
      return found
    } catch (error) {
      const known = kept.get(key)
      if (known !== undefined && isAway(error)) return known as T
      if (known !== undefined) kept.set(key, undefined)
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

/** Whether nobody has answered who would know. */
const isAway = (error: unknown): boolean => !(error instanceof ApiError) || error.code >= 500
