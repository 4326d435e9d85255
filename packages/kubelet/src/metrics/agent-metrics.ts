import type { Pod, Volume } from '@coracle/api'
import type { MetricsRegistry } from '@coracle/environment'
import type { HandlerResult } from '../probes/handlers.ts'
import type { ProbeKind } from '../probes/probe-runner.ts'

/** What made a worker look after its pod: upstream's SyncPodType. */
export type PodOperation = 'create' | 'update' | 'sync' | 'kill'

/** Carries out what brings a volume to its node, and counts how that went. */
export type CountMount = <T>(volume: Volume, mount: () => Promise<T>) => Promise<T>

/** What the agent of a node counts of its own work, for `/metrics` and `/metrics/probes`. Times are in milliseconds. */
export interface AgentMetrics {
  /** What `/metrics` shows. */
  readonly registry: MetricsRegistry
  /** What `/metrics/probes` shows. */
  readonly probes: MetricsRegistry
  /** A worker has brought its pod to what is wanted of it. */
  podWorked(operation: PodOperation, durationMs: number): void
  /** A pod runs, so long after the agent first saw it. */
  podStarted(durationMs: number): void
  readonly countMount: CountMount
  /** A check of a container was made. */
  probed(pod: Pod, container: string, kind: ProbeKind, result: HandlerResult, durationMs: number): void
  /** Forgets the checks of a pod, which will have no more. */
  forgetProbes(pod: Pod): void
}

/** The counts of an agent. Until what counts is loaded, which the first call begins, they show nothing, and keep what is to be counted. */
export type AgentMetricsSource = () => AgentMetrics | undefined
