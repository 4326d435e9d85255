import { statSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { checkFormat } from '@coracle/api'
import type { ClusterOptions } from '@coracle/cluster'
import {
  type EvictionDetails,
  type EvictionThresholds,
  evictionDetails,
  evictionThresholds,
  type ImageLimits,
  imageLimits,
  parseEvictionThresholds,
  parseMinimumReclaim,
  parseSoftGracePeriods,
  softWithoutGrace,
} from '@coracle/kubelet'
import { CliError } from '../cli-error.ts'

/** What says which container runtime of this host runs containers. The names are those of upstream's kubelet. */
export interface ContainerRuntimeFlags {
  /** `process` where none is given. */
  readonly runtime?: 'process' | 'simulated' | 'cri' | 'docker'
  readonly containerRuntimeEndpoint?: string
  readonly podInfraContainerImage?: string
  readonly podLogsDir?: string
  readonly rootDir?: string
  /** Percent of the images' file system. */
  readonly imageGcHighThreshold?: number
  readonly imageGcLowThreshold?: number
  /** In milliseconds. */
  readonly minimumImageTtlDuration?: number
  /** In milliseconds. The kubelet has it in its configuration alone. */
  readonly imageMaximumGcAge?: number
  readonly evictionHard?: string
  readonly evictionSoft?: string
  readonly evictionSoftGracePeriod?: string
  readonly evictionMinimumReclaim?: string
  /** In seconds. */
  readonly evictionMaxPodGracePeriod?: number
  /** In milliseconds. */
  readonly evictionPressureTransitionPeriod?: number
  readonly clusterDns?: readonly string[]
  readonly clusterDomain?: string
  readonly resolvConf?: string
}

/** The container runtime of a cluster, with limits that are all said. */
type ContainerRuntime = NonNullable<ClusterOptions['containerRuntime']> & {
  readonly imageLimits: ImageLimits
  readonly evictionThresholds: EvictionThresholds
  readonly eviction: EvictionDetails
}

/** Where containerd and Docker listen. */
const endpoints = { cri: 'unix:///run/containerd/containerd.sock', docker: 'unix:///var/run/docker.sock' } as const

const names: readonly (readonly [keyof ContainerRuntimeFlags, string])[] = [
  ['containerRuntimeEndpoint', '--container-runtime-endpoint'],
  ['podInfraContainerImage', '--pod-infra-container-image'],
  ['podLogsDir', '--pod-logs-dir'],
  ['rootDir', '--root-dir'],
  ['imageGcHighThreshold', '--image-gc-high-threshold'],
  ['imageGcLowThreshold', '--image-gc-low-threshold'],
  ['minimumImageTtlDuration', '--minimum-image-ttl-duration'],
  ['imageMaximumGcAge', '--image-maximum-gc-age'],
  ['evictionHard', '--eviction-hard'],
  ['evictionSoft', '--eviction-soft'],
  ['evictionSoftGracePeriod', '--eviction-soft-grace-period'],
  ['evictionMinimumReclaim', '--eviction-minimum-reclaim'],
  ['evictionMaxPodGracePeriod', '--eviction-max-pod-grace-period'],
  ['evictionPressureTransitionPeriod', '--eviction-pressure-transition-period'],
  ['clusterDns', '--cluster-dns'],
  ['clusterDomain', '--cluster-domain'],
  ['resolvConf', '--resolv-conf'],
]

/** Throws a CliError where it is said what images stand for, and the runtime has no need of it. */
export function refuseImages({
  runtime,
  images,
}: Pick<ContainerRuntimeFlags, 'runtime'> & { readonly images?: string }): void {
  if (images === undefined) return
  if (runtime === 'simulated') {
    throw new CliError('--images says what containers run, and simulated ones run nothing: leave one of the two out')
  }
  if (runtime === 'cri' || runtime === 'docker') {
    throw new CliError('--images says which programs images stand for, and here they are what they are: leave it out')
  }
}

/** The container runtime of a node or cluster, where containers are its. Throws a CliError where flags contradict each other. */
export function containerRuntimeOf(
  flags: ContainerRuntimeFlags & { readonly nodes?: number },
  workingDirectory: string,
): { readonly containerRuntime?: ContainerRuntime } {
  const {
    runtime,
    nodes = 1,
    podInfraContainerImage: infraImage,
    podLogsDir,
    rootDir,
    clusterDns,
    clusterDomain,
    resolvConf,
  } = flags
  if (runtime !== 'cri' && runtime !== 'docker') {
    const given = names.find(([name]) => flags[name] !== undefined)
    if (given === undefined) return {}
    throw new CliError(`${given[1]} is for containers of a container runtime: give --runtime cri or docker too`)
  }
  if (infraImage !== undefined && runtime === 'cri') {
    throw new CliError(
      '--pod-infra-container-image is for --runtime docker: others have it in their configuration (sandbox_image of containerd)',
    )
  }
  const problem = clusterDomain === undefined ? undefined : domainProblem(clusterDomain)
  if (problem !== undefined) throw new CliError(`--cluster-domain ${JSON.stringify(clusterDomain)}: ${problem}`)
  const unknown = clusterDns?.find((address) => isIP(address) === 0)
  if (unknown !== undefined) throw new CliError(`--cluster-dns: ${JSON.stringify(unknown)} is no IP address`)
  const endpoint = flags.containerRuntimeEndpoint ?? endpoints[runtime]
  if (nodes > 1) {
    throw new CliError(
      `one host with a container runtime is one node, not ${nodes}: leave --nodes out, or give --runtime process or simulated`,
    )
  }
  return {
    containerRuntime: {
      endpoint: endpoint.startsWith('/') ? `unix://${endpoint}` : endpoint,
      protocol: runtime,
      ...(infraImage === undefined ? {} : { infraImage }),
      ...(podLogsDir === undefined ? {} : { podLogsDirectory: resolve(workingDirectory, podLogsDir) }),
      ...(rootDir === undefined ? {} : { rootDirectory: resolve(workingDirectory, rootDir) }),
      ...(clusterDns === undefined ? {} : { clusterDns }),
      ...(clusterDomain === undefined ? {} : { clusterDomain: clusterDomain.replace(/\.$/, '') }),
      ...(resolvConf === undefined ? {} : { resolvConf: fileOf(resolvConf, workingDirectory) }),
      imageLimits: imageLimitsOf(flags),
      evictionThresholds:
        flags.evictionHard === undefined
          ? evictionThresholds
          : parsed('--eviction-hard', flags.evictionHard, parseEvictionThresholds),
      eviction: evictionOf(flags),
    },
  }
}

/** What is said of evictions beside hard thresholds. */
function evictionOf(flags: ContainerRuntimeFlags): EvictionDetails {
  const {
    evictionSoft = '',
    evictionSoftGracePeriod = '',
    evictionMinimumReclaim = '',
    evictionMaxPodGracePeriod: podGraceMax,
    evictionPressureTransitionPeriod: pressureTransitionMs = evictionDetails.pressureTransitionMs,
  } = flags
  const soft = parsed('--eviction-soft', evictionSoft, parseEvictionThresholds)
  const softGraceMs = parsed('--eviction-soft-grace-period', evictionSoftGracePeriod, parseSoftGracePeriods)
  const minimumReclaim = parsed('--eviction-minimum-reclaim', evictionMinimumReclaim, parseMinimumReclaim)
  const missing = softWithoutGrace({ soft, softGraceMs })
  if (missing !== undefined)
    throw new CliError(`--eviction-soft names ${missing}: say in --eviction-soft-grace-period how long that is borne`)
  const podGraceMaxMs = podGraceMax === undefined ? evictionDetails.podGraceMaxMs : podGraceMax * 1000
  return { soft, softGraceMs, minimumReclaim, podGraceMaxMs, pressureTransitionMs }
}

function parsed<T>(flag: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw new CliError(`${flag}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The whole path of a file that says how names are looked up; an empty one stands for none, as for the kubelet. */
function fileOf(resolvConf: string, workingDirectory: string): string {
  if (resolvConf === '') return '/dev/null'
  const path = resolve(workingDirectory, resolvConf)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false)
    throw new CliError(`--resolv-conf: ${path} is no file`)
  return path
}

/** Names of services have room for this, and three labels of 63 characters before it. */
const domainMax = 50

function domainProblem(domain: string): string | undefined {
  const [problem] = checkFormat('dns1123-subdomain', domain.replace(/\.$/, ''))
  return problem ?? (domain.length > domainMax ? `a domain has ${domainMax} characters at most` : undefined)
}

function imageLimitsOf({
  imageGcHighThreshold: highThresholdPercent = imageLimits.highThresholdPercent,
  imageGcLowThreshold: lowThresholdPercent = imageLimits.lowThresholdPercent,
  minimumImageTtlDuration: ageMinMs = imageLimits.ageMinMs,
  imageMaximumGcAge: ageMaxMs = imageLimits.ageMaxMs,
}: ContainerRuntimeFlags) {
  if (lowThresholdPercent >= highThresholdPercent) {
    throw new CliError(
      `--image-gc-low-threshold ${lowThresholdPercent} is to be below --image-gc-high-threshold ${highThresholdPercent}: images go from the one to the other`,
    )
  }
  if (ageMaxMs > 0 && ageMaxMs <= ageMinMs) {
    throw new CliError('--image-maximum-gc-age is to be 0, or longer than --minimum-image-ttl-duration (2m)')
  }
  return { highThresholdPercent, lowThresholdPercent, ageMinMs, ageMaxMs }
}
