import { hasReason } from '@coracle/api'
import { apiServerContext } from '../api-server-user.ts'
import type { Registries } from '../registries.ts'

/** The namespaces every cluster has. */
export const firstNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system']

const options = { dryRun: false, fieldManager: 'coracle', fieldValidation: 'Strict' } as const

/** Creates those of the first namespaces that are not there. */
export async function createNamespaces(registries: Registries): Promise<void> {
  const namespaces = registries.byResource('', 'v1', 'namespaces')
  if (namespaces === undefined) return
  await Promise.all(
    firstNamespaces.map(async (name) => {
      if ((await namespaces.current('', name)) !== undefined) return
      try {
        await namespaces.create(apiServerContext, '', { metadata: { name } }, options)
      } catch (error) {
        // Another server on the same store was faster.
        if (!hasReason(error, 'AlreadyExists')) throw error
      }
    }),
  )
}
