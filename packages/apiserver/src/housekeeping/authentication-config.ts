import { type ConfigMap, configMaps, hasReason } from '@coracle/api'
import { frontProxyUser } from '../aggregation/front-proxy.ts'
import type { ApiCore } from '../api-core.ts'
import { apiServerContext } from '../api-server-user.ts'

const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'
const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/**
 * Tells the servers behind this one whom to believe, in the ConfigMap where those of upstream look: certificates of users, and of
 * who may say for which user it asks. `furtherCaPem` are the authorities whose certificates of users are good beside its own.
 */
export async function publishAuthentication(
  { registries }: ApiCore,
  clientCaPem: string,
  furtherCaPem = '',
): Promise<void> {
  const registry = registries.of(configMaps)
  if (registry === undefined) return
  const data = {
    'client-ca-file': clientCaPem + furtherCaPem,
    'requestheader-allowed-names': JSON.stringify([frontProxyUser]),
    'requestheader-client-ca-file': clientCaPem,
    'requestheader-extra-headers-prefix': JSON.stringify(['X-Remote-Extra-']),
    'requestheader-group-headers': JSON.stringify(['X-Remote-Group']),
    'requestheader-uid-headers': JSON.stringify(['X-Remote-Uid']),
    'requestheader-username-headers': JSON.stringify(['X-Remote-User']),
  }
  const context = apiServerContext('other servers behind this one authenticate its requests by it')
  const present = registry.peek(namespace, name)?.object as ConfigMap | undefined
  try {
    if (present === undefined) {
      await registry.create(context, namespace, { metadata: { name, namespace }, data }, options)
    } else {
      await registry.update(context, namespace, name, '', { ...present, data: { ...present.data, ...data } }, options)
    }
  } catch (error) {
    // Another server on the same store says the same.
    if (!hasReason(error, 'AlreadyExists') && !hasReason(error, 'Conflict')) throw error
  }
}
