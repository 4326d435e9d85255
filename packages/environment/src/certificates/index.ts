export {
  type ClientIdentity,
  createAuthority,
  issueClientCertificate,
  issueServingCertificate,
  type KeyPair,
  type ServerIdentity,
} from './certificates.ts'
export { type PeerIdentity, peerIdentity } from './peer-identity.ts'
export { certificateEnd, issueRequestedCertificate, type RequestedCertificate } from './requested-certificate.ts'
