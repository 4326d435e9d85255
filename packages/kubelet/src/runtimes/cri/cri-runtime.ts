import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { CommandStreams } from '@coracle/client/streaming'
import type { Environment, Timer } from '@coracle/environment'
import type { Decoded } from '@coracle/environment/grpc'
import { complete } from '@coracle/environment/grpc-messages'
import type { LogReadOptions } from '../../log-options.ts'
import {
  type ContainerConfig,
  ContainerConfigError,
  type ContainerRuntimeStatus,
  type ContainerStats,
  type ContainerStoppedEvent,
  type ContainerStorage,
  type ExecResult,
  execOutputBytesMax,
  type LinuxResources,
  type PodSandboxConfig,
  type PodSandboxStats,
  type PodSandboxStatus,
  type Runtime,
  type RuntimeHandler,
  type RuntimeStatus,
  RuntimeUnavailableError,
} from '../runtime.ts'
import { type CriCalls, type CriService, callTimeoutMs, isNotFound } from './calls.ts'
import { ControlGroups } from './control-groups.ts'
import { CriImages } from './images.ts'
import { lastWordsOf } from './last-words.ts'
import { removeLog, rotateLog } from './log-files.ts'
import { readCriLog } from './log-reader.ts'
import {
  containerStates,
  containerStatus,
  type listContainersResponse,
  type listPodSandboxResponse,
  type runtimeHandler,
  sandboxReady,
} from './messages.ts'
import { agentLabel, annotations, labels } from './names.ts'
import { ContainerObserver } from './observer.ts'
import type { VolumeParts } from './parts/volume-parts.ts'
import { PodFiles } from './pod-files.ts'
import { containerRequest, resourcesRequest, sandboxRequest } from './requests.ts'
import { SandboxTraffic } from './sandbox-traffic.ts'
import { containerStatsOf, podSandboxStatsOf } from './stats.ts'
import { type CriContainerStatus, runtimeStatus } from './statuses.ts'
import { UserNamespaces } from './user-namespaces.ts'

/** How often logs are looked at whether they have grown too large: upstream's containerLogMonitorInterval. */
const logLookMs = 10_000
/** A command whose caller has given up is ended by the runtime by then: one whose call is cancelled runs on. */
const execGraceMs = 2_000

const nanosPerMs = 1_000_000

export interface CriRuntimeParts {
  readonly environment: Environment
  readonly service: CriService
  /** As the runtime calls itself. */
  readonly name: string
  readonly version: string
  readonly supportsGroupsPolicy: boolean
  /** Why it does not mount this path of an image as a volume, where all of it is ''; undefined: it does, or will say so itself. */
  readonly lackOfImageVolumes: (path: string) => string | undefined
  /** Whose sandboxes and containers these are. */
  readonly agent: string
  /** Where files of pods are made. */
  readonly filesDirectory: string
  /** Where it is kept by whom images were pulled. */
  readonly imageRecordsDirectory: string
  /** Where the logs of pods are, below a directory for each. */
  readonly logsDirectory: string
  /** Keeps parts of volumes what they are until containers have them. */
  readonly volumeParts: Pick<VolumeParts, 'clear' | 'hold'>
  /** Whether the kernel can be told to end all of a container with what it kills for want of memory. Absent: it cannot. */
  readonly endsTogether?: boolean
}

type PodIdentity = Pick<PodSandboxConfig, 'podUid' | 'podName' | 'podNamespace'>

/** What is known of a container and does not change while it is in a state. */
interface KnownContainer {
  readonly state: number
  readonly status: CriContainerStatus
  readonly lastWords: string
}

