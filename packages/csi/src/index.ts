/** Volumes of CSI drivers on a node: which drivers there are, and bringing what they have to pods. */
export { type NodeDrivers, type NodeDriversOptions, startNodeDrivers } from './node-drivers.ts'
export type { PluginHandler, TakenPlugin } from './registration/plugin-registry.ts'
export type { BroughtVolume } from './volumes/driver-volumes.ts'
