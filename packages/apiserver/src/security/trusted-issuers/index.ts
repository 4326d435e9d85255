/** Tokens of issuers elsewhere. Loaded only where a configuration names some. */
export { AuthenticationMetrics } from './authentication-metrics.ts'
export {
  followAuthenticationConfiguration,
  parseAuthenticationConfiguration,
  readAuthenticationConfiguration,
} from './configuration-file.ts'
export { TrustedIssuers } from './trusted-issuers.ts'
export type { SigningAlgorithm } from './verify-token.ts'
