import type { Clock } from '@coracle/environment'

/** Loads what reads and runs expressions of admission. No time passes meanwhile where it is virtual, or it would go on without the request. */
export const loadExpressions = (clock: Clock): Promise<typeof import('@coracle/api/admission')> =>
  clock.hold(import('@coracle/api/admission'))
