/** What OpenAPI definition names of the shared meta types start with. */
export const metaV1 = 'io.k8s.apimachinery.pkg.apis.meta.v1'

/** What OpenAPI definition names of the core group start with. */
export const coreV1 = 'io.k8s.api.core.v1'
