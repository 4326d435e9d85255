import type { Pod } from '@coracle/api'
import type { ObjectKey } from '@coracle/client'

/** The key that addresses a pod. */
export function podKey({ metadata: { namespace, name = '' } }: Pod): ObjectKey {
  return namespace === undefined ? { name } : { namespace, name }
}
