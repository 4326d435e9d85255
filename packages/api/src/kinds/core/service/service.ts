import { compareText } from '../../../compare-text.ts'
import { mapShared, withFields } from '../../../schema/with-fields.ts'
import { formatLabels } from '../../../selectors.ts'
import { ageColumn, column, nameColumn, wideColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { proxyVerbs } from '../proxy-options.ts'
import {
  loadBalancerIngress,
  type Service,
  type ServicePort,
  type ServiceSpec,
  servicePort,
  serviceSchema,
  serviceSpec,
  serviceStatus,
} from './service-schema.ts'
import {
  dropWhatTypeNoLongerNeeds,
  isExternallyAccessible,
  keepAllocated,
  withClusterIps,
  withoutPolicyOfName,
} from './service-update.ts'
import {
  ingressWarnings,
  serviceWarnings,
  validateService,
  validateServiceStatus,
  validateServiceUpdate,
} from './service-validation.ts'

const clientIpTimeoutSecondsDefault = 10_800

/** core/v1 SetDefaults_Service. */
function withDefaults(service: Service): Service {
  const { spec: given, status } = service
  const spec = withFields(serviceSpec, withAffinityConfig(given), {
    ports: mapShared(given.ports, portDefaults),
    ...(isExternallyAccessible(given) ? { externalTrafficPolicy: given.externalTrafficPolicy ?? 'Cluster' } : {}),
    ...(given.type === 'ExternalName' ? {} : { internalTrafficPolicy: given.internalTrafficPolicy ?? 'Cluster' }),
    ...(given.type === 'LoadBalancer'
      ? { allocateLoadBalancerNodePorts: given.allocateLoadBalancerNodePorts ?? true }
      : {}),
  })
  const complete = withFields(serviceSchema, service, { spec })
  const ingress = mapShared(status?.loadBalancer?.ingress, (each) =>
    each.ip && each.ipMode === undefined ? withFields(loadBalancerIngress, each, { ipMode: 'VIP' }) : each,
  )
  if (status === undefined || ingress === status.loadBalancer?.ingress) return complete
  const loadBalancer = { ...status.loadBalancer, ingress }
  return { ...complete, status: withFields(serviceStatus, status, { loadBalancer }) }
}

/** How long a client keeps its pod is said exactly where it keeps one. */
function withAffinityConfig(spec: ServiceSpec): ServiceSpec {
  if (spec.sessionAffinity === 'ClientIP') {
    if (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds !== undefined) return spec
    const sessionAffinityConfig = { clientIP: { timeoutSeconds: clientIpTimeoutSecondsDefault } }
    return withFields(serviceSpec, spec, { sessionAffinityConfig })
  }
  if (spec.sessionAffinity !== 'None' || spec.sessionAffinityConfig === undefined) return spec
  const { sessionAffinityConfig: _config, ...rest } = spec
  return rest
}

function portDefaults(port: ServicePort): ServicePort {
  const targetPort = port.targetPort === undefined || port.targetPort === 0 || port.targetPort === ''
  return targetPort ? withFields(servicePort, port, { targetPort: port.port }) : port
}

/** Where a Service is reached from outside the cluster. */
function externalText({ spec, status }: Service): string {
  const { type, externalIPs = [], externalName = '' } = spec
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || '<none>'
    case 'LoadBalancer': {
      const ingress = status?.loadBalancer?.ingress ?? []
      const ways = new Set(ingress.flatMap(({ ip, hostname }) => ip || hostname || []))
      return [...[...ways].sort(compareText), ...externalIPs].join(',') || '<pending>'
    }
    case 'ExternalName':
      return externalName
    default:
      return '<unknown>'
  }
}

const portText = ({ port, nodePort, protocol = 'TCP' }: ServicePort): string =>
  nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`

/** `v1` services. */
export const services = kind<Service>(serviceSchema, {
  plural: 'services',
  subresources: { proxy: { kind: 'ServiceProxyOptions', verbs: proxyVerbs, proxies: true } },
  shortNames: ['svc'],
  categories: ['all'],
  // Also one that begins with a digit: https://kep.k8s.io/5311.
  nameFormat: 'dns1123-label',
  columns: [
    nameColumn,
    column('Type', ({ spec }) => spec.type ?? '', { field: 'spec.type' }),
    column('Cluster-IP', ({ spec }) => spec.clusterIPs?.[0] ?? '<none>', { field: 'spec.clusterIP' }),
    column('External-IP', externalText, { field: 'spec.externalIPs' }),
    column('Port(s)', ({ spec }) => (spec.ports ?? []).map(portText).join(',') || '<none>', { field: 'spec.ports' }),
    ageColumn,
    wideColumn('Selector', ({ spec }) => formatLabels(spec.selector), { field: 'spec.selector' }),
  ],
  selectableFields: {
    'spec.clusterIP': ({ spec }) => spec.clusterIP ?? '',
    'spec.type': ({ spec }) => spec.type ?? '',
  },
  rules: { createsOnUpdate: true, returnsDeletedObject: true },
  defaults: withDefaults,
  prepareForCreate: (service) =>
    withClusterIps({ ...withoutPolicyOfName(service), status: { loadBalancer: {} } }, undefined),
  prepareForUpdate: (service, old) =>
    withoutPolicyOfName(dropWhatTypeNoLongerNeeds(withClusterIps(keepAllocated(service, old), old), old)),
  validate: validateService,
  validateUpdate: validateServiceUpdate,
  validateStatusUpdate: validateServiceStatus,
  warnings: serviceWarnings,
  statusWarnings: ({ status }) => ingressWarnings(status?.loadBalancer?.ingress ?? []),
})
