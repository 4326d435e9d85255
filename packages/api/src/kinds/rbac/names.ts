/** What OpenAPI definition names of the rbac group start with. */
export const rbacV1 = 'io.k8s.api.rbac.v1'

/** The API group itself, as references name it. */
export const rbacGroup = 'rbac.authorization.k8s.io'
