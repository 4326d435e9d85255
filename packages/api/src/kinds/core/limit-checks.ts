import { lazyModule } from '../lazy-module.ts'

/** What checks limit ranges and quotas. */
export const limitChecks = lazyModule('the checks of limits', () => import('./limit-validation.ts'))
