export type { Cluster, ClusterOptions } from './cluster.ts'
export { startCluster } from './start-cluster.ts'