/** Containers of a runtime that speaks the Container Runtime Interface, such as containerd or CRI-O. */
export class CriRuntime implements Runtime {
  readonly name: string
  readonly version: string
  readonly runsProcesses = true
  readonly isolates = true
  readonly supportsGroupsPolicy: boolean
  readonly images: CriImages
  readonly #parts: CriRuntimeParts
  readonly #service: CriService
  readonly #calls: CriCalls
  readonly #files: PodFiles
  readonly #users: UserNamespaces
  readonly #observer: ContainerObserver
  readonly #listeners = new Set<(event: ContainerStoppedEvent) => void>()
  readonly #containers = new Map<string, KnownContainer>()
  /** Of sandboxes that are ready. */
  readonly #addresses = new Map<string, readonly string[]>()
  readonly #traffic: SandboxTraffic
  readonly #controlGroups: ControlGroups
  /** Of containers that have been created and not started: gives up the mounts of parts of their volumes. */
  readonly #heldParts = new Map<string, { readonly sandboxId: string; release(): Promise<void> }>()
  #handlers: readonly RuntimeHandler[] = []
  #logTimer: Timer | undefined
  #isClosed = false

  constructor(parts: CriRuntimeParts) {
    this.name = parts.name
    this.version = parts.version
    this.supportsGroupsPolicy = parts.supportsGroupsPolicy
    this.#parts = parts
    this.#service = parts.service
    this.#calls = parts.service.calls
    this.images = new CriImages(parts.service.calls, parts.imageRecordsDirectory)
    this.#traffic = new SandboxTraffic(parts.service.calls)
    this.#controlGroups = new ControlGroups(parts.service.calls)
    this.#files = new PodFiles(parts.filesDirectory, parts.environment.random)
    this.#users = new UserNamespaces(parts.environment.random, () => this.#files.pods())
    this.#observer = new ContainerObserver(parts.service, parts.environment, parts.agent, (event) => this.#tell(event))
  }

  /** Removes what an earlier life has left of pods that are gone, and begins to look what becomes of containers. */
  async start(): Promise<void> {
    await this.#parts.volumeParts.clear()
    await this.#removeLeftovers()
    this.#observer.start()
    this.#lookAfterLogs()
  }

