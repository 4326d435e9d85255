export {
  type ClientIdentity,
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
  type ServerIdentity,
} from './certificates.ts'
export { certificateEnd, issueRequestedCertificate, type RequestedCertificate } from './requested-certificate.ts'
