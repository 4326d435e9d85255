import { lazyModule } from '../../lazy-module.ts'

/** What checks autoscalers, which many clusters do without. */
export const autoscalerChecks = lazyModule('the checks of autoscalers', () => import('./validation.ts'))
