import { type Namespace, type NamespaceStatus, type ServiceAccount, serviceAccounts } from '@coracle/api'
import type { Plan } from '@coracle/controller-runtime'

/** The service account that pods run as which name none. */
export const defaultServiceAccountName = 'default'

/** Gives every namespace that is not going its default service account. Pure. */
export function planServiceAccount(
  namespace: Namespace,
  defaultAccount: ServiceAccount | undefined,
): Plan<NamespaceStatus> {
  const isGoing = namespace.metadata.deletionTimestamp !== undefined || namespace.status?.phase === 'Terminating'
  if (isGoing || defaultAccount !== undefined) return { actions: [] }
  const metadata = { namespace: namespace.metadata.name, name: defaultServiceAccountName }
  const object: ServiceAccount = { apiVersion: 'v1', kind: 'ServiceAccount', metadata }
  return {
    actions: [
      { type: 'create', resource: serviceAccounts, object, because: 'the namespace has no default service account' },
    ],
  }
}
