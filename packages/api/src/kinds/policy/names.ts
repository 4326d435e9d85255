/** What OpenAPI definition names of the policy group start with. */
export const policyV1 = 'io.k8s.api.policy.v1'
