import { lazyModule } from '../../lazy-module.ts'

/** What checks claims of volumes. */
export const claimChecks = lazyModule('the checks of volume claims', () => import('./validation.ts'))
