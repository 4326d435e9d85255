import { type CauseClaim, type Node, type Pod, shortened } from '@coracle/api'

/**
 * What a node agent says of why it writes about a pod or a node. `written` is the version that it made itself last: a newer one is
 * what it acts on; otherwise what happened on the node is.
 */
export function agentCause(object: Pod | Node, because: string, written: string | undefined): CauseClaim {
  const { namespace, name = '', uid, resourceVersion } = object.metadata
  const revision = Number(resourceVersion)
  const isNew = resourceVersion !== written && Number.isSafeInteger(revision) && revision > 0
  return {
    because: shortened(because),
    reconcile: {
      controller: 'kubelet',
      object: {
        apiVersion: 'v1',
        kind: object.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
      },
      seen: isNew ? [revision] : [],
    },
  }
}
