import { lazyModule } from '../lazy-module.ts'

/** What checks schemas and levels, which nobody needs who leaves flow control as it is. */
export const flowChecks = lazyModule('the checks of flow control', () => import('./validation.ts'))
