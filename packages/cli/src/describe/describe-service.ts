import { type EndpointSlice, type Event, formatLabels, type Service } from '@coracle/api'
import { Description } from './description.ts'
import { endpointsText } from './endpoints-text.ts'
import { describeEvents } from './events.ts'
import { describeIdentity } from './metadata.ts'

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

/** A Service in detail (kubectl's describeService); `slices` are those that say where it leads. */
export function describeService(
  service: Service,
  slices: readonly EndpointSlice[],
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const { metadata, spec = {}, status } = service
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'Selector', formatLabels(spec.selector)).field(0, 'Type', spec.type ?? '')
  if (spec.ipFamilyPolicy !== undefined) text.field(0, 'IP Family Policy', spec.ipFamilyPolicy)
  if ((spec.ipFamilies ?? []).length > 0) text.field(0, 'IP Families', (spec.ipFamilies ?? []).join(','))
  else text.field(0, 'IP Families', '<none>')
  text.field(0, 'IP', spec.clusterIP ?? '')
  if ((spec.clusterIPs ?? []).length > 0) text.field(0, 'IPs', (spec.clusterIPs ?? []).join(','))
  else text.field(0, 'IPs', '<none>')
  if ((spec.externalIPs ?? []).length > 0) text.field(0, 'External IPs', (spec.externalIPs ?? []).join(','))
  if (spec.loadBalancerIP) text.field(0, 'Desired LoadBalancer IP', spec.loadBalancerIP)
  if (spec.externalName) text.field(0, 'External Name', spec.externalName)
  const ingress = (status?.loadBalancer?.ingress ?? []).map(({ ip, ipMode, hostname = '' }) => {
    if (!ip) return hostname
    return ipMode === undefined ? ip : `${ip} (${ipMode})`
  })
  if (ingress.length > 0) text.field(0, 'LoadBalancer Ingress', ingress.join(', '))
  for (const port of spec.ports ?? []) describePort(text, port, slices)
  text.field(0, 'Session Affinity', spec.sessionAffinity ?? '')
  if (spec.externalTrafficPolicy) text.field(0, 'External Traffic Policy', spec.externalTrafficPolicy)
  if (spec.internalTrafficPolicy) text.field(0, 'Internal Traffic Policy', spec.internalTrafficPolicy)
  if (spec.healthCheckNodePort) text.field(0, 'HealthCheck NodePort', spec.healthCheckNodePort)
  const sources = spec.loadBalancerSourceRanges ?? []
  if (sources.length > 0) text.field(0, 'LoadBalancer Source Ranges', sources.join(','))
  if (spec.trafficDistribution) text.field(0, 'Traffic Distribution', spec.trafficDistribution)
  describeEvents(text, events, nowMs)
  return text.toString()
}

function describePort(text: Description, port: ServicePort, slices: readonly EndpointSlice[]): void {
  const { protocol = 'TCP', name, appProtocol } = port
  text.field(0, 'Port', `${name || '<unset>'}\t${port.port}/${protocol}`)
  text.field(0, 'TargetPort', `${port.targetPort ?? port.port}/${protocol}`)
  if (appProtocol !== undefined) text.field(0, 'AppProtocol', appProtocol)
  if (port.nodePort) text.field(0, 'NodePort', `${name || '<unset>'}\t${port.nodePort}/${protocol}`)
  text.field(0, 'Endpoints', endpointsText(name ?? '', slices))
}
