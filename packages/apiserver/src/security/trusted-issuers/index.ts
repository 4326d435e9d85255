/** Tokens of issuers elsewhere. Loaded only where a configuration names some. */
export { AuthenticationMetrics } from './authentication-metrics.ts'
export { followAuthenticationConfiguration, readAuthenticationConfiguration } from './configuration-file.ts'
