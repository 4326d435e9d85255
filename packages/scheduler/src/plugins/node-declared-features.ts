import { mayRestartAll, type PodSpec } from '@coracle/api'
import type { NodePlugin, Refusal } from './plugin.ts'

const missing: Refusal = { reasons: ["node(s) didn't match Pod's required features"], isHelpedByEviction: false }

/** Pods that need something of their node which not every version of the node agent can do go where that is declared (KEP-5328). */
export const nodeDeclaredFeatures: NodePlugin = {
  name: 'NodeDeclaredFeatures',
  scope: 'node',
  signature: (spec) => requiredFeature(spec),
  filter(pod) {
    const required = requiredFeature(pod.spec)
    if (required === undefined) return undefined
    return { refuse: ({ node }) => (node.status?.declaredFeatures?.includes(required) ? undefined : missing) }
  },
}

/** Of the features that upstream's node agents declare, a pod's spec asks for one alone. */
const requiredFeature = (spec: PodSpec): string | undefined =>
  mayRestartAll(spec) ? 'RestartAllContainersOnContainerExits' : undefined
