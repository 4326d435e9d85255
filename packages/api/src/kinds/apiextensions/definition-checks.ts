import { lazyModule } from '../lazy-module.ts'

/** What checks definitions. It brings an engine for regular expressions, which a cluster without custom resources can do without. */
export const definitionChecks = lazyModule('the checks of definitions', () => import('../../custom/index.ts'))
