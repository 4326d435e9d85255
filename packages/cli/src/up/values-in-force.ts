import { durationText } from '@coracle/api'
import type { DeadContainerLimits, EvictionDetails, EvictionThresholds, ImageLimits } from '@coracle/kubelet'
import type { ClusterPlace } from '../local/cluster-place.ts'
import type { ValuesInForce } from './flag-values.ts'
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
    readonly evictionThresholds: EvictionThresholds
    readonly eviction: EvictionDetails
  }
}

/** The values in force of flags. The range of services is the one that the cluster has kept. */
export function valuesInForce(flags: Pick<UpFlags, 'oidcIssuerUrl'>, chosen: Chosen): ValuesInForce {
  const { place, port, nodes, runtime, containerRuntime, nodePrefix, serviceRanges } = chosen
  return {
    chosen: {
      name: place.name,
      'data-dir': place.directory,
      port: String(port),
      nodes: String(nodes),
      runtime,
      ...(nodePrefix === undefined ? {} : { 'node-prefix': nodePrefix }),
      ...(serviceRanges === undefined ? {} : { 'service-cluster-ip-range': serviceRanges.join() }),
      ...(containerRuntime === undefined ? {} : ofContainerRuntime(containerRuntime)),
    },
    defaults: defaultsOf(flags, chosen),
  }
}

function defaultsOf(
  flags: Pick<UpFlags, 'oidcIssuerUrl'>,
  { runtime, deadContainers, storedNodes, taskRunTimeMs }: Chosen,
): Readonly<Record<string, string>> {
  return {
    ...(runtime === 'simulated' ? { 'run-time': storedNodes === true ? 'forever' : durationText(taskRunTimeMs) } : {}),
    controllers: '[*]',
    'authorization-mode': '[Node,RBAC]',
    'max-requests-inflight': String(inFlightDefaults.maxRequestsInflight),
    'max-mutating-requests-inflight': String(inFlightDefaults.maxMutatingRequestsInflight),
    'minimum-container-ttl-duration': durationText(deadContainers.ttlMinMs),
    'maximum-dead-containers-per-container': String(deadContainers.perContainerMax),
    'maximum-dead-containers': String(deadContainers.max),
    ...(flags.oidcIssuerUrl === undefined ? {} : { 'oidc-username-claim': 'sub', 'oidc-signing-algs': '[RS256]' }),
  }
}

function ofContainerRuntime({
  endpoint,
  podLogsDirectory = '/var/log/pods',
  imageLimits: { highThresholdPercent, lowThresholdPercent, ageMinMs, ageMaxMs },
  evictionThresholds,
  eviction: { podGraceMaxMs, pressureTransitionMs },
}: NonNullable<Chosen['containerRuntime']>): Readonly<Record<string, string>> {
  return {
    'container-runtime-endpoint': endpoint,
    'pod-logs-dir': podLogsDirectory,
    'image-gc-high-threshold': String(highThresholdPercent),
    'image-gc-low-threshold': String(lowThresholdPercent),
    'minimum-image-ttl-duration': durationText(ageMinMs),
    'image-maximum-gc-age': durationText(ageMaxMs),
    'eviction-hard': Object.entries(evictionThresholds)
      .map(([signal, value]) => `${signal}<${value}`)
      .join(','),
    'eviction-max-pod-grace-period': String(podGraceMaxMs / 1000),
    'eviction-pressure-transition-period': durationText(pressureTransitionMs),
  }
}
