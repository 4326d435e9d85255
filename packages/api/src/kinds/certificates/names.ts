/** What OpenAPI definition names of the certificates group start with. */
export const certificatesV1 = 'io.k8s.api.certificates.v1'
