/** A whole cluster in one process (`startCluster`), put together from the other packages. */
export type { StateReport } from '@coracle/apiserver'
export { hasAddressesOfNodes } from '@coracle/controllers'
export {
  type EvictionThresholds,
  type HostImage,
  type HostImages,
  type ImageLimits,
  imageLimits,
  parseHostImages,
  probesOfReadiness,
} from '@coracle/kubelet'
export type {
  Cluster,
  ClusterOptions,
  Component,
  ComponentName,
  ComponentSeams,
  ContainerRuntimeOptions,
  StoreFactory,
} from './cluster.ts'
export { DataDirectoryLostError, StoreMissingError } from './data-directory.ts'
export type { LeaderElectionTimes } from './leadership.ts'
export { loadWhatClustersNeedLater } from './load-when-needed.ts'
export { processNodesMax } from './nodes.ts'
export { startCluster } from './start-cluster.ts'
export { type FillOptions, fillDirectory, StorePresentError } from './state/fill-directory.ts'
export { loadState } from './state/load-state.ts'
export {
  type ClusterState,
  type ReadStateOptions,
  readState,
  type StateGap,
  type StatePage,
  StateReading,
  type StateSource,
  stateObjectsMax,
} from './state/read-state.ts'
export {
  readSnapshot,
  type SnapshotEnd,
  SnapshotError,
  type SnapshotHeader,
  type SnapshotReader,
  snapshotVersion,
  writeSnapshot,
} from './state/snapshot.ts'
export { readStoredState } from './state/stored-state.ts'
