export type { ClaimedDevices } from './claimed-devices.ts'
export { ClaimPreparer, type ClaimPreparerOptions } from './claims/claim-preparer.ts'
export { DeviceDrivers, type DeviceDriversOptions, driverType } from './claims/device-drivers.ts'
export { DeviceManager, type DeviceManagerOptions } from './device-manager.ts'
