import { lazyModule } from '../lazy-module.ts'

/** What checks requests for certificates. It reads their encoding. */
export const requestChecks = lazyModule(
  'the checks of certificate requests',
  () => import('./certificate-signing-request-validation.ts'),
)
