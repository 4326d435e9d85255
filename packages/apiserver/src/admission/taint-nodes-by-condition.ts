import { type Node, nodes } from '@coracle/api'
import type { AdmissionPlugin } from './admission.ts'
import { creates } from './stored-objects.ts'

const notReady = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' } as const

/**
 * A node is created with the taint of one that is not ready: no pod is to come there before its agent has reported. The
 * node lifecycle controller takes it off when the node is ready.
 */
export const taintNodesByCondition: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  concerns: (target) => creates(target, nodes),
  mutate(_attributes, object) {
    const node = object as Node
    const taints = node.spec?.taints ?? []
    if (taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect)) return object
    return { ...node, spec: { ...node.spec, taints: [...taints, notReady] } } as Node
  },
}
