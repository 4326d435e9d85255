/** What an update of a Service leaves as it was although the client does not say it (registry/core/service). */
import { deepEqual } from '../../../equality.ts'
import type { Service, ServicePort, ServiceSpec } from './service-schema.ts'

/** A Service that is not a mere name has an address of its own, or says that it has none. */
export const needsClusterIp = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'

/** Whether each port is a port of the nodes as well. */
export const needsNodePort = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)

/** Whether ports may be ports of the nodes as well. */
const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'

/** Whether nodes tell a load balancer which of them have pods. */
export const needsHealthCheckNodePort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

/** Whether traffic from outside the cluster reaches it. */
export const isExternallyAccessible = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0)

/** The first address may be given by itself; so may a new one on update. */
export function withClusterIps(service: Service, old: Service | undefined): Service {
  const { clusterIP = '', clusterIPs = [] } = service.spec
  const before = old?.spec
  if (before === undefined) {
    return clusterIP !== '' && clusterIPs.length === 0 ? withSpec(service, { clusterIPs: [clusterIP] }) : service
  }
  if (clusterIP === (before.clusterIP ?? '')) {
    return clusterIPs.length === 0 ? withSpec(service, { clusterIPs: before.clusterIPs }) : service
  }
  if (!deepEqual(clusterIPs, before.clusterIPs ?? [])) return service
  return withSpec(service, { clusterIPs: clusterIP === '' ? undefined : [clusterIP] })
}

/** An update that does not name what has been allocated keeps it, as long as its type needs it. */
export function keepAllocated(service: Service, old: Service): Service {
  const [spec, before] = [service.spec, old.spec]
  const changes: { -readonly [K in keyof ServiceSpec]?: ServiceSpec[K] } = {}
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    changes.clusterIP = spec.clusterIP || before.clusterIP
    // Where the address is another one, all of them are, which shows afterwards.
    if ((spec.clusterIPs ?? []).length === 0) changes.clusterIPs = before.clusterIPs
  }
  if (needsNodePort(before) && needsNodePort(spec)) changes.ports = keepNodePorts(spec.ports ?? [], before.ports ?? [])
  if (needsHealthCheckNodePort(before) && needsHealthCheckNodePort(spec)) {
    changes.healthCheckNodePort = spec.healthCheckNodePort || before.healthCheckNodePort
  }
  return withSpec(service, changes)
}

/** A port of the same name keeps its node port, unless another port asks for that one. */
function keepNodePorts(ports: readonly ServicePort[], before: readonly ServicePort[]): readonly ServicePort[] {
  const nodePorts = (list: readonly ServicePort[]) => list.map(({ nodePort = 0 }) => nodePort)
  const asked = new Set(nodePorts(ports))
  const used = new Set(nodePorts(before).filter((port) => asked.has(port)))
  const byName = new Map(before.map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  return ports.map((port) => {
    const kept = byName.get(port.name ?? '') ?? 0
    if (port.nodePort || kept === 0 || used.has(kept)) return port
    used.add(kept)
    return { ...port, nodePort: kept }
  })
}

/** What a type has no use for goes with the change of the type, unless the client says something new about it. */
export function dropWhatTypeNoLongerNeeds(service: Service, old: Service): Service {
  const [spec, before] = [service.spec, old.spec]
  const changes: { -readonly [K in keyof ServiceSpec]?: ServiceSpec[K] } = {}
  const drop = (...fields: readonly (keyof ServiceSpec)[]): void => {
    if (fields.some((field) => !deepEqual(spec[field], before[field]))) return
    for (const field of fields) changes[field] = undefined
  }
  const isPast = (rule: (spec: ServiceSpec) => boolean): boolean => rule(before) && !rule(spec)
  if (isPast(needsClusterIp)) {
    drop('clusterIP', 'clusterIPs')
    drop('ipFamilies')
    drop('ipFamilyPolicy')
  }
  // Those of a load balancer that is to have none from now on stay until somebody takes them off.
  if (isPast(hasNodePorts) && namesNoNewNodePort(spec, before)) {
    changes.ports = spec.ports?.map(({ nodePort: _nodePort, ...port }) => port)
  }
  if (isPast(needsHealthCheckNodePort)) drop('healthCheckNodePort')
  if (isPast(({ type }) => type === 'LoadBalancer')) {
    drop('allocateLoadBalancerNodePorts')
    drop('loadBalancerClass')
  }
  if (isPast(isExternallyAccessible)) drop('externalTrafficPolicy')
  return withoutStrayIngress(withSpec(service, changes))
}

/** What is no load balancer is not reached through one: people need not know that one is taken down later. */
function withoutStrayIngress(service: Service): Service {
  const { spec, status } = service
  if (spec.type === 'LoadBalancer' || status?.loadBalancer?.ingress === undefined) return service
  return { ...service, status: { ...status, loadBalancer: {} } }
}

/** A mere name has no traffic policy: upstream takes one, and never shows it. */
export function withoutPolicyOfName(service: Service): Service {
  const { type, internalTrafficPolicy } = service.spec
  const isDropped = internalTrafficPolicy === 'Cluster' || internalTrafficPolicy === 'Local'
  return type === 'ExternalName' && isDropped ? withSpec(service, { internalTrafficPolicy: undefined }) : service
}

/** Ports may come and go with the type, as long as none asks for a node port of its own. */
function namesNoNewNodePort(spec: ServiceSpec, before: ServiceSpec): boolean {
  const known = new Set((before.ports ?? []).map(({ nodePort = 0 }) => nodePort))
  return (spec.ports ?? []).every(({ nodePort = 0 }) => nodePort === 0 || known.has(nodePort))
}

function withSpec(service: Service, changes: Partial<Record<keyof ServiceSpec, unknown>>): Service {
  const changed = Object.entries(changes).filter(([field, value]) => value !== service.spec[field as keyof ServiceSpec])
  if (changed.length === 0) return service
  const spec: Record<string, unknown> = { ...service.spec }
  for (const [field, value] of changed) {
    if (value === undefined) delete spec[field]
    else spec[field] = value
  }
  return { ...service, spec }
}
