/** What OpenAPI definition names of the apiregistration group start with. */
export const apiregistrationV1 = 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1'
