import type { ContainerStateTerminated, Pod, Volume } from '@coracle/api'
import type { MetricsRegistry } from '@coracle/environment'
import type { HandlerResult } from '../probes/handlers.ts'
import type { ProbeKind } from '../probes/probe-runner.ts'

/** What made a worker look after its pod: upstream's SyncPodType. */
export type PodOperation = 'create' | 'update' | 'sync' | 'kill'

/** What a container is to its pod, in upstream's names. */
export type ContainerType = 'container' | 'init_container' | 'ephemeral_container'

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
  /** The node does not take a pod on. */
  podRefused(reason: string): void
  /** The node has ended a pod for what it lacks, or for what the pod takes: by upstream's name of the signal. */
  podEvicted(signal: string): void
  /** The node has ended a pod for a critical one, which needs so named a resource. */
  podPreempted(resource: string): void
  /** A container is about to be created and started. */
  containerStarting(type: ContainerType): void
  /** That has failed, for a reason as statuses have it. */
  containerNotStarted(type: ContainerType, reason: string): void
  containerEnded(type: ContainerType, ended: ContainerStateTerminated): void
  /** An image was pulled, with the wait for its turn. */
  imagePulled(sizeBytes: number, durationMs: number): void
  readonly countMount: CountMount
  /** A check of a container was made. */
  probed(pod: Pod, container: string, kind: ProbeKind, result: HandlerResult, durationMs: number): void
  /** Forgets the checks of a pod, which will have no more. */
  forgetProbes(pod: Pod): void
}

/** The counts of an agent. Until what counts is loaded, which the first call begins, they show nothing, and keep what is to be counted. */
export type AgentMetricsSource = () => AgentMetrics | undefined
