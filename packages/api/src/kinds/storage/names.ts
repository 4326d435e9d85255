/** What OpenAPI definition names of the storage group start with. */
export const storageV1 = 'io.k8s.api.storage.v1'
