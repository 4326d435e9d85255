import { kindSchema } from '../../meta.ts'
import { atomicList, int32, literal, object, optional, pointer, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { typedLocalObjectReference } from '../core/common.ts'
import { networkingV1 } from './names.ts'

export interface ServiceBackendPort extends Infer<typeof serviceBackendPort> {}
export const serviceBackendPort = object(
  `${networkingV1}.ServiceBackendPort`,
  'A port of a service, by name or by number.',
  {
    name: optional(string(), 'Name of the port. Not together with number.'),
    number: optional(int32(), 'Number of the port. Not together with name.'),
  },
  { mapType: 'atomic' },
)

export interface IngressServiceBackend extends Infer<typeof ingressServiceBackend> {}
export const ingressServiceBackend = object(`${networkingV1}.IngressServiceBackend`, 'A port of a service.', {
  name: required(string(), 'Name of the service, in the namespace of the ingress.'),
  port: optional(serviceBackendPort, 'The port.', { default: {}, byValue: true }),
})

export interface IngressBackend extends Infer<typeof ingressBackend> {}
export const ingressBackend = object(
  `${networkingV1}.IngressBackend`,
  'Where requests go: to a service or to something else.',
  {
    service: optional(ingressServiceBackend, 'A service. Not together with resource.'),
    resource: optional(typedLocalObjectReference, 'An object that the controller knows. Not together with service.'),
  },
)

export interface HttpIngressPath extends Infer<typeof httpIngressPath> {}
export const httpIngressPath = object(
  `${networkingV1}.HTTPIngressPath`,
  'Where requests for some paths of a host go.',
  {
    path: optional(string(), 'The path, which begins with a slash. It is needed for Exact and Prefix.'),
    pathType: required(
      literal<'Exact' | 'Prefix' | 'ImplementationSpecific' | ''>(),
      'Whether the path is meant Exactly, with all below it (Prefix), or as the controller has it.',
      { pointer: true, absenceIsToldByRules: true },
    ),
    backend: required(ingressBackend, 'Where the requests go.', { default: {}, byValue: true }),
  },
  { checkedOrder: ['pathType', 'path', 'backend'] },
)

export interface HttpIngressRuleValue extends Infer<typeof httpIngressRuleValue> {}
export const httpIngressRuleValue = object(
  `${networkingV1}.HTTPIngressRuleValue`,
  'Where requests over HTTP go, by their path.',
  { paths: required(atomicList(httpIngressPath), 'The paths.', { default: [] }) },
)

export interface IngressRule extends Infer<typeof ingressRule> {}
export const ingressRule = object(`${networkingV1}.IngressRule`, 'Where requests for a host go.', {
  host: optional(string(), 'Name of the host: *.example.com is any one label below it, and an absent one all hosts.'),
  http: optional(httpIngressRuleValue, 'Where requests go, by their path.'),
})

export interface IngressTls extends Infer<typeof ingressTls> {}
export const ingressTls = object(`${networkingV1}.IngressTLS`, 'A certificate for some hosts.', {
  hosts: optional(atomicList(string()), 'The hosts; those of the certificate unless set.'),
  secretName: optional(string(), 'Secret with the certificate and its key.'),
})

export interface IngressSpec extends Infer<typeof ingressSpec> {}
export const ingressSpec = object(
  `${networkingV1}.IngressSpec`,
  'Where requests from outside go.',
  {
    ingressClassName: pointer(string(), 'The IngressClass, and by it the controller, that sees to the ingress.'),
    defaultBackend: optional(ingressBackend, 'Where requests go that no rule is about.'),
    rules: optional(atomicList(ingressRule), 'Where requests go, by their host and path.'),
    tls: optional(atomicList(ingressTls), 'Certificates for hosts, chosen by the name that a client asks for.'),
  },
  { checkedOrder: ['defaultBackend', 'rules', 'tls', 'ingressClassName'] },
)

export interface IngressPortStatus extends Infer<typeof ingressPortStatus> {}
export const ingressPortStatus = object(`${networkingV1}.IngressPortStatus`, 'How a port is doing.', {
  port: required(int32(), 'Number of the port.', { default: 0 }),
  protocol: required(literal<'TCP' | 'UDP' | 'SCTP' | ''>(), 'TCP, UDP or SCTP.', { default: '' }),
  error: pointer(string(), 'Why it could not be opened, in one CamelCase word or a name with a prefix.'),
})

export interface IngressLoadBalancerIngress extends Infer<typeof ingressLoadBalancerIngress> {}
export const ingressLoadBalancerIngress = object(
  `${networkingV1}.IngressLoadBalancerIngress`,
  'An address at which requests arrive.',
  {
    ip: optional(string(), 'The address, where it is an IP.'),
    hostname: optional(string(), 'The address, where it is a name.'),
    ports: optional(atomicList(ingressPortStatus), 'The ports there.'),
  },
)

export interface IngressLoadBalancerStatus extends Infer<typeof ingressLoadBalancerStatus> {}
export const ingressLoadBalancerStatus = object(
  `${networkingV1}.IngressLoadBalancerStatus`,
  'Addresses and ports of the load balancer.',
  {
    ingress: optional(atomicList(ingressLoadBalancerIngress), 'The addresses at which they arrive.'),
  },
)

export interface IngressStatus extends Infer<typeof ingressStatus> {}
export const ingressStatus = object(`${networkingV1}.IngressStatus`, 'What the controller says of an ingress.', {
  loadBalancer: optional(ingressLoadBalancerStatus, 'Where requests arrive.', { default: {}, byValue: true }),
})

/** Rules by which requests from outside reach services. */
export interface Ingress extends Infer<typeof ingressSchema> {}
export const ingressSchema = kindSchema(
  `${networkingV1}.Ingress`,
  'Rules by which requests from outside reach services. A controller, chosen by class, carries them out.',
  {
    spec: optional(ingressSpec, 'Where requests go.', { default: {} }),
    status: optional(ingressStatus, 'What the controller says of it.', { default: {} }),
  },
)
