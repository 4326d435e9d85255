import { isIP } from 'node:net'
import type { Node } from '@coracle/api'

/** Where the agent of a node listens, by what the node says of itself. */
export interface NodeEndpoint {
  readonly host: string
  readonly port: number
}

/** In which order addresses of a node are considered: kubeadm's --kubelet-preferred-address-types, and what has no such name last. */
const preferredTypes = ['InternalIP', 'ExternalIP', 'InternalDNS', 'ExternalDNS', 'Hostname']

/**
 * The endpoint of a node's agent: the first of its addresses in the order of preference, and the port of its kubelet. Undefined where it
 * says no port, or nothing that could be an address. What a status says is only where to look: who answers there must prove to be the node.
 */
export function nodeEndpoint({ status }: Node): NodeEndpoint | undefined {
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  if (port < 1 || port > 0xffff) return undefined
  for (const type of preferredTypes) {
    const host = status?.addresses?.find((each) => each.type === type)?.address
    if (host !== undefined && isReachable(host)) return { host, port }
  }
  return undefined
}

/** Not nobody's, and not many's. */
function isReachable(host: string): boolean {
  switch (isIP(host)) {
    case 4:
      return !/^(0\.|22[4-9]\.|23\d\.|255\.255\.255\.255$)/.test(host)
    case 6:
      return !/^(::$|ff)/i.test(host)
    default:
      return /^[a-z\d]([-.a-z\d]*[a-z\d])?$/i.test(host)
  }
}

/** `10.0.0.2:10250` */
export const endpointText = ({ host, port }: NodeEndpoint): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
