/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const schedulingMessages = {
  'io.k8s.api.scheduling.v1': `
PriorityClass: metadata value globalDefault description preemptionPolicy
`,
} as const
