import type { Service } from '@coracle/api'
import { wantsAddresses } from './balanced.ts'

/** A port that a service takes on nodes. */
export interface Claim {
  /** As people write it: `80/TCP`. */
  readonly port: string
  /** At the addresses of nodes that it is given, at all addresses of all nodes, or at these. */
  readonly at: 'given' | 'nodes' | readonly string[]
}

/** `80/TCP`. */
export const portText = (port: number, protocol: string): string => `${port}/${protocol}`

/** All ports that a service takes, or would take with addresses of nodes. */
export function claimsOf(service: Service): readonly Claim[] {
  const { type, ports = [], externalIPs = [], healthCheckNodePort = 0 } = service.spec
  if (type === 'ExternalName') return []
  const isWanted = wantsAddresses(service)
  // What others balance may have addresses of nodes, too.
  const addresses = isWanted ? externalIPs : [...externalIPs, ...ingressOf(service)]
  const claims = ports.flatMap(({ port, protocol = 'TCP', nodePort = 0 }): readonly Claim[] => [
    ...(isWanted ? [{ port: portText(port, protocol), at: 'given' } as const] : []),
    ...(addresses.length > 0 ? [{ port: portText(port, protocol), at: addresses }] : []),
    ...(nodePort > 0 ? [{ port: portText(nodePort, protocol), at: 'nodes' } as const] : []),
  ])
  if (healthCheckNodePort === 0) return claims
  return [...claims, { port: portText(healthCheckNodePort, 'TCP'), at: 'nodes' }]
}

/** The addresses of what balances a service. */
export const ingressOf = ({ status }: Service): readonly string[] =>
  (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }) => (ip === '' ? [] : [ip]))
