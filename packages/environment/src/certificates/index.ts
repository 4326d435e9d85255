export {
  createCertificateKey,
  createCertificateRequest,
  privateKeyPem,
  type RequestedSubject,
} from './certificate-request.ts'
export {
  type ClientIdentity,
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
  type ServerIdentity,
} from './certificates.ts'
export { type PeerIdentity, peerIdentity } from './peer-identity.ts'
export {
  certificateEnd,
  certificateHosts,
  issueRequestedCertificate,
  type RequestedCertificate,
} from './requested-certificate.ts'
