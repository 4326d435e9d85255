import { type HostPort, hostPortsOf } from '../pod-request.ts'
import { type Filter, fits } from './plugin.ts'

const taken = ["node(s) didn't have free ports for the requested pod ports"] as const

/** A port of the node belongs to one pod at a time. */
export const nodePorts: Filter = {
  name: 'NodePorts',
  helpedByEviction: () => true,
  prepare(pod) {
    const wanted = hostPortsOf(pod)
    if (wanted.length === 0) return undefined
    return ({ hostPorts }) => (wanted.some((port) => hostPorts.some((used) => collide(port, used))) ? taken : fits)
  },
}

/** The address 0.0.0.0 stands for all of them. */
function collide(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === '0.0.0.0' || b.ip === '0.0.0.0')
}
