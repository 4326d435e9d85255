/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const policyMessages = {
  'io.k8s.api.policy.v1beta1': `
PodDisruptionBudget: metadata spec status
`,
  'io.k8s.api.policy.v1': `
Eviction: metadata deleteOptions
PodDisruptionBudget: metadata spec status
PodDisruptionBudgetSpec: minAvailable selector maxUnavailable unhealthyPodEvictionPolicy
PodDisruptionBudgetStatus: observedGeneration disruptedPods disruptionsAllowed currentHealthy desiredHealthy expectedPods
  conditions
`,
} as const
