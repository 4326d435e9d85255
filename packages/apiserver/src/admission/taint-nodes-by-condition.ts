import { type Node, nodes } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const

/**
 * A node is created with the taint of one that is not ready: no pod is to come there before its agent has reported. The
 * node lifecycle controller takes it off when the node is ready.
 */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate({ operation, definition, subresource }, object) {
    if (operation !== 'CREATE' || subresource !== '') return object
    if (definition.plural !== nodes.plural || definition.group !== nodes.group) return object
    const node = object as Node
    const taints = node.spec?.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return object
    return { ...node, spec: { ...node.spec, taints: [...taints, notReady] } } as Node
  },
}
