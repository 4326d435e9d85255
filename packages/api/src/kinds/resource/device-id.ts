import type { DeviceRequestAllocationResult } from './resource-claim-schema.ts'

/** What tells a device apart from all others, and shares of it that several claims have. */
export function deviceId({
  driver,
  pool,
  device,
  shareID,
}: Pick<DeviceRequestAllocationResult, 'driver' | 'pool' | 'device' | 'shareID'>): string {
  const id = `${driver}/${pool}/${device}`
  return shareID === undefined ? id : `${id}/${shareID}`
}
