import type { Pod } from '@coracle/api'
import type { IndexFunction } from '@coracle/client'

/** The index of pods by the node they are bound to. */
export const nodeIndexName = 'node'

/** Files a pod under the name of its node. */
export const byNode: IndexFunction<Pod> = ({ spec: { nodeName } }) => (isBound(nodeName) ? [nodeName] : [])

/** Whether this is the node of a pod that has one. */
export const isBound = (nodeName: string | undefined): nodeName is string => nodeName !== undefined && nodeName !== ''
