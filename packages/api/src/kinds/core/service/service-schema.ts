import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  boolean,
  defaulted,
  enumOf,
  int32,
  intOrString,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  required,
  string,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { condition } from '../../meta/condition.ts'
import { coreV1 } from '../../meta/names.ts'

/** The address of a Service that has none: its pods are found by their own. */
export const noClusterIp = 'None'

/** The Service by which pods find the API. */
export const apiServiceKey = { namespace: 'default', name: 'kubernetes' } as const

/** The Service by which pods reach who answers names of the cluster, as kubeadm calls it. */
export const dnsServiceKey = { namespace: 'kube-system', name: 'kube-dns' } as const

export interface ServicePort extends Infer<typeof servicePort> {}
export const servicePort = object(
  `${coreV1}.ServicePort`,
  'A port of a service, and where it leads.',
  {
    name: optional(string(), 'Name of the port. Must be there where there are several.'),
    protocol: optional(enumOf('SCTP', 'TCP', 'UDP'), 'TCP, UDP or SCTP; TCP unless set.', { default: 'TCP' }),
    appProtocol: pointer(string(), 'What is spoken on the port, such as kubernetes.io/h2c or https.'),
    port: required(int32(), 'The port that clients use.', { default: 0 }),
    targetPort: optional(
      intOrString,
      'The port of the pods, by number or by the name it has in the container. The same as port unless set.',
      { byValue: true },
    ),
    nodePort: optional(
      int32(),
      'The port on every node, with type NodePort or LoadBalancer. The server picks one unless set.',
    ),
  },
  { checkedOrder: ['name', 'port', 'protocol', 'targetPort', 'appProtocol', 'nodePort'] },
)

export interface ClientIpConfig extends Infer<typeof clientIpConfig> {}
export const clientIpConfig = object(`${coreV1}.ClientIPConfig`, 'How long a client keeps its pod.', {
  timeoutSeconds: pointer(int32(), 'Seconds after its last connection; 10800 unless set.'),
})

export interface SessionAffinityConfig extends Infer<typeof sessionAffinityConfig> {}
export const sessionAffinityConfig = object(`${coreV1}.SessionAffinityConfig`, 'How clients keep their pod.', {
  clientIP: optional(clientIpConfig, 'For clients that are told apart by their address.'),
})

