/** The checks of the group of admission, to be loaded with its first object: `admission-checks.ts`. */
export { validateBinding, validateMutatingBinding } from './binding-validation.ts'
export { validateMutatingPolicy } from './mutating-policy-validation.ts'
export { validatePolicy, validatePolicyStatus } from './policy-validation.ts'
export { staticNameWarnings } from './static-names.ts'
export { validateMutatingWebhooks, validateValidatingWebhooks } from './webhook-validation.ts'
