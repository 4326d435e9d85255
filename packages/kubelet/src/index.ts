/** The node agent: runs the pods that are bound to a node on a container runtime, and reports how they are. */
export {
  type EvictionDetails,
  type EvictionThresholds,
  evictionDetails,
  evictionThresholds,
  parseEvictionThresholds,
  parseMinimumReclaim,
  parseSoftGracePeriods,
  softWithoutGrace,
} from './eviction/thresholds.ts'
export type { OpenServiceNames, ServiceNames } from './hosts/service-names.ts'
export { type ImageLimits, imageLimits } from './images/image-limits.ts'
export { createKubelet, type Kubelet, type KubeletOptions, type StopOptions, shutdownGraceMaxMs } from './kubelet.ts'
export { loadWhatAgentsNeedLater } from './load-when-needed.ts'
export type { LogOptions, LogReadOptions } from './log-options.ts'
export type { AgentMetrics, AgentMetricsSource } from './metrics/agent-metrics.ts'
export { factsOf, hostFacts, type NodeFacts, nodePodsMax, simulatedFacts } from './node/node-facts.ts'
export { heartbeatMs, leaseDurationSeconds } from './node/node-heartbeat.ts'
export { kubeletVersion } from './node/node-object.ts'
export { nodeAgentsMax } from './node-limits.ts'
export { type DeadContainerLimits, deadContainerLimits } from './pod/dead-containers.ts'
export { clusterDomain } from './pod/pod-hostname.ts'
export { probesOfReadiness } from './probes/readiness.ts'
export { type HostImage, type HostImages, hostImagesMax, parseHostImages } from './runtimes/process/host-images.ts'
export {
  type ContainerConfig,
  ContainerConfigError,
  type ContainerRuntimeState,
  type ContainerRuntimeStatus,
  type ContainerStats,
  type ContainerStoppedEvent,
  type EnvironmentVariable,
  type ExecResult,
  type Mount,
  type PodSandboxConfig,
  type PodSandboxStatus,
  type Runtime,
} from './runtimes/runtime.ts'
export { metricsOfNode, metricsOfPod, type NodeUsage } from './usage/node-usage.ts'
export { type Usage, windowTargetMs } from './usage/usage-meter.ts'
export { LocalVolumeDirectories } from './volumes/local-volume-directories.ts'
export type { VolumeDrivers } from './volumes/volume-drivers.ts'
