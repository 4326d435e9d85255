import { lazyModule } from '../lazy-module.ts'

/** What checks Jobs and CronJobs. */
export const batchChecks = lazyModule('the checks of jobs', () => import('./validation.ts'))
