import { lazyModule } from '../../lazy-module.ts'

/** What checks nodes. */
export const nodeChecks = lazyModule('the checks of nodes', () => import('./node-validation.ts'))
