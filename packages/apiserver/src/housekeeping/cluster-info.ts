import { type ConfigMap, clusterInfo, configMaps, hasReason } from '@coracle/api'
import type { ApiCore } from '../api-core.ts'
import { apiServerContext } from '../api-server-user.ts'

const { namespace, name, key } = clusterInfo
const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/**
 * Says which cluster this is, for machines that are to join it: a kubeconfig with its address and authority, and nobody's credentials, in
 * the ConfigMap that kubeadm makes for that. Others sign it.
 */
export async function publishClusterInfo(
  { registries }: ApiCore,
  { server, caPem }: { readonly server: string; readonly caPem: string },
): Promise<void> {
  const registry = registries.of(configMaps)
  if (registry === undefined) return
  const data = { [key]: kubeconfigText(server, caPem) }
  const context = apiServerContext('machines that join the cluster know it by that')
  const present = registry.peek(namespace, name)?.object as ConfigMap | undefined
  if (present?.data?.[key] === data[key]) return
  try {
    if (present === undefined) {
      await registry.create(context, namespace, { metadata: { name, namespace }, data }, options)
    } else {
      await registry.update(context, namespace, name, '', { ...present, data: { ...present.data, ...data } }, options)
    }
  } catch (error) {
    // Another server on the same store was faster, and can be joined as well.
    if (!hasReason(error, 'AlreadyExists') && !hasReason(error, 'Conflict')) throw error
  }
}

/** As kubeadm writes it. */
const kubeconfigText = (server: string, caPem: string): string => `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`
