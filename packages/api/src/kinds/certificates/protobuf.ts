/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const certificatesMessages = {
  'io.k8s.api.certificates.v1': `
CertificateSigningRequest: metadata spec status
CertificateSigningRequestCondition: type reason message lastUpdateTime! lastTransitionTime! status
CertificateSigningRequestSpec: request username uid groups usages extra signerName expirationSeconds
CertificateSigningRequestStatus: conditions certificate
`,
} as const
