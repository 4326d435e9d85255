import { join, resolve } from 'node:path'
import { assert, type Clock, createMetricsRegistry, type Environment, LoadOnce } from '@coracle/environment'
import {
  type AgentMetrics,
  type AgentMetricsSource,
  evictionThresholds,
  type HostImages,
  imageLimits,
  type KubeletOptions,
  type Runtime,
} from '@coracle/kubelet'
import type { ContainerRuntimeOptions } from './cluster.ts'

/** What runs containers. */
export type RuntimeKind = 'process' | 'simulated' | 'cri' | 'docker'

export interface NodeRuntimeOptions {
  readonly environment: Environment
  readonly nodeName: string
  /** That of the whole cluster. */
  readonly dataDirectory: string
  /** What images are where containers are processes. */
  readonly images: HostImages | undefined
  /** Absent: containers are processes of this host. */
  readonly containerRuntime: ContainerRuntimeOptions | undefined
}

/** Where a node keeps what is its own. */
export const nodeDirectory = (dataDirectory: string, nodeName: string): string =>
  join(dataDirectory, 'kubelet', nodeName)

/** Where the volumes of a node are, and drivers find it: in the place of upstream's `/var/lib/kubelet`. */
export interface RootDirectory {
  readonly rootDirectory: string
  /** Whose it is, where others may have it as well. Absent: it is in the data directory of the node. */
  readonly owner?: string
}

/** That of a node, whose data directory may be there for as long as its cluster only. */
export function rootDirectoryOf(
  dataDirectory: string,
  nodeName: string,
  options: ContainerRuntimeOptions | undefined,
  isTemporary = false,
): RootDirectory {
  if (options?.rootDirectory === undefined) return { rootDirectory: nodeDirectory(dataDirectory, nodeName) }
  const { rootDirectory } = options
  return { rootDirectory, owner: isTemporary ? `${nodeName} in memory` : `${nodeName} in ${resolve(dataDirectory)}` }
}

/** What runs the containers of a node of this host, and takes up those that run already. */
export async function openNodeRuntime(options: NodeRuntimeOptions): Promise<Runtime> {
  const { environment, nodeName, dataDirectory, images, containerRuntime } = options
  if (containerRuntime !== undefined) {
    const { endpoint, podLogsDirectory, protocol = 'cri', infraImage } = containerRuntime
    const common = {
      environment,
      directory: nodeDirectory(dataDirectory, nodeName),
      endpoint,
      ...(podLogsDirectory === undefined ? {} : { podLogsDirectory }),
    }
    if (protocol === 'docker') {
      const { openDockerRuntime } = await import('@coracle/kubelet/docker')
      return openDockerRuntime({ ...common, ...(infraImage === undefined ? {} : { infraImage }) })
    }
    const { openCriRuntime } = await import('@coracle/kubelet/cri')
    return openCriRuntime(common)
  }
  const { createProcessRuntime } = await import('@coracle/kubelet/process')
  return createProcessRuntime({
    environment,
    dataDirectory,
    nodeName,
    ...(images === undefined ? {} : { images }),
  })
}

/** A runtime of real containers that counts what is asked of it, and what its node's agent counts its own work in. */
export async function measured(
  runtime: Runtime,
  clock: Clock,
): Promise<{ readonly runtime: Runtime; readonly metrics: AgentMetrics }> {
  const { createAgentMetrics, measuredRuntime } = await import('@coracle/kubelet/metrics')
  const metrics = createAgentMetrics(clock)
  return { runtime: measuredRuntime(runtime, metrics.registry, clock), metrics }
}

/**
 * The same of a runtime that nothing has to be loaded for until there are pods: it is counted from when somebody first asks for the counts, or a
 * sandbox is to run, which waits for it.
 */
export function measuredWithPods(
  runtime: Runtime,
  clock: Clock,
): { readonly runtime: Runtime; readonly metrics: AgentMetricsSource } {
  let current = runtime
  let metrics: AgentMetrics | undefined
  const load = async (): Promise<void> => {
    const made = await measured(runtime, clock)
    current = made.runtime
    metrics = made.metrics
  }
  const loading = new LoadOnce(() => clock.hold(load()))
  const loaded = (): Promise<void> => loading.get()
  const runPodSandbox: Runtime['runPodSandbox'] = async (...args) => {
    await loaded()
    return current.runPodSandbox(...args)
  }
  const pending = pendingMetrics(async () => {
    await loaded()
    assert(metrics !== undefined, 'what counts is loaded')
    return metrics
  })
  return {
    runtime: new Proxy(runtime, {
      get(_, key) {
        if (key === 'runPodSandbox') return runPodSandbox
        const value: unknown = Reflect.get(current, key, current)
        return typeof value === 'function' ? value.bind(current) : value
      },
    }),
    metrics() {
      void loaded()
      return metrics ?? pending
    },
  }
}

/** Tells what is to be counted once what counts is loaded. Volumes are mounted then. */
function pendingMetrics(loaded: () => Promise<AgentMetrics>): AgentMetrics {
  const later = (tell: (metrics: AgentMetrics) => void): void => void loaded().then(tell)
  return {
    registry: createMetricsRegistry(),
    probes: createMetricsRegistry(),
    podWorked: (...told) => later((metrics) => metrics.podWorked(...told)),
    podStarted: (...told) => later((metrics) => metrics.podStarted(...told)),
    podRefused: (...told) => later((metrics) => metrics.podRefused(...told)),
    podEvicted: (...told) => later((metrics) => metrics.podEvicted(...told)),
    podPreempted: (...told) => later((metrics) => metrics.podPreempted(...told)),
    containerStarting: (...told) => later((metrics) => metrics.containerStarting(...told)),
    containerNotStarted: (...told) => later((metrics) => metrics.containerNotStarted(...told)),
    containerEnded: (...told) => later((metrics) => metrics.containerEnded(...told)),
    imagePulled: (...told) => later((metrics) => metrics.imagePulled(...told)),
    probed: (...told) => later((metrics) => metrics.probed(...told)),
    forgetProbes: (...told) => later((metrics) => metrics.forgetProbes(...told)),
    countMount: async (volume, mount) => (await loaded()).countMount(volume, mount),
  }
}

/** What of the options of a container runtime is its node agent's. */
export function isolatedNodeOptions(
  options: ContainerRuntimeOptions | undefined,
  root: RootDirectory | undefined,
): Pick<KubeletOptions, 'imageLimits' | 'evictionThresholds' | 'eviction' | 'clusterDns' | 'devicesDirectory'> {
  if (options === undefined) return {}
  const { clusterDns: servers, clusterDomain: domain, resolvConf } = options
  return {
    imageLimits: { ...imageLimits, ...options.imageLimits },
    evictionThresholds: options.evictionThresholds ?? evictionThresholds,
    ...(options.eviction === undefined ? {} : { eviction: options.eviction }),
    clusterDns: { servers, domain, resolvConf },
    ...(root === undefined ? {} : { devicesDirectory: join(root.rootDirectory, 'device-plugins') }),
  }
}

/** Removes what a runtime outside this process still has of a node that is not to be again. */
export async function removeAllSandboxes(runtime: Runtime): Promise<void> {
  for (const { id } of await runtime.listPodSandboxes()) await runtime.removePodSandbox(id)
}
