/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const authenticationMessages = {
  'io.k8s.api.authentication.v1': `
SelfSubjectReview: metadata status
SelfSubjectReviewStatus: userInfo
BoundObjectReference: kind apiVersion name uid
TokenRequest: metadata spec status
TokenRequestSpec: audiences 3:boundObjectRef expirationSeconds
TokenRequestStatus: token expirationTimestamp
TokenReview: metadata spec status
TokenReviewSpec: token audiences
TokenReviewStatus: authenticated user error audiences
UserInfo: username uid groups extra
`,
} as const
