import { lazyModule } from '../lazy-module.ts'

/** What checks policies, their bindings and webhooks. It brings CEL, which most clusters can do without. */
export const admissionChecks = lazyModule('the checks of policies and webhooks', () => import('./validation.ts'))
