import { lazyModule } from '../lazy-module.ts'

/** What checks claims, classes and slices. It brings the engine for selectors, and most clusters have no devices. */
export const deviceChecks = lazyModule('the checks of devices', () => import('./validation.ts'))
