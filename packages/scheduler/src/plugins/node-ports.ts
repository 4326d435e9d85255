import { hostPortsCollide, hostPortsOf } from '@coracle/api'
import { type Filter, fits } from './plugin.ts'

const taken = ["node(s) didn't have free ports for the requested pod ports"] as const

/** A port of the node belongs to one pod at a time. */
export const nodePorts: Filter = {
  name: 'NodePorts',
  helpedByEviction: () => true,
  prepare(pod) {
    const wanted = hostPortsOf(pod.spec)
    if (wanted.length === 0) return undefined
    return ({ hostPorts }) =>
      wanted.some((port) => hostPorts.some((used) => hostPortsCollide(port, used))) ? taken : fits
  },
}
