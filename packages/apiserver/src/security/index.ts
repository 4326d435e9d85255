/** Who is who, and who may do what. */
export {
  type Authenticator,
  anonymous,
  type ConfiguredAuthentication,
  createAuthenticator,
  createTokenAuthenticator,
  refusingAnonymous,
  type TokenAuthenticator,
  type TokenIdentity,
} from './authentication.ts'
export {
  adminIdentity,
  type ClientIdentity,
  createPki,
  issueApiCertificate,
  issueClientCertificate,
  type KeyPair,
  type Pki,
} from './certificates.ts'
export { type KubeconfigOptions, kubeconfigOf, writeKubeconfig } from './kubeconfig.ts'
export { keepCertificate, loadOrCreatePki } from './pki-files.ts'
export { hostFiles, writePrivateFile } from './private-files.ts'
export { createToken, loadOrCreateToken } from './token.ts'
export { parseTokenFile } from './token-file.ts'
