import { durationText } from '@coracle/api'
import type { DeadContainerLimits, ImageLimits } from '@coracle/kubelet'
import type { ClusterPlace } from '../local/cluster-place.ts'
import { inFlightDefaults } from './in-flight-flags.ts'
import type { UpFlags } from './up-flags.ts'

/** What a start has chosen, of what flags may say. */
export interface Chosen {
  readonly place: Pick<ClusterPlace, 'name' | 'directory'>
  readonly port: number
  readonly nodes: number
  readonly runtime: string
  readonly deadContainers: DeadContainerLimits
  /** How long simulated tasks take whose command does not tell, in milliseconds. */
  readonly taskRunTimeMs: number
  /** Whether the nodes are those of a cluster that was imported, where what was under way goes on. */
  readonly storedNodes?: boolean
  /** What names of nodes begin with. Absent: that is not known before the cluster runs. */
  readonly nodePrefix?: string
  /** The ranges that the cluster gives services addresses of. Absent: the same. */
  readonly serviceRanges?: readonly string[]
  /** The container runtime of this host, where one is used. */
  readonly containerRuntime?: {
    readonly endpoint: string
    readonly podLogsDirectory?: string
    readonly imageLimits: ImageLimits
  }
}

/**
 * The values in force of flags that need not be given, by their names and as Go prints them. The range of services is the one that the cluster
 * has kept.
 */
export function valuesInForce(flags: Pick<UpFlags, 'oidcIssuerUrl'>, chosen: Chosen): Readonly<Record<string, string>> {
  const { place, port, nodes, runtime, deadContainers, containerRuntime, nodePrefix, serviceRanges } = chosen
  return {
    name: place.name,
    'data-dir': place.directory,
    port: String(port),
    nodes: String(nodes),
    runtime,
    ...(nodePrefix === undefined ? {} : { 'node-prefix': nodePrefix }),
    ...(serviceRanges === undefined ? {} : { 'service-cluster-ip-range': serviceRanges.join() }),
    ...(runtime === 'simulated'
      ? { 'run-time': chosen.storedNodes === true ? 'forever' : durationText(chosen.taskRunTimeMs) }
      : {}),
    controllers: '[*]',
    'authorization-mode': '[Node,RBAC]',
    'max-requests-inflight': String(inFlightDefaults.maxRequestsInflight),
    'max-mutating-requests-inflight': String(inFlightDefaults.maxMutatingRequestsInflight),
    'minimum-container-ttl-duration': durationText(deadContainers.ttlMinMs),
    'maximum-dead-containers-per-container': String(deadContainers.perContainerMax),
    'maximum-dead-containers': String(deadContainers.max),
    ...(flags.oidcIssuerUrl === undefined ? {} : { 'oidc-username-claim': 'sub', 'oidc-signing-algs': '[RS256]' }),
    ...(containerRuntime === undefined ? {} : ofContainerRuntime(containerRuntime)),
  }
}

function ofContainerRuntime({
  endpoint,
  podLogsDirectory = '/var/log/pods',
  imageLimits: { highThresholdPercent, lowThresholdPercent, ageMinMs, ageMaxMs },
}: NonNullable<Chosen['containerRuntime']>): Readonly<Record<string, string>> {
  return {
    'container-runtime-endpoint': endpoint,
    'pod-logs-dir': podLogsDirectory,
    'image-gc-high-threshold': String(highThresholdPercent),
    'image-gc-low-threshold': String(lowThresholdPercent),
    'minimum-image-ttl-duration': durationText(ageMinMs),
    'image-maximum-gc-age': durationText(ageMaxMs),
  }
}
