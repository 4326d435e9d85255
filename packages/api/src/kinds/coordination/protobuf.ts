/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const coordinationMessages = {
  'io.k8s.api.coordination.v1': `
Lease: metadata spec
LeaseSpec: holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions strategy preferredHolder
`,
} as const
