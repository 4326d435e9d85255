import type { NodePlugin, Refusal } from './plugin.ts'

const otherNode: Refusal = {
  reasons: ["node(s) didn't match the requested node name"],
  isHelpedByEviction: false,
}

/** A pod that names its node goes nowhere else. */
export const nodeName: NodePlugin = {
  name: 'NodeName',
  scope: 'node',
  signature: ({ nodeName }) => nodeName,
  filter({ spec: { nodeName: wanted } }) {
    return wanted ? { refuse: ({ node }) => (node.metadata.name === wanted ? undefined : otherNode) } : undefined
  },
}
