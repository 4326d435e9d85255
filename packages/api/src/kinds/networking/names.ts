/** What OpenAPI definition names of the networking group start with. */
export const networkingV1 = 'io.k8s.api.networking.v1'
