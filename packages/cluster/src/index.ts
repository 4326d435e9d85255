export type { Cluster, ClusterOptions } from './cluster.ts'
export { DataDirectoryLostError, StoreMissingError } from './data-directory.ts'
export { processNodesMax } from './nodes.ts'
export { startCluster } from './start-cluster.ts'
