import { apiVersionOf, configMaps, hasReason, secrets } from '@coracle/api'
import type { Interceptor } from '@coracle/client'
import type { StateGap } from '@coracle/cluster'

/** What containers take their environment and their volumes from. */
const sources = [secrets, configMaps] as const

/**
 * A way to the server for node agents, on which Secrets and ConfigMaps that could not be read from the source are there when a
 * container names them, with every key and nothing in any.
 */
export function assumingUnread(gaps: readonly StateGap[]): Interceptor {
  const unread = sources.filter(({ plural }) => gaps.some(({ resource }) => resource === plural))
  return {
    async call<T>(
      { verb, resource, namespace, name }: Parameters<Interceptor['call']>[0],
      proceed: () => Promise<T>,
    ): Promise<T> {
      try {
        return await proceed()
      } catch (error) {
        const assumed = verb === 'get' ? unread.find(({ plural }) => plural === resource.plural) : undefined
        if (assumed === undefined || !hasReason(error, 'NotFound')) throw error
        const data = new Proxy({}, { get: () => '' })
        return { apiVersion: apiVersionOf(assumed), kind: assumed.kind, metadata: { namespace, name }, data } as T
      }
    },
  }
}
