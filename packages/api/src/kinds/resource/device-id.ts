import type { DeviceRequestAllocationResult } from './resource-claim-schema.ts'

type DeviceNames = Pick<DeviceRequestAllocationResult, 'driver' | 'pool' | 'device' | 'shareID'>

/** What tells a device apart from all others, and shares of it that several claims have. Names of pools may have slashes. */
export function deviceId({ driver, pool, device, shareID }: DeviceNames): string {
  const id = `${driver}/${pool}/${device}`
  return shareID === undefined ? id : `${id}#${shareID}`
}

/** The same as refusals show it: as upstream's own type has it. */
export const shownDevice = ({ driver = '', pool = '', device = '', shareID = '' }: DeviceNames): unknown => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
})
