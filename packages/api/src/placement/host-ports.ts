import { isSidecar } from '../kinds/core/pod/container.ts'
import type { PodSpec } from '../kinds/core/pod/pod-spec.ts'

/** A port of the node that a pod occupies. */
export interface HostPort {
  readonly ip: string
  readonly protocol: string
  readonly port: number
}

/** Stands for all addresses of the node, and for none being given. */
const anyAddress = '0.0.0.0'

/** The ports of its node that a pod occupies as long as it runs: those of containers and sidecars (upstream's NodePorts). */
export function hostPortsOf({
  containers,
  initContainers = [],
}: Pick<PodSpec, 'containers' | 'initContainers'>): readonly HostPort[] {
  return [...containers, ...initContainers.filter(isSidecar)].flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostIP, protocol, hostPort = 0 }) =>
      hostPort > 0 ? [{ ip: hostIP || anyAddress, protocol: protocol || 'TCP', port: hostPort }] : [],
    ),
  )
}

/** The ports of a node that its pods occupy. One may be there several times, as long as those who occupy it come and go. */
export class HostPorts {
  /** By protocol and number, how often each address is there. */
  readonly addresses = new Map<string, Map<string, number>>()

  add(ports: readonly HostPort[]): void {
    for (const { ip, protocol, port } of ports) {
      const key = `${protocol} ${port}`
      let counts = this.addresses.get(key)
      if (counts === undefined) {
        counts = new Map()
        this.addresses.set(key, counts)
      }
      counts.set(ip, (counts.get(ip) ?? 0) + 1)
    }
  }

  remove(ports: readonly HostPort[]): void {
    for (const { ip, protocol, port } of ports) {
      const key = `${protocol} ${port}`
      const counts = this.addresses.get(key)
      const count = counts?.get(ip) ?? 0
      if (count > 1) counts?.set(ip, count - 1)
      else if (counts?.delete(ip) && counts.size === 0) this.addresses.delete(key)
    }
  }

  /** Whether a pod with these ports cannot be on the node as well: one of them is occupied at its address, or at all of them. */
  collidesWith(ports: readonly HostPort[]): boolean {
    return ports.some(({ ip, protocol, port }) => {
      const counts = this.addresses.get(`${protocol} ${port}`)
      return counts !== undefined && (ip === anyAddress || counts.has(ip) || counts.has(anyAddress))
    })
  }
}
