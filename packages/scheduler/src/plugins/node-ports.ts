import { hostPortsOf } from '@coracle/api'
import type { NodePlugin, Refusal } from './plugin.ts'

const taken: Refusal = {
  reasons: ["node(s) didn't have free ports for the requested pod ports"],
  isHelpedByEviction: true,
}

/** A port of the node belongs to one pod at a time. */
export const nodePorts: NodePlugin = {
  name: 'NodePorts',
  scope: 'node',
  signature(spec) {
    const wanted = hostPortsOf(spec)
    return wanted.length === 0 ? undefined : wanted
  },
  filter({ spec }) {
    const wanted = hostPortsOf(spec)
    if (wanted.length === 0) return undefined
    return {
      refuse: ({ hostPorts }) => (hostPorts.collidesWith(wanted) ? taken : undefined),
    }
  },
}
