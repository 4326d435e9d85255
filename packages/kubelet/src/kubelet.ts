import { nodes, notFound, type Pod, pods, quantityValue, services, type Taint } from '@coracle/api'
import { type Client, createEventRecorder, createInformer } from '@coracle/client'
import type { AttachOptions, ExecOptions, ForwardPort, RunCommand } from '@coracle/client/streaming'
import { type Environment, type Timer, TurnLimiter } from '@coracle/environment'
import { NodeAdmission } from './admission/node-admission.ts'
import type { ClaimedDevices } from './devices/claimed-devices.ts'
import type { DeviceManager } from './devices/index.ts'
import { apiSources } from './env/api-sources.ts'
import type { ServerAddress } from './env/service-variables.ts'
import type { EvictionDetails, EvictionThresholds } from './eviction/thresholds.ts'
import type { HostsFiles } from './hosts/hosts-files.ts'
import type { OpenServiceNames } from './hosts/service-names.ts'
import type { ImageLimits } from './images/image-limits.ts'
import type { ClusterNameServers } from './isolation/cluster-name-servers.ts'
import type { LogOptions } from './log-options.ts'
import type { AgentMetricsSource, CountMount } from './metrics/agent-metrics.ts'
import { factsOf, type NodeFacts } from './node/node-facts.ts'
import { NodeHeartbeat } from './node/node-heartbeat.ts'
import type { NodeObservation } from './node/node-object.ts'
import type { NodeObserver } from './node/node-observer.ts'
import type { RuntimeCare } from './node/runtime-care.ts'
import { DeadContainerCollector } from './pod/dead-container-collector.ts'
import type { DeadContainerLimits } from './pod/dead-containers.ts'
import { clusterDomain } from './pod/pod-hostname.ts'
import { podLogs } from './pod/pod-logs.ts'
import { PodManager } from './pod/pod-manager.ts'
import { podUidOf } from './pod/pod-name.ts'
import { podAttach, podExec, podPortForward } from './pod/pod-streams.ts'
import { passesPerTurnMax } from './pod/pod-worker.ts'
import { startRetryMs } from './pod/start-troubles.ts'
import type { Runtime } from './runtimes/runtime.ts'
import type { FollowedManifests, StaticPods } from './static-pods/index.ts'
import { isMirror } from './static-pods/is-mirror.ts'
import { limitsStorage } from './storage/storage-limits.ts'
import type { StorageWatcher } from './storage/storage-watcher.ts'
import { createNodeUsage, type NodeUsage } from './usage/node-usage.ts'
import { type ClaimedVolume, type MountedVolumes, VolumesNotReadyError } from './volumes/claimed-volumes.ts'
import {
  freeMemory,
  mountVolumes,
  releaseVolumes,
  removeOtherVolumes,
  unmountVolumes,
} from './volumes/mount-volumes.ts'
import { PodTokens } from './volumes/pod-tokens.ts'
import type { VolumeDrivers } from './volumes/volume-drivers.ts'
import { canGiveAway } from './volumes/volume-owner.ts'
import type { VolumeRepeater } from './volumes/volume-repeater.ts'

/** Pods of files begin after so long without an answer of the API at the latest, and at once where it is away. */
export const apiWaitMaxMs = 10_000

/** Containers get no longer than this to stop when the node agent is told to stop them. */
export const shutdownGraceMaxMs = 10_000

