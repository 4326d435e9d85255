/** Volumes of CSI drivers on a node: registers drivers, and stages and publishes their volumes for pods. */
export { type NodeDrivers, type NodeDriversOptions, startNodeDrivers } from './node-drivers.ts'
export type { PluginHandler, TakenPlugin } from './registration/plugin-registry.ts'
export type { BroughtVolume } from './volumes/driver-volumes.ts'