export interface ServiceSpec extends Infer<typeof serviceSpec> {}
export const serviceSpec = object(
  `${coreV1}.ServiceSpec`,
  'Which pods are behind the service, and by which addresses and ports they are reached.',
  {
    ports: optional(
      mapList(servicePort, ['port', 'protocol'], { patchMergeKey: 'port', duplicates: 'allowed' }),
      'The ports that clients use, and where each leads.',
    ),
    selector: optional(
      mapOf(string(), { mapType: 'atomic' }),
      'Labels of the pods behind the service. Without it somebody else says what is behind.',
    ),
    clusterIP: optional(
      string(),
      'The address of the service in the cluster. The server picks one unless set; None for none at all, an empty one with ExternalName.',
    ),
    clusterIPs: optional(
      atomicList(string()),
      'The addresses of the service, one for each family of addresses; the first is clusterIP.',
    ),
    type: optional(
      enumOf('ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'),
      'ClusterIP: reached within the cluster. NodePort: on a port of every node as well. LoadBalancer: by a load balancer of the surroundings as well. ExternalName: another name for something elsewhere. ClusterIP unless set.',
      { default: 'ClusterIP' },
    ),
    externalIPs: optional(
      atomicList(string()),
      'Addresses that lead to nodes by other means, at which nodes take traffic for the service too.',
    ),
    sessionAffinity: optional(enumOf('ClientIP', 'None'), 'ClientIP: a client stays with its pod. None unless set.', {
      default: 'None',
    }),
    loadBalancerIP: optional(
      string(),
      'The address that a load balancer is to have, where it can be asked for. Deprecated.',
    ),
    loadBalancerSourceRanges: optional(
      atomicList(string()),
      'Ranges of addresses that a load balancer takes traffic from; all unless set.',
    ),
    externalName: optional(string(), 'The name in DNS that the service stands for, with type ExternalName.'),
    externalTrafficPolicy: optional(
      enumOf('Cluster', 'Local'),
      'Where traffic from outside may go: to any pod, or to those on the node that it reached.',
    ),
    healthCheckNodePort: optional(
      int32(),
      'The port where nodes tell a load balancer whether they have pods, with externalTrafficPolicy Local.',
    ),
    publishNotReadyAddresses: optional(boolean, 'Whether pods count as endpoints before they are ready.'),
    sessionAffinityConfig: optional(
      sessionAffinityConfig,
      'How clients keep their pod, with sessionAffinity ClientIP.',
    ),
    ipFamilies: optional(
      atomicList(string()),
      'IPv4, IPv6 or both: the families of addresses that the service has, the first being that of clusterIP.',
    ),
    ipFamilyPolicy: pointer(
      enumOf('PreferDualStack', 'RequireDualStack', 'SingleStack'),
      'Whether the service has addresses of one family or two. SingleStack unless set.',
    ),
    allocateLoadBalancerNodePorts: pointer(
      boolean,
      'Whether a service of type LoadBalancer has ports on the nodes as well. True unless set.',
    ),
    loadBalancerClass: pointer(
      string(),
      'Which load balancer is to serve it, with type LoadBalancer. It cannot be changed.',
    ),
    internalTrafficPolicy: pointer(
      enumOf('Cluster', 'Local'),
      'Where traffic from pods may go: to any pod, or to those on the same node. Cluster unless set.',
    ),
    trafficDistribution: pointer(
      enumOf('PreferClose', 'PreferSameZone', 'PreferSameNode'),
      'Which pods are better than others: PreferSameZone, or PreferSameNode. PreferClose is the old name of the first.',
    ),
  },
  {
    checkedOrder: [
      'ports',
      'externalName',
      'selector',
      'sessionAffinity',
      'sessionAffinityConfig',
      'ipFamilyPolicy',
      'ipFamilies',
      'clusterIPs',
      'clusterIP',
      'externalIPs',
      'type',
      'loadBalancerSourceRanges',
      'allocateLoadBalancerNodePorts',
      'loadBalancerClass',
      'externalTrafficPolicy',
      'healthCheckNodePort',
      'internalTrafficPolicy',
      'trafficDistribution',
    ],
  },
)

export interface PortStatus extends Infer<typeof portStatus> {}
export const portStatus = object(`${coreV1}.PortStatus`, 'How a port of a load balancer is doing.', {
  port: required(int32(), 'The port.', { default: 0 }),
  protocol: required(string(), 'Its protocol: TCP, UDP or SCTP.', { default: '' }),
  error: pointer(string(), 'What is wrong with it, in one word.'),
})

export interface LoadBalancerIngress extends Infer<typeof loadBalancerIngress> {}
export const loadBalancerIngress = object(`${coreV1}.LoadBalancerIngress`, 'A way in through a load balancer.', {
  ip: optional(string(), 'Its address.'),
  hostname: optional(string(), 'Its name in DNS.'),
  ipMode: pointer(
    enumOf('Proxy', 'VIP'),
    'VIP: traffic arrives with the address of the load balancer as its destination. Proxy: with that of the node or pod. VIP unless set.',
  ),
  ports: optional(atomicList(portStatus), 'How its ports are doing.'),
})

export interface LoadBalancerStatus extends Infer<typeof loadBalancerStatus> {}
export const loadBalancerStatus = object(`${coreV1}.LoadBalancerStatus`, 'What a load balancer gives.', {
  ingress: optional(atomicList(loadBalancerIngress), 'The ways in. Traffic for the service should go to one of them.'),
})

export interface ServiceStatus extends Infer<typeof serviceStatus> {}
export const serviceStatus = object(`${coreV1}.ServiceStatus`, 'What the surroundings do for the service.', {
  loadBalancer: optional(loadBalancerStatus, 'The load balancer, where there is one.', { byValue: true, default: {} }),
  conditions: optional(mapList(condition, ['type'], { duplicates: 'allowed' }), 'What else there is to say, by type.'),
})

/** A name and an address for pods that come and go. */
export interface Service extends Infer<typeof serviceSchema> {}
export const serviceSchema = kindSchema(
  `${coreV1}.Service`,
  'A name and an address that stay, for pods that come and go.',
  {
    spec: defaulted(serviceSpec, 'What is to be.', {}),
    status: optional(serviceStatus, 'What the surroundings do for it. Only read.', { default: {} }),
  },
)
