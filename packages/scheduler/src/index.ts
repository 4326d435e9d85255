/** The scheduler: assigns pods to nodes. */
export type { Cluster } from './cluster.ts'
export type { ClusterEvent } from './cluster-event.ts'
export { loadWhatSchedulersNeedLater } from './load-when-needed.ts'
export type { NodeIndex } from './node-indexes.ts'
export type { NodeInfo } from './node-info.ts'
export { defaultPlugins } from './plugins/index.ts'
export type {
  ClusterFilter,
  ClusterPlugin,
  NodeFilter,
  NodePlugin,
  NodeScorer,
  Plugin,
  Refusal,
} from './plugins/plugin.ts'
export { createScheduler, defaultSchedulerName, type Scheduler, type SchedulerOptions } from './scheduler.ts'
