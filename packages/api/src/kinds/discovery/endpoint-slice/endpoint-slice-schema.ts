import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  boolean,
  enumOf,
  int32,
  object,
  optional,
  pointer,
  required,
  setList,
  string,
  stringMap,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { objectReference } from '../../core/common.ts'
import { discoveryV1 } from '../../meta/names.ts'

export interface EndpointConditions extends Infer<typeof endpointConditions> {}
export const endpointConditions = object(
  `${discoveryV1}.EndpointConditions`,
  'Whether an endpoint takes traffic. What is not said is taken for true, but for terminating.',
  {
    ready: pointer(boolean, 'Whether it takes new connections: it serves, and is not on its way out.'),
    serving: pointer(boolean, 'Whether it answers, be it on its way out or not.'),
    terminating: pointer(boolean, 'Whether it is on its way out.'),
  },
)

export interface ForZone extends Infer<typeof forZone> {}
export const forZone = object(`${discoveryV1}.ForZone`, 'A zone that should use an endpoint.', {
  name: required(string(), 'Name of the zone.', { default: '' }),
})

export interface ForNode extends Infer<typeof forNode> {}
export const forNode = object(`${discoveryV1}.ForNode`, 'A node that should use an endpoint.', {
  name: required(string(), 'Name of the node.', { default: '' }),
})

export interface EndpointHints extends Infer<typeof endpointHints> {}
export const endpointHints = object(`${discoveryV1}.EndpointHints`, 'Who should use an endpoint.', {
  forZones: optional(atomicList(forZone), 'Zones that should use it. At most 8.'),
  forNodes: optional(atomicList(forNode), 'Nodes that should use it. At most 8.'),
})

export interface Endpoint extends Infer<typeof endpoint> {}
export const endpoint = object(`${discoveryV1}.Endpoint`, 'One thing behind a service, such as a pod.', {
  addresses: required(setList(string(), { duplicates: 'allowed' }), 'Its addresses; clients use the first.', {
    default: [],
  }),
  conditions: optional(endpointConditions, 'Whether it takes traffic.', { byValue: true, default: {} }),
  hostname: pointer(string(), 'Its name, below that of the service.'),
  targetRef: optional(objectReference, 'What it is, such as a pod.'),
  deprecatedTopology: optional(stringMap, 'Where it is, as the first version of this kind said it. Only kept.'),
  nodeName: pointer(string(), 'The node that it is on.'),
  zone: pointer(string(), 'The zone that it is in.'),
  hints: optional(endpointHints, 'Who should use it.'),
})

export interface EndpointSlicePort extends Infer<typeof endpointSlicePort> {}
export const endpointSlicePort = object(
  `${discoveryV1}.EndpointPort`,
  'A port of the endpoints.',
  {
    name: pointer(string(), 'Name of the port, as the service has it. Another one for each.', { default: '' }),
    protocol: pointer(enumOf('SCTP', 'TCP', 'UDP'), 'TCP, UDP or SCTP; TCP unless set.', { default: 'TCP' }),
    port: pointer(int32(), 'The port; all of them unless set.'),
    appProtocol: pointer(string(), 'What is spoken on the port, such as kubernetes.io/h2c or https.'),
  },
  { mapType: 'atomic' },
)

/** Some of the endpoints behind a service. Together, the slices of a service hold all of them. */
export interface EndpointSlice extends Infer<typeof endpointSliceSchema> {}
export const endpointSliceSchema = kindSchema(
  `${discoveryV1}.EndpointSlice`,
  'Some of the endpoints behind the service that the label kubernetes.io/service-name names. Together its slices hold all of them.',
  {
    addressType: required(
      enumOf('FQDN', 'IPv4', 'IPv6'),
      'What the addresses are: IPv4, IPv6 or FQDN. It cannot be changed.',
    ),
    endpoints: optional(atomicList(endpoint), 'The endpoints. At most 1000.', { alwaysWritten: true }),
    ports: optional(atomicList(endpointSlicePort), 'The ports of every endpoint. At most 100; none means none.', {
      alwaysWritten: true,
    }),
  },
)
