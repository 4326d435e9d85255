/**
 * Expressions in CEL about requests: match conditions of webhooks, and what admission policies say. Apart from the rest of
 * this package because it brings CEL: load it when there is an expression.
 */
export type { AuthorizationDecision, AuthorizationQuestion, ExpressionAuthorizer } from '../cel/library/authorizer.ts'
export type { CelOutcome, CelProgram } from '../cel/program.ts'
export type { CelValue } from '../cel/values.ts'
export { type AdmissionExpressionOptions, type CompiledExpression, compileAdmissionExpression } from './expression.ts'
export { compileMutation, configurationFrom, type PatchType, patchFrom } from './mutation.ts'
export { CostBudget, outOfBudget, type PolicyVariable, policyVariables } from './policy-variables.ts'
export { checkedKindsMax, type ExpressionWarning, policyTypeWarnings, type TypedKind } from './type-checking.ts'
export { type AdmissionFacts, type AdmissionRequest, admissionVariables } from './variables.ts'
