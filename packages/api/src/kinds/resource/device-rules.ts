import type * as requests from './device-request-validation.ts'
import type * as claims from './resource-claim-validation.ts'
import type * as slices from './resource-slice-validation.ts'
import { loadDeviceSelectors } from './selectors.ts'

type DeviceRules = Pick<typeof requests, 'checkDeviceClaim' | 'checkDeviceConfiguration' | 'checkSelectors'> &
  Pick<typeof claims, 'checkClaimStatus'> &
  Pick<typeof slices, 'checkSlice'>

let loaded: DeviceRules | undefined

/** Loads the rules of devices, and what compiles their selectors: most clusters can do without. */
export async function loadDeviceRules(): Promise<void> {
  if (loaded !== undefined) return
  await loadDeviceSelectors()
  loaded = {
    ...(await import('./device-request-validation.ts')),
    ...(await import('./resource-claim-validation.ts')),
    ...(await import('./resource-slice-validation.ts')),
  }
}

/** The rules, once they are loaded. */
export function deviceRules(): DeviceRules {
  if (loaded === undefined) throw new Error('the rules of devices are not loaded: await the load of the strategy first')
  return loaded
}