export interface KubeletOptions {
  readonly client: Client
  readonly environment: Environment
  readonly nodeName: string
  readonly runtime: Runtime
  /** Address of the node as pods see it. Absent: 127.0.0.1. */
  readonly nodeAddress?: string
  /** The address by which other machines reach the node. Absent: the node says of none. */
  readonly externalAddress?: string
  /** Labels of the node beside the usual ones. */
  readonly labels?: Readonly<Record<string, string>>
  /** What the node is tainted with when it is first registered. */
  readonly taints?: readonly Taint[]
  /** Where its server listens for the API server. Absent: there is none. */
  readonly port?: number
  /** What the node has. Absent: what this host has. */
  readonly facts?: NodeFacts
  /** Which containers that have ended are kept. Absent: upstream's `deadContainerLimits`. */
  readonly deadContainers?: DeadContainerLimits
  /** Where volumes are made that live as long as their pod. Absent: they are not. */
  readonly volumesDirectory?: string
  /** What brings volumes there that are more than directories of the node. Absent: nothing does. */
  readonly volumeDrivers?: VolumeDrivers
  /** Where device plugins find the agent, and it keeps which pods have which devices. Absent: there are none. */
  readonly devicesDirectory?: string
  /** What has drivers prepare devices that pods have by claims. Absent: they are there where containers are simulated, and nowhere else. */
  readonly claimedDevices?: ClaimedDevices
  /** Which images go, where the runtime has any. Absent: upstream's `imageLimits`. */
  readonly imageLimits?: ImageLimits
  /** How little may be left of the node before pods go, where the runtime has images. Absent: none go. */
  readonly evictionThresholds?: EvictionThresholds
  /** What else there is to say of that. Absent: upstream's `evictionDetails`. */
  readonly eviction?: Partial<EvictionDetails>
  /** A manifest of a pod that the node runs whatever the API says, or a directory of such. Absent: there are none. */
  readonly manifestPath?: string
  /** Whether the host is to tell of changes there, which it does in its own time; unless told not to. They are read every 20 s in any case. */
  readonly watchesManifests?: boolean
  /** How isolated pods look names up. */
  readonly clusterDns?: ClusterDnsOptions
  /**
   * Where containers find the API that have no network of their own, and nothing at the address of its service; asked for each container. Absent, or
   * undefined: at that address.
   */
  readonly apiServer?: () => ServerAddress | undefined
  /** What knows the names of services, for processes that have hosts files of their own. Absent: nothing does. */
  readonly openServiceNames?: OpenServiceNames
  /** Where the agent counts its own work: asked when there is some. Absent: nowhere. */
  readonly metrics?: AgentMetricsSource
}

/** How isolated pods look names up: what is not said is as usual. */
export interface ClusterDnsOptions {
  /** Who knows names of the cluster. Absent: whoever is behind its Service `kube-system/kube-dns`. */
  readonly servers?: readonly string[] | undefined
  /** Absent: `cluster.local`. */
  readonly domain?: string | undefined
  /** Absent: `/etc/resolv.conf`. */
  readonly resolvConf?: string | undefined
}

/** What happens to the containers when the node agent stops: they run on, or they are stopped as if the node went down. */
export interface StopOptions {
  readonly containers: 'keep' | 'terminate'
  /** At most this long for each container to stop. Absent: `shutdownGraceMaxMs`. */
  readonly graceMaxMs?: number
}

