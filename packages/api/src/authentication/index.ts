/** Whose tokens of other issuers are: the configuration, and what it makes of claims. */
export { type ClaimedUser, userOfClaims } from './claims.ts'
export { compileAuthenticationConfiguration, type TrustedIssuer } from './compile-configuration.ts'
export { type AuthenticationConfiguration, decodeAuthenticationConfiguration } from './configuration.ts'
