/** What OpenAPI definition names of the flowcontrol group start with. */
export const flowcontrolV1 = 'io.k8s.api.flowcontrol.v1'
