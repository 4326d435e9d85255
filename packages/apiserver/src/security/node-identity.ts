import type { User } from '../request.ts'

const userPrefix = 'system:node:'

/** The node an identity belongs to; undefined for whoever is no node agent (upstream's auth/nodeidentifier). */
export function nodeOf({ name, groups }: User): string | undefined {
  return groups.includes('system:nodes') && name.startsWith(userPrefix) ? name.slice(userPrefix.length) : undefined
}

/** Where node agents keep their leases. */
export const nodeLeaseNamespace = 'kube-node-lease'

/** What marks the API's copy of a pod that a node agent was given in another way. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror'
