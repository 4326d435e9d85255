/** Tokens of issuers elsewhere. Loaded only where a configuration names some. */
export { followAuthenticationConfiguration, readAuthenticationConfiguration } from './configuration-file.ts'
