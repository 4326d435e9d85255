/** The checks of limit ranges and quotas, to be loaded with the first of them: `limit-checks.ts`. */
export { validateLimitRange } from './limit-range/validation.ts'
export {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from './resource-quota/validation.ts'
