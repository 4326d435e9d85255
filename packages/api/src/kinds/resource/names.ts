/** What OpenAPI definition names of the resource group start with. */
export const resourceV1 = 'io.k8s.api.resource.v1'
