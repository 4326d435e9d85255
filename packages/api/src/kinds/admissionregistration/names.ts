/** What OpenAPI definition names of the admissionregistration group start with. */
export const admissionregistrationV1 = 'io.k8s.api.admissionregistration.v1'
