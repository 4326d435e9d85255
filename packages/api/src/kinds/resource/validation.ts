/** The checks of the resource group, to be loaded with its first object: `device-checks.ts`. */
export { checkDeviceClass } from './device-class-validation.ts'
export { checkDeviceClaim } from './device-request-validation.ts'
export { checkClaimStatus } from './resource-claim-validation.ts'
export { checkSlice } from './resource-slice-validation.ts'
