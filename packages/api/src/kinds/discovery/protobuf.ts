/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const discoveryMessages = {
  'io.k8s.api.discovery.v1beta1': `
Endpoint: addresses conditions hostname targetRef topology nodeName hints
EndpointSlice: metadata endpoints ports addressType
`,
  'io.k8s.api.discovery.v1': `
Endpoint: addresses conditions hostname targetRef deprecatedTopology nodeName zone hints
EndpointConditions: ready serving terminating
EndpointHints: forZones forNodes
EndpointPort: name protocol port appProtocol
EndpointSlice: metadata endpoints ports addressType
ForNode: name
ForZone: name
`,
} as const
