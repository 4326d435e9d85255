import { lazyModule } from '../lazy-module.ts'

/** What checks ingresses and their classes. */
export const ingressChecks = lazyModule('the checks of ingresses', () => import('./validation.ts'))
