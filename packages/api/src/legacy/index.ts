/** Objects as former versions of the API had them, in today's form. It stands apart: a server at work never needs it. */
export { convertFormerVersion, type FormerVersion } from './former-versions.ts'
export * from './v1beta1.ts'
