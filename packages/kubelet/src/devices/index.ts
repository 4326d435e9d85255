export { DeviceManager, type DeviceManagerOptions } from './device-manager.ts'