  subscribe(listener: (event: ContainerStoppedEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #tell(event: ContainerStoppedEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  get handlers(): readonly RuntimeHandler[] {
    return this.#handlers
  }

  async status(): Promise<RuntimeStatus> {
    try {
      const { status, runtimeHandlers } = await this.#calls.status({})
      const { conditions = [] } = status ?? {}
      if (unmet(conditions, 'RuntimeReady') === undefined) this.#handlers = runtimeHandlers.map(handlerOf)
      return runtimeProblems(conditions)
    } catch (error) {
      if (error instanceof RuntimeUnavailableError) return { problems: ['container runtime is down'] }
      const why = error instanceof Error ? error.message : String(error)
      return { problems: [`container runtime status check may not have completed yet: ${why}`] }
    }
  }

  // --- Sandboxes ----------------------------------------------------------------------------------------------------

  async listPodSandboxes(podUid?: string): Promise<readonly PodSandboxStatus[]> {
    const { items } = await this.#calls.listPodSandbox({
      filter: { labelSelector: this.#selectorOf(podUid) },
    })
    const all = await Promise.all(items.map((item) => this.#sandboxOf(item, podUid === undefined)))
    return all.filter((sandbox) => sandbox !== undefined)
  }

  /** One of many is shown without its addresses where the runtime cannot tell them: it must not hide the others. */
  async #sandboxOf(
    item: Decoded<typeof listPodSandboxResponse>['items'][number],
    isOneOfMany: boolean,
  ): Promise<PodSandboxStatus | undefined> {
    const { id, metadata, state, createdAt } = item
    const ready = state === sandboxReady
    try {
      return {
        id,
        podUid: metadata?.uid ?? '',
        podName: metadata?.name ?? '',
        podNamespace: metadata?.namespace ?? '',
        attempt: metadata?.attempt ?? 0,
        ready,
        createdAtMs: createdAt / nanosPerMs,
        addresses: ready ? await (isOneOfMany ? this.#addressesOf(id).catch(noneIfOdd) : this.#addressesOf(id)) : [],
      }
    } catch (error) {
      // It has just gone.
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async #addressesOf(id: string): Promise<readonly string[]> {
    const known = this.#addresses.get(id)
    if (known !== undefined) return known
    const { status } = await this.#calls.podSandboxStatus({ podSandboxId: id })
    const { ip = '', additionalIps = [] } = status?.network ?? {}
    const addresses = [ip, ...additionalIps.map((each) => each.ip)].filter((each) => each !== '')
    this.#addresses.set(id, addresses)
    return addresses
  }

  async runPodSandbox(config: PodSandboxConfig): Promise<PodSandboxStatus> {
    const given = await this.#withUsers(config)
    await this.#files.keepSandbox(given)
    const request = sandboxRequest(given, this.#parts.agent, this.#logDirectory(config))
    const runtimeHandler = config.isolation?.runtimeHandler ?? ''
    // Networks may take their time: upstream's callers give twice as long.
    const limits = { timeoutMs: 2 * callTimeoutMs }
    const { podSandboxId: id } = await this.#calls.runPodSandbox({ config: request, runtimeHandler }, limits)
    const { status } = await this.#calls.podSandboxStatus({ podSandboxId: id })
    return {
      id,
      podUid: config.podUid,
      podName: config.podName,
      podNamespace: config.podNamespace,
      attempt: config.attempt,
      ready: status?.state === sandboxReady,
      createdAtMs: (status?.createdAt ?? 0) / nanosPerMs,
      addresses: await this.#addressesOf(id),
    }
  }

  async #withUsers(config: PodSandboxConfig): Promise<PodSandboxConfig> {
    const { podUid, isolation } = config
    if (isolation?.ownUsers !== true) return config
    return { ...config, isolation: { ...isolation, users: await this.#users.ofPod(podUid) } }
  }

  async stopPodSandbox(id: string): Promise<void> {
    await this.#unlessGone(this.#calls.stopPodSandbox({ podSandboxId: id }))
    this.#addresses.delete(id)
    this.#traffic.forget(id)
  }

  async removePodSandbox(id: string): Promise<void> {
    const { items } = await this.#calls.listPodSandbox({
      filter: { labelSelector: this.#selectorOf(undefined) },
    })
    const sandbox = items.find((item) => item.id === id)
    await this.stopPodSandbox(id)
    await this.#unlessGone(this.#calls.removePodSandbox({ podSandboxId: id }))
    // The runtime has removed its containers with it.
    for (const [containerId, { sandboxId }] of this.#heldParts)
      if (sandboxId === id) await this.#releaseParts(containerId)
    for (const [containerId, { status }] of this.#containers) {
      if (status.labels[labels.podUid] !== sandbox?.metadata?.uid || !(await this.#isGone(containerId))) continue
      this.#containers.delete(containerId)
      this.#controlGroups.forget(containerId)
    }
    if (sandbox?.metadata === undefined) return
    const { uid, name, namespace } = sandbox.metadata
    if (items.some((item) => item.id !== id && item.metadata?.uid === uid)) return
    await this.#removeFiles({ podUid: uid, podName: name, podNamespace: namespace })
  }

  /** The files of a pod last: they tell the next life of the node agent that there may be logs. */
  async #removeFiles(pod: PodIdentity): Promise<void> {
    await rm(this.#logDirectory(pod), { recursive: true, force: true })
    await this.#files.remove(pod.podUid)
    await this.#users.release(pod.podUid)
  }

  async forgetPod(podUid: string): Promise<void> {
    const pod = await this.#files.pod(podUid)
    if (pod !== undefined && (await this.listPodSandboxes(podUid)).length === 0) await this.#removeFiles(pod)
  }

  /** Removes files of pods that have no sandbox any more, which an earlier life of the node agent has not got round to. */
  async #removeLeftovers(): Promise<void> {
    const sandboxes = await this.listPodSandboxes()
    for (const pod of await this.#files.pods()) {
      if (!sandboxes.some(({ podUid }) => podUid === pod.podUid)) await this.#removeFiles(pod)
    }
  }

  #logDirectory({ podUid, podName, podNamespace }: PodIdentity): string {
    return join(this.#parts.logsDirectory, `${podNamespace}_${podName}_${podUid}`)
  }

  // --- Containers ---------------------------------------------------------------------------------------------------

  async listContainers(podUid?: string): Promise<readonly ContainerRuntimeStatus[]> {
    const { containers } = await this.#calls.listContainers({
      filter: { labelSelector: this.#selectorOf(podUid) },
    })
    const all = await Promise.all(
      containers.map(async (item) => {
        const { id, podSandboxId, state } = item
        try {
          const known = await this.#containerOf(id, state)
          return known && runtimeStatus(known.status, podSandboxId, known.lastWords)
        } catch (error) {
          // One of many must not hide the others. Who looks at its pod has to know it.
          if (podUid !== undefined || error instanceof RuntimeUnavailableError) throw error
          const known = this.#containers.get(id)?.status
          return runtimeStatus(known === undefined ? listedStatus(item) : { ...known, state }, podSandboxId, '')
        }
      }),
    )
    return all.filter((status) => status !== undefined)
  }

  /** What is known of a container in this state; undefined where it has just gone. */
  async #containerOf(id: string, state: number | undefined): Promise<KnownContainer | undefined> {
    const known = this.#containers.get(id)
    if (known !== undefined && known.state === state) return known
    try {
      const { status } = await this.#calls.containerStatus({ containerId: id })
      if (status === undefined) return undefined
      const lastWords = status.finishedAt > 0 ? await lastWordsOf(status) : ''
      const found = { state: status.state, status, lastWords }
      this.#containers.set(id, found)
      return found
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async #isGone(id: string): Promise<boolean> {
    return (await this.#containerOf(id, undefined)) === undefined
  }

  async createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    for (const { name, containerPath, image } of config.mounts) {
      const lack = image && this.#parts.lackOfImageVolumes(image.path)
      if (lack !== undefined) throw new Error(`volumeMount "${name}" cannot be mounted at ${containerPath}: ${lack}`)
    }
    const { status } = await this.#calls.podSandboxStatus({ podSandboxId: sandboxId })
    const { uid: podUid = '', name: podName = '', namespace: podNamespace = '', attempt = 0 } = status?.metadata ?? {}
    const sandbox: PodSandboxConfig = (await this.#files.sandbox(podUid, attempt)) ?? {
      podUid,
      podName,
      podNamespace,
      attempt,
      hostname: podName,
      hostNetwork: false,
    }
    const users = sandbox.isolation?.users
    if (config.isolation?.ownUsers === true && users === undefined)
      throw new ContainerConfigError('which users of the node its pod has is not known any more: delete the pod')
    const path = config.terminationMessagePath ?? ''
    const mounts = [
      ...(await this.#files.hosts(sandbox, await this.#addressesOf(sandboxId), config.mounts)),
      ...(path === '' ? [] : [await this.#files.lastWords(podUid, config.name, path)]),
    ]
    const held = await this.#parts.volumeParts.hold(config)
    try {
      const place = {
        podName,
        podNamespace,
        podUid,
        agent: this.#parts.agent,
        logPath: join(config.name, `${config.attempt}.log`),
        mounts,
        users,
        endsTogether: this.#parts.endsTogether === true,
      }
      const { containerId } = await this.#calls.createContainer({
        podSandboxId: sandboxId,
        config: containerRequest({ ...config, mounts: held.mounts }, place),
        sandboxConfig: sandboxRequest(sandbox, this.#parts.agent, this.#logDirectory(sandbox)),
      })
      this.#heldParts.set(containerId, { sandboxId, release: held.release })
      return containerId
    } catch (error) {
      await held.release()
      throw error
    }
  }

  /** What it sees of volumes it has of its own from then on, or it will not start any more. */
  async startContainer(id: string): Promise<void> {
    try {
      await this.#calls.startContainer({ containerId: id })
    } finally {
      await this.#releaseParts(id)
    }
  }

  async #releaseParts(id: string): Promise<void> {
    const held = this.#heldParts.get(id)
    this.#heldParts.delete(id)
    await held?.release()
  }

  async stopContainer(id: string, timeoutMs: number): Promise<void> {
    const timeout = Math.max(0, Math.ceil(timeoutMs / 1000))
    const limits = { timeoutMs: timeout * 1000 + callTimeoutMs }
    await this.#unlessGone(this.#calls.stopContainer({ containerId: id, timeout }, limits))
  }

  async removeContainer(id: string): Promise<void> {
    const known = await this.#containerOf(id, undefined)
    await this.#unlessGone(this.#calls.removeContainer({ containerId: id }))
    await this.#releaseParts(id)
    this.#containers.delete(id)
    this.#controlGroups.forget(id)
    if (known !== undefined) await removeLog(known.status.logPath)
  }

  async updateContainerResources(id: string, resources: LinuxResources): Promise<void> {
    await this.#calls.updateContainerResources({
      containerId: id,
      linux: resourcesRequest(resources, this.#parts.endsTogether === true),
    })
  }

  async containerStats(ids: readonly string[]): Promise<ReadonlyMap<string, ContainerStats>> {
    if (ids.length === 0) return new Map()
    const { stats } = await this.#calls.listContainerStats({
      filter: { labelSelector: this.#selectorOf(undefined) },
    })
    const wanted = new Set(ids)
    const found = new Map<string, ContainerStats>()
    for (const each of stats) {
      const id = each.attributes?.id ?? ''
      const used = wanted.has(id) ? containerStatsOf(each) : undefined
      if (used !== undefined) found.set(id, { ...(await this.#controlGroups.statsOf(id)), ...used })
    }
    return found
  }

  async containerStorage(podUid: string): Promise<readonly ContainerStorage[]> {
    const [{ containers }, { stats }] = await Promise.all([
      this.#calls.listContainers({ filter: { labelSelector: this.#selectorOf(podUid) } }),
      this.#calls.listContainerStats({ filter: { labelSelector: this.#selectorOf(podUid) } }),
    ])
    const bytesOf = new Map(stats.map((each) => [each.attributes?.id, each.writableLayer?.usedBytes?.value]))
    const found = new Map<string, ContainerStorage>()
    for (const { id, metadata, labels: given, state } of containers) {
      const { [labels.podName]: podName = '', [labels.podNamespace]: podNamespace = '' } = given
      const name = metadata?.name ?? ''
      const layerBytes = state === containerStates.running ? bytesOf.get(id) : undefined
      if (found.has(name) && layerBytes === undefined) continue
      const logDirectory = join(this.#logDirectory({ podUid, podName, podNamespace }), name)
      found.set(name, { name, logDirectory, ...(layerBytes === undefined ? {} : { layerBytes }) })
    }
    return [...found.values()]
  }

  async podSandboxStats(): Promise<ReadonlyMap<string, PodSandboxStats>> {
    const filter = { labelSelector: this.#selectorOf(undefined) }
    // A runtime may have no such procedure, or not be able to tell; that it is away its containers tell.
    const { stats } = await this.#calls.listPodSandboxStats({ filter }).catch(() => ({ stats: [] }))
    const found = new Map(stats.map((each) => [each.attributes?.id ?? '', podSandboxStatsOf(each)]))
    const sandboxes = await this.listPodSandboxes()
    const untold = sandboxes.filter(({ id, addresses }) => addresses.length > 0 && !found.get(id)?.interfaces)
    for (const { id } of untold) {
      const interfaces = await this.#traffic.interfacesOf(id)
      if (interfaces !== undefined) found.set(id, { ...found.get(id), interfaces })
    }
    return found
  }

  async execSync(
    id: string,
    command: readonly string[],
    signal: AbortSignal,
    timeoutMs: number = 0,
  ): Promise<ExecResult> {
    signal.throwIfAborted()
    // The runtime ends a command that takes too long; one whose call is cancelled it leaves alone.
    const timeout = Math.ceil(timeoutMs / 1000)
    const call = this.#calls.execSync(
      { containerId: id, cmd: command, timeout },
      timeout > 0 ? { timeoutMs: timeout * 1000 + execGraceMs } : { timeoutMs: Number.POSITIVE_INFINITY, signal },
    )
    const given = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
    )
    const { stdout, stderr, exitCode } = await Promise.race([call, given])
    const output = Buffer.concat([stdout, stderr]).subarray(0, execOutputBytesMax)
    return { exitCode, output: output.toString('utf8') }
  }

  async exec(
    id: string,
    command: readonly string[],
    tty: boolean,
    streams: CommandStreams,
    signal: AbortSignal,
  ): Promise<number> {
    return this.#service.run({ containerId: id, command, tty }, streams, signal)
  }

  async attach(id: string, streams: CommandStreams, signal: AbortSignal): Promise<void> {
    const known = await this.#containerOf(id, undefined)
    if (known === undefined) throw new Error(`container ${id} is not running`)
    const tty = known.status.annotations[annotations.terminal] === 'true'
    await this.#service.run({ containerId: id, tty }, streams, signal)
  }

  async portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
    await this.#service.forwardPort(sandboxId, port, stream, signal)
  }

  // --- Logs ---------------------------------------------------------------------------------------------------------

  async *readLog(id: string, options: LogReadOptions, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const known = await this.#containerOf(id, undefined)
    if (known === undefined) throw new Error(`container ${id} not found`)
    const writer = {
      isRunning: async () => {
        const now = await this.#containerOf(id, undefined).catch(() => undefined)
        return now !== undefined && now.status.finishedAt === 0
      },
      onStop: (listener: () => void) =>
        this.subscribe(({ containerId }) => {
          if (containerId === id) listener()
        }),
    }
    yield* readCriLog(known.status.logPath, options, { clock: this.#parts.environment.clock, writer }, signal)
  }

  #lookAfterLogs(): void {
    if (this.#isClosed) return
    const { clock } = this.#parts.environment
    this.#logTimer = clock.setTimer(logLookMs, () => void this.#rotateLogs().finally(() => this.#lookAfterLogs()))
  }

  async #rotateLogs(): Promise<void> {
    const { clock, logger } = this.#parts.environment
    for (const id of this.#observer.running) {
      const path = this.#containers.get(id)?.status.logPath
      if (path === undefined) continue
      try {
        await rotateLog(path, clock.now(), async () => {
          await this.#calls.reopenContainerLog({ containerId: id })
        })
      } catch (error) {
        logger.warn('container log not rotated', { path, error })
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#logTimer?.cancel()
    await this.#observer.close()
    this.#listeners.clear()
    await Promise.all([...this.#heldParts.keys()].map((id) => this.#releaseParts(id)))
    this.#service.close()
  }

  // --- Odds and ends ------------------------------------------------------------------------------------------------

  #selectorOf(podUid: string | undefined): Readonly<Record<string, string>> {
    const own = { [agentLabel]: this.#parts.agent }
    return podUid === undefined ? own : { ...own, [labels.podUid]: podUid }
  }

  async #unlessGone(call: Promise<unknown>): Promise<void> {
    try {
      await call
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}

interface Condition {
  readonly type: string
  readonly status: boolean
  readonly reason: string
  readonly message: string
}

/** What a list tells of a container. */
function listedStatus({
  metadata,
  image,
  ...listed
}: Decoded<typeof listContainersResponse>['containers'][number]): CriContainerStatus {
  const parts = { ...(metadata === undefined ? {} : { metadata }), ...(image === undefined ? {} : { image }) }
  return complete(containerStatus, { ...listed, ...parts })
}

/** Of a sandbox among many, of which the runtime can tell nothing now. */
function noneIfOdd(error: unknown): readonly string[] {
  if (isNotFound(error) || error instanceof RuntimeUnavailableError) throw error
  return []
}

const handlerOf = ({ name, features }: Decoded<typeof runtimeHandler>): RuntimeHandler => ({
  name,
  features: features ?? { recursiveReadOnlyMounts: false, userNamespaces: false },
})

const unmet = (conditions: readonly Condition[], type: string): Condition | undefined =>
  conditions.find((each) => each.type === type && !each.status)

/** In the words of upstream's node agent. */
function runtimeProblems(conditions: readonly Condition[]): RuntimeStatus {
  const text = ({ type, reason, message }: Condition) => `${type}=false reason:${reason} message:${message}`
  const [runtime, network] = [unmet(conditions, 'RuntimeReady'), unmet(conditions, 'NetworkReady')]
  const networkProblem = network && `container runtime network not ready: ${text(network)}`
  return {
    problems: [
      ...(runtime === undefined ? [] : [`container runtime not ready: ${text(runtime)}`]),
      ...(networkProblem === undefined ? [] : [networkProblem]),
    ],
    ...(networkProblem === undefined ? {} : { networkProblem }),
  }
}
