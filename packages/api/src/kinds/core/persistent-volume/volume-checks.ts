import { lazyModule } from '../../lazy-module.ts'

/** What checks volumes and their attachments. */
export const volumeChecks = lazyModule('the checks of volumes', () => import('../../storage/volume-validation.ts'))
