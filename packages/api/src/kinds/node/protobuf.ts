/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const nodeMessages = {
  'io.k8s.api.node.v1': `
Overhead: podFixed
RuntimeClass: metadata handler overhead scheduling
Scheduling: nodeSelector tolerations
`,
} as const