/** The agent of one node. */
export interface Kubelet {
  readonly nodeName: string
  /** The address of the node as pods see it. */
  readonly nodeAddress: string
  /** What the node has. */
  readonly facts: NodeFacts
  readonly metrics: AgentMetricsSource | undefined
  /** What the node and its pods use. */
  readonly usage: NodeUsage
  /** Registers the node, takes up what already runs on it, and follows its pods. Resolves when it has seen them all. */
  start(): Promise<void>
  /** Stops for good. Pods stay in the API as they are; a later kubelet on the same runtime carries on with them. */
  stop(options: StopOptions): Promise<void>
  /** The pods of this node, as the API has them. */
  pods(): readonly Pod[]
  /** The volumes that pods of this node have by claims. */
  claimedVolumes(): readonly ClaimedVolume[]
  /**
   * The log of a container of a pod of this node, in pieces as they come. Throws an ApiError in upstream's words where
   * there is none.
   */
  logs(pod: Pod, options: LogOptions, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** What runs a command in a container of a pod of this node. Rejects in upstream's words where that container does not run. */
  exec(pod: Pod, options: ExecOptions): Promise<RunCommand>
  /** What connects streams to a container of a pod of this node. Rejects as `exec`. */
  attach(pod: Pod, options: AttachOptions): Promise<RunCommand>
  /** What connects streams to ports of a pod of this node. Rejects where it does not run. */
  portForward(pod: Pod): Promise<ForwardPort>
}

const countedBy =
  (metrics: AgentMetricsSource): CountMount =>
  (volume, mount) =>
    metrics()?.countMount(volume, mount) ?? mount()

/** Whether a driver has brought one of them. */
const isBrought = (mounted: MountedVolumes): boolean => [...mounted.values()].some(({ driver }) => driver !== undefined)

/** A node agent that has yet to be started. The runtime is its caller's to close. */
export function createKubelet(options: KubeletOptions): Kubelet {
  const { client, environment, nodeName, runtime, volumesDirectory: directory, deadContainers, metrics } = options
  const { volumeDrivers: drivers, claimedDevices, manifestPath, watchesManifests = true } = options
  const nodeAddress = options.nodeAddress ?? '127.0.0.1'
  const facts = options.facts ?? factsOf(runtime, nodeName)
  const logger = environment.logger.child({ node: nodeName })
  const recorder = createEventRecorder(client, environment, { component: 'kubelet', host: nodeName })
  let care: RuntimeCare | undefined
  let devices: DeviceManager | undefined
  let observer: Promise<NodeObserver> | undefined
  /** Loaded where there is something to see. */
  const observe = async (): Promise<NodeObservation> => {
    observer ??= environment.clock
      .hold(import('./node/node-observer.ts'))
      .then(({ NodeObserver }) => new NodeObserver(runtime, environment.clock))
    return (await observer).observe(care?.conditions, devices?.counts())
  }
  const heartbeat = new NodeHeartbeat(client, environment, [
    {
      name: nodeName,
      address: nodeAddress,
      facts,
      runtimeVersion: `${runtime.name}://${runtime.version}`,
      labels: options.labels ?? {},
      ...(runtime.status === undefined ? {} : { observe }),
      ...(options.externalAddress === undefined ? {} : { externalAddress: options.externalAddress }),
      ...(options.taints === undefined ? {} : { taints: options.taints }),
      ...(options.port === undefined ? {} : { port: options.port }),
    },
  ])
  // Simulated containers have no environment that anybody could look into.
  const serviceInformer = runtime.runsProcesses ? createInformer(client, services, {}, environment) : undefined
  const sources = apiSources(client, serviceInformer, options.apiServer)
  const { servers, domain = clusterDomain, resolvConf = '/etc/resolv.conf' } = options.clusterDns ?? {}
  let nameServers: ClusterNameServers | undefined
  const makesFiles = runtime.runsProcesses && directory !== undefined
  const tokens = makesFiles ? new PodTokens(client, { ...environment, logger }) : undefined
  const volumes = {
    client,
    objects: sources,
    ...(tokens === undefined ? {} : { tokens }),
    allocatable: facts.capacity,
    isReal: runtime.runsProcesses,
    hasOwners: runtime.runsProcesses && canGiveAway(),
    ...(directory === undefined ? {} : { directory, logger }),
    ...(drivers === undefined ? {} : { drivers }),
    ...(claimedDevices === undefined ? {} : { claimedDevices }),
    ...(metrics === undefined ? {} : { countMount: countedBy(metrics) }),
  }
  const giveDevicesBack = async (podUid: string): Promise<void> => {
    await claimedDevices?.unprepare(podUid).catch((error: Error) => {
      throw new VolumesNotReadyError(`unprepare dynamic resources: ${error.message}`)
    })
  }
  let hosts: Promise<HostsFiles> | undefined
  /** Loaded where processes can have such files. */
  const hostsFiles = (): Promise<HostsFiles> | undefined => {
    if (!makesFiles || runtime.hasPrivateMounts !== true) return undefined
    const { openServiceNames } = options
    const parts = { environment: { ...environment, logger }, runtime, directory, clusterDomain: domain }
    const pods = () => manager.storing().map(({ pod }) => pod)
    hosts ??= environment.clock
      .hold(import('./hosts/hosts-files.ts'))
      .then(({ HostsFiles }) => new HostsFiles({ ...parts, pods, ...(openServiceNames && { openServiceNames }) }))
    return hosts
  }
  const context = {
    client,
    environment: { ...environment, logger },
    runtime,
    sources,
    mountVolumes: async (pod: Pod, present?: MountedVolumes) => {
      const mounted = await mountVolumes(pod, volumes, present)
      if (drivers !== undefined && present === undefined && isBrought(mounted)) void repeatVolumes(drivers)
      return mounted
    },
    withHosts: async (...asked: Parameters<HostsFiles['withHosts']>) =>
      (await hostsFiles())?.withHosts(...asked) ?? asked[0],
    ...(directory === undefined
      ? {}
      : {
          unmountVolumes: async (podUid: string) => {
            tokens?.forget(podUid)
            await runtime.forgetPod?.(podUid)
            await giveDevicesBack(podUid)
            return unmountVolumes(podUid, { directory }, drivers)
          },
          releaseVolumes: async (podUid: string) => {
            await giveDevicesBack(podUid)
            return releaseVolumes(directory, podUid, drivers)
          },
        }),
    turns: new TurnLimiter(environment.clock, passesPerTurnMax),
    ...(runtime.isolates === true
      ? {
          isolation: {
            client,
            runtime,
            memoryBytes: quantityValue(facts.capacity.memory ?? '0'),
            dns: { servers: async () => servers ?? nameServers?.addresses() ?? [], domain, resolvConf },
          },
        }
      : {}),
    recorder,
    nodeName,
    nodeAddress,
    devices: () => devices,
    ...(claimedDevices === undefined ? {} : { claimedDevices }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(deadContainers === undefined ? {} : { deadContainers }),
    allocatable: facts.capacity,
    admission: new NodeAdmission({
      clock: environment.clock,
      allocatable: facts.capacity,
      operatingSystem: facts.operatingSystem,
      strictGroups: facts.features?.supplementalGroupsPolicy === true,
      pressures: () => care?.conditions ?? [],
      others: () => manager.preemptable(nodeName),
      known: () => heartbeat.known(nodeName),
      read: () => client.get(nodes, { name: nodeName }),
      devices: () => devices,
    }),
  }
  const manager = new PodManager(runtime, logger, (name) => (name === nodeName ? context : undefined))
  const informer = createInformer(client, pods, { fieldSelector: `spec.nodeName=${nodeName}` }, environment)
  const stopping = new AbortController()
  /** Pods that limit what they store are measured; what does that is loaded where there are such. */
  const setPod = (pod: Pod): void => {
    if (isMirror(pod)) return void loadStaticPods().then((loaded) => loaded.mirrorSet(pod))
    manager.setPod(pod)
    if (directory !== undefined && runtime.runsProcesses && limitsStorage(pod)) void lookAfterStorage(directory)
  }
  let staticPods: StaticPods | undefined
  let manifests: FollowedManifests | undefined
  let loadingStaticPods: Promise<StaticPods> | undefined
  /** Loaded where there are such pods, or what shows them in the API. */
  const loadStaticPods = (): Promise<StaticPods> => {
    loadingStaticPods ??= environment.clock.hold(import('./static-pods/index.ts')).then(async (loaded) => {
      const withHosts: typeof context.withHosts = async (mounts, pod, addresses, signal) =>
        (await hostsFiles())?.withHosts(mounts, pod, addresses, signal, { waits: isApiKnown }) ?? mounts
      const own = { ...context, withHosts }
      const parts = { client, environment: { ...environment, logger }, nodeName, context: own, manager }
      staticPods = new loaded.StaticPods(parts)
      if (manifestPath === undefined) {
        staticPods.set([])
        staticPods.seeMirrors()
      }
      return staticPods
    })
    return loadingStaticPods
  }
  const followStaticPods = async (path: string): Promise<void> => {
    const pods = await loadStaticPods()
    const { followManifests } = await import('./static-pods/index.ts')
    const followed = await followManifests(path, nodeName, { ...environment, logger }, pods, watchesManifests)
    if (stopping.signal.aborted) followed.close()
    else manifests = followed
  }
  /** Whether the node is registered, and its pods and the services are known. */
  let isApiKnown = false
  const learnFromApi = async (onFailure: () => void): Promise<void> => {
    // The API may be a pod of files, and still learning whom it may trust.
    await heartbeat.start({ onFailure, persists: manifestPath !== undefined })
    await startDrivers()
    // No container starts before its services are known.
    serviceInformer?.start()
    await serviceInformer?.waitForSync(stopping.signal)
    if (runtime.isolates === true && serviceInformer !== undefined && servers === undefined) {
      const { ClusterNameServers } = await import('./isolation/cluster-name-servers.ts')
      nameServers = new ClusterNameServers(serviceInformer, environment.clock)
      nameServers.start()
    }
    informer.start()
    await informer.waitForSync(stopping.signal)
    isApiKnown = true
  }
  let driversStart: Promise<void> | undefined
  const startDrivers = (): Promise<void> => {
    driversStart ??= (drivers?.start(stopping.signal) ?? Promise.resolve()).then(startDevices)
    return driversStart
  }
  /** A node that cannot have device plugins runs all pods that need none. */
  const startDevices = async (): Promise<void> => {
    if (options.devicesDirectory === undefined) return
    const { DeviceManager } = await environment.clock.hold(import('./devices/index.ts'))
    const manages = new DeviceManager({
      environment: { ...environment, logger },
      directory: options.devicesDirectory,
      isActive: (podUid) => !isApiKnown || manager.isActive(podUid),
    })
    try {
      await manages.start()
      if (stopping.signal.aborted) await manages.stop()
      else devices = manages
    } catch (error) {
      logger.warn('device plugins cannot register', { directory: options.devicesDirectory, error })
    }
  }
  /** The node of a control plane runs the API server itself: where that is away, pods of files do not wait for it. */
  const startStaticPods = async (path: string, learned: Promise<void>, away: Promise<void>): Promise<void> => {
    const late = Promise.withResolvers<void>()
    const timer = environment.clock.setTimer(apiWaitMaxMs, late.resolve)
    await Promise.race([learned, away, late.promise])
    timer.cancel()
    await startDrivers()
    await followStaticPods(path)
  }
  /** Of what shows a static pod in the API that pod. */
  const asRun = (pod: Pod): Pod => (isMirror(pod) ? (staticPods?.podOf(pod) ?? pod) : pod)
  let storageWatcher: StorageWatcher | undefined
  const lookAfterStorage = async (ownDirectory: string): Promise<void> => {
    const { watchStorage } = await import('./storage/storage-watcher.ts')
    if (stopping.signal.aborted) return
    const parts = { environment: { ...environment, logger }, runtime, directory: ownDirectory }
    storageWatcher ??= watchStorage({ ...parts, pods: () => manager.storing().filter(({ pod }) => limitsStorage(pod)) })
    storageWatcher.wake()
  }
  let repeater: VolumeRepeater | undefined
  /** Loaded where a driver has brought something. */
  const repeatVolumes = async (ownDrivers: VolumeDrivers): Promise<void> => {
    const { VolumeRepeater } = await environment.clock.hold(import('./volumes/volume-repeater.ts'))
    if (stopping.signal.aborted) return
    const { hasOwners } = volumes
    repeater ??= new VolumeRepeater({
      ...{ client, environment: { ...environment, logger }, drivers: ownDrivers, hasOwners },
      pods: () => manager.storing(),
      onProblem: (pod, problem) => recorder.event(pod, 'Warning', 'FailedMount', problem),
    })
    repeater.wake()
  }
  informer.addHandler({
    add: setPod,
    update: (_, pod) => setPod(pod),
    delete: (pod) => {
      if (isMirror(pod)) void loadStaticPods().then((loaded) => loaded.mirrorRemoved(pod))
      else manager.removePod(pod)
    },
  })
  /** Gives why some have to stay for now. Never rejects. */
  const removeOtherDevices = async (isKnown: (podUid: string) => boolean): Promise<readonly unknown[]> => {
    const podUids = (await claimedDevices?.podUids().catch(() => [])) ?? []
    const given = await Promise.allSettled(podUids.filter((podUid) => !isKnown(podUid)).map(giveDevicesBack))
    return given.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }
  let removal: Timer | undefined
  /** A driver that is away may have to take something away first. Never rejects. */
  const removeOthers = async (ownDirectory: string): Promise<void> => {
    const isKnown = (podUid: string) => manager.hasPod(podUid)
    const [problem] = [
      ...(await removeOtherDevices(isKnown)),
      ...(await removeOtherVolumes(ownDirectory, isKnown, drivers)),
    ]
    if (problem === undefined || stopping.signal.aborted) return
    logger.warn('volumes of pods that are gone have to stay for now', { error: problem })
    removal = environment.clock.setTimer(startRetryMs, () => void removeOthers(ownDirectory))
  }
  let orphansRemoval: Timer | undefined
  /** What is left of a pod may resist, as where its network cannot be taken down: the node does not wait for that. Never rejects. */
  const removeOrphans = async (): Promise<void> => {
    const [error] = await manager.removeOrphans()
    if (error === undefined || stopping.signal.aborted) return
    logger.warn('what is left of pods that are gone has to stay for now', { error })
    orphansRemoval = environment.clock.setTimer(startRetryMs, () => void removeOrphans())
  }
  const collector =
    deadContainers &&
    new DeadContainerCollector({ ...environment, logger }, (nowMs) =>
      manager.removeDeadContainers(deadContainers, nowMs),
    )
  /** Loaded where containers have images. */
  const startCare = async (images: NonNullable<Runtime['images']>): Promise<void> => {
    const { careForRuntime } = await import('./node/runtime-care.ts')
    if (stopping.signal.aborted) return
    const parts = { environment: { ...environment, logger }, nodeName, recorder, runtime, images, manager, directory }
    const { imageLimits: limits, evictionThresholds: thresholds, eviction } = options
    care = careForRuntime({ ...parts, limits, thresholds, eviction })
  }

  const usage = createNodeUsage(runtime, environment.clock)
  return {
    nodeName,
    nodeAddress,
    facts,
    metrics,
    usage: { ...usage, podMetrics: (pods) => usage.podMetrics(pods.map(asRun)) },
    async start() {
      const away = Promise.withResolvers<void>()
      const learned = learnFromApi(away.resolve)
      learned.catch(() => {})
      if (manifestPath !== undefined) await startStaticPods(manifestPath, learned, away.promise)
      collector?.start()
      await learned
      if (manifestPath !== undefined) (await loadStaticPods()).seeMirrors()
      if (informer.list().length > 0) void hostsFiles()?.then((files) => files.takeUp())
      await removeOrphans()
      if (runtime.images !== undefined) await startCare(runtime.images)
      // Drivers may take their time for what nobody waits for.
      if (directory !== undefined) void removeOthers(directory)
    },
    async stop({ containers, graceMaxMs = shutdownGraceMaxMs }) {
      stopping.abort(new Error('the node agent was stopped'))
      collector?.stop()
      care?.stop()
      storageWatcher?.stop()
      repeater?.stop()
      manifests?.close()
      staticPods?.stop()
      removal?.cancel()
      orphansRemoval?.cancel()
      try {
        await Promise.all([informer.stop(), serviceInformer?.stop(), heartbeat.close(), manager.close()])
        await (await hosts)?.stop()
        if (containers === 'terminate') await manager.stopContainers(graceMaxMs)
        await devices?.stop()
        await drivers?.stop({ unmounts: containers === 'terminate' })
        // As if the node went down: what is in memory does not outlive it.
        if (containers === 'terminate' && directory !== undefined)
          await freeMemory(directory, ...informer.list().map(podUidOf))
      } finally {
        recorder.stop()
      }
    },
    pods: () => informer.list().map(asRun),
    claimedVolumes: () => manager.claimedVolumes(),
    logs(pod, logOptions, signal) {
      if (pod.spec.nodeName !== nodeName) throw notFound({ group: '', plural: 'pods' }, pod.metadata.name ?? '')
      const run = asRun(pod)
      return podLogs(runtime, run, manager.containerStatuses(run), logOptions, environment.clock.now(), signal)
    },
    exec: async (pod, execOptions) => podExec(runtime, manager.containerStatuses(asRun(pod)), execOptions),
    attach: async (pod, attachOptions) => podAttach(runtime, manager.containerStatuses(asRun(pod)), attachOptions),
    portForward: (pod) => podPortForward(runtime, asRun(pod)),
  }
}
