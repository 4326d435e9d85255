/** What rules grant beyond others, and what reconciliation makes of roles and bindings: loaded by those who need it. */
export {
  type AnyBinding,
  type AnyRole,
  planBinding,
  planRole,
  type ReconcilePlan,
} from './reconcile-plan.ts'
export { uncoveredRules } from './rule-coverage.ts'
