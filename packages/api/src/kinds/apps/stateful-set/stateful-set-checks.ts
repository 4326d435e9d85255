import { lazyModule } from '../../lazy-module.ts'

/** What checks StatefulSets. */
export const statefulSetChecks = lazyModule('the checks of stateful sets', () => import('./stateful-set-validation.ts'))
