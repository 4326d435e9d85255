import type { Event, Ingress, IngressBackend, IngressClass } from '@coracle/api'
import { Description } from './description.ts'
import { describeEvents } from './events.ts'
import { describeAnnotations, describeIdentity, describeLabels } from './metadata.ts'

/** Where the Service of a backend leads: what stands in brackets after it, such as `10.0.0.1:80`. */
export type BackendEndpoints = (service: NonNullable<IngressBackend['service']>) => string

/** An Ingress in detail (kubectl's describeIngressV1). */
export function describeIngress(
  { metadata, spec, status }: Ingress,
  endpointsOf: BackendEndpoints,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  text.field(0, 'Name', metadata.name ?? '')
  describeLabels(text, 0, 'Labels', metadata.labels)
  text.field(0, 'Namespace', metadata.namespace ?? '')
  const addresses = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip || hostname || [])
  text.field(0, 'Address', [...new Set(addresses)].sort().join(','))
  text.field(0, 'Ingress Class', spec?.ingressClassName ?? '<none>')
  const fallback = spec?.defaultBackend === undefined ? '<default>' : backendText(spec.defaultBackend, endpointsOf)
  text.field(0, 'Default backend', fallback)
  const tls = spec?.tls ?? []
  if (tls.length > 0) text.heading(0, 'TLS')
  for (const { secretName, hosts = [] } of tls) {
    text.line(1, `${secretName ? `${secretName} terminates` : 'SNI routes'} ${hosts.join(',')}`)
  }
  text.heading(0, 'Rules').line(1, 'Host\tPath\tBackends').line(1, '----\t----\t--------')
  const rules = (spec?.rules ?? []).filter(({ http }) => http !== undefined)
  for (const { host, http } of rules) {
    text.line(1, `${host || '*'}\t`)
    for (const { path = '', backend } of http?.paths ?? [])
      text.line(2, `\t${path} \t${backendText(backend, endpointsOf)}`)
  }
  if (rules.length === 0) text.line(1, `*\t*\t${fallback}`)
  describeAnnotations(text, 0, metadata.annotations)
  describeEvents(text, events, nowMs)
  return text.toString()
}

/** The Services that an Ingress leads to. */
export function backendServices({ spec }: Ingress): readonly string[] {
  const backends = [
    spec?.defaultBackend,
    ...(spec?.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ]
  return [...new Set(backends.flatMap((backend) => backend?.service?.name ?? []))]
}

function backendText({ service, resource }: IngressBackend, endpointsOf: BackendEndpoints): string {
  if (service !== undefined) {
    const { number, name = '' } = service.port ?? {}
    return `${service.name}:${number || name} (${endpointsOf(service)})`
  }
  if (resource === undefined) return ''
  return `APIGroup: ${resource.apiGroup ?? '<none>'}, Kind: ${resource.kind}, Name: ${resource.name}`
}

/** An IngressClass in detail (kubectl's describeIngressClassV1). */
export function describeIngressClass(
  { metadata, spec }: IngressClass,
  events: readonly Event[] | undefined,
  nowMs: number,
): string {
  const text = new Description()
  describeIdentity(text, metadata)
  text.field(0, 'Controller', spec?.controller ?? '')
  if (spec?.parameters !== undefined) {
    const { apiGroup, kind, name } = spec.parameters
    text.heading(0, 'Parameters')
    if (apiGroup !== undefined) text.field(1, 'APIGroup', apiGroup)
    text.field(1, 'Kind', kind).field(1, 'Name', name)
  }
  describeEvents(text, events, nowMs)
  return text.toString()
}
