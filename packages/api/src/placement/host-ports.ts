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

/** Whether two pods cannot have both on one node. */
export function hostPortsCollide(a: HostPort, b: HostPort): boolean {
  return a.port === b.port && a.protocol === b.protocol && (a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress)
}
