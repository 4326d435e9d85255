import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import type { CommandStreams } from '@coracle/client/streaming'
import type { Environment } from '@coracle/environment'
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
import { ContainerStatuses } from './container-statuses.ts'
import { CriImages } from './images.ts'
import { removeLog } from './log-files.ts'
import { readCriLog } from './log-reader.ts'
import { LogRotation } from './log-rotation.ts'
import { sandboxReady } from './messages.ts'
import { annotations, labels, selectorOf } from './names.ts'
import { ContainerObserver } from './observer.ts'
import type { VolumeParts } from './parts/volume-parts.ts'
import { PodFiles } from './pod-files.ts'
import { containerRequest, resourcesRequest, sandboxRequest } from './requests.ts'
import { handlerOf, isRuntimeReady, statusFromConditions, statusFromError } from './runtime-status.ts'
import { SandboxStatuses } from './sandbox-statuses.ts'
import { listedStatus, runtimeStatus } from './statuses.ts'
import type { UnifiedSettings } from './unified-settings.ts'
import { Usage } from './usage.ts'
import { UserNamespaces } from './user-namespaces.ts'

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
  /** What control groups of containers are told beside their resources. Absent: nothing. */
  readonly unified?: UnifiedSettings
}

type PodIdentity = Pick<PodSandboxConfig, 'podUid' | 'podName' | 'podNamespace'>

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
  readonly #sandboxes: SandboxStatuses
  readonly #containers: ContainerStatuses
  readonly #usage: Usage
  readonly #logRotation: LogRotation
  /** Of containers that have been created and not started: gives up the mounts of parts of their volumes. */
  readonly #heldParts = new Map<string, { readonly sandboxId: string; release(): Promise<void> }>()
  #handlers: readonly RuntimeHandler[] = []

  constructor(parts: CriRuntimeParts) {
    this.name = parts.name
    this.version = parts.version
    this.supportsGroupsPolicy = parts.supportsGroupsPolicy
    this.#parts = parts
    this.#service = parts.service
    this.#calls = parts.service.calls
    this.images = new CriImages(parts.service.calls, parts.imageRecordsDirectory)
    this.#sandboxes = new SandboxStatuses(parts.service.calls, parts.agent)
    this.#containers = new ContainerStatuses(parts.service.calls)
    this.#usage = new Usage(parts.service.calls, parts.agent, this.#sandboxes)
    this.#files = new PodFiles(parts.filesDirectory, parts.environment.random)
    this.#users = new UserNamespaces(parts.environment.random, () => this.#files.pods())
    this.#observer = new ContainerObserver(parts.service, parts.environment, parts.agent, (event) => this.#tell(event))
    this.#logRotation = new LogRotation({
      environment: parts.environment,
      logs: () => this.#runningLogs(),
      reopen: async (containerId) => {
        await this.#calls.reopenContainerLog({ containerId })
      },
    })
  }

  /** Removes what an earlier life has left of pods that are gone, and begins to look what becomes of containers. */
  async start(): Promise<void> {
    await this.#parts.volumeParts.clear()
    await this.#removeLeftovers()
    this.#observer.start()
    this.#logRotation.start()
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
      if (isRuntimeReady(conditions)) this.#handlers = runtimeHandlers.map(handlerOf)
      return statusFromConditions(conditions)
    } catch (error) {
      return statusFromError(error)
    }
  }

  // --- Sandboxes ----------------------------------------------------------------------------------------------------

  async listPodSandboxes(podUid?: string): Promise<readonly PodSandboxStatus[]> {
    return this.#sandboxes.list(podUid)
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
      addresses: await this.#sandboxes.addressesOf(id),
    }
  }

  async #withUsers(config: PodSandboxConfig): Promise<PodSandboxConfig> {
    const { podUid, isolation } = config
    if (isolation?.ownUsers !== true) return config
    return { ...config, isolation: { ...isolation, users: await this.#users.ofPod(podUid) } }
  }

  async stopPodSandbox(id: string): Promise<void> {
    await this.#unlessGone(this.#calls.stopPodSandbox({ podSandboxId: id }))
    this.#sandboxes.forget(id)
    this.#usage.forgetSandbox(id)
  }

  async removePodSandbox(id: string): Promise<void> {
    const items = await this.#sandboxes.listed()
    const sandbox = items.find((item) => item.id === id)
    await this.stopPodSandbox(id)
    await this.#unlessGone(this.#calls.removePodSandbox({ podSandboxId: id }))
    // The runtime has removed its containers with it.
    for (const [containerId, { sandboxId }] of this.#heldParts)
      if (sandboxId === id) await this.#releaseParts(containerId)
    for (const [containerId, status] of this.#containers.seen()) {
      if (status.labels[labels.podUid] !== sandbox?.metadata?.uid) continue
      if ((await this.#containers.ask(containerId)) === undefined) this.#forgetContainer(containerId)
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
      filter: { labelSelector: selectorOf(this.#parts.agent, podUid) },
    })
    const all = await Promise.all(
      containers.map(async (item) => {
        const { id, podSandboxId, state } = item
        try {
          const known = await this.#containers.inState(id, state)
          return known && runtimeStatus(known.status, podSandboxId, known.lastWords)
        } catch (error) {
          // One of many must not hide the others. Who looks at its pod has to know it.
          if (podUid !== undefined || error instanceof RuntimeUnavailableError) throw error
          const known = this.#containers.lastSeen(id)
          return runtimeStatus(known === undefined ? listedStatus(item) : { ...known, state }, podSandboxId, '')
        }
      }),
    )
    return all.filter((status) => status !== undefined)
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
      ...(await this.#files.hosts(sandbox, await this.#sandboxes.addressesOf(sandboxId), config.mounts)),
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
        unified: this.#parts.unified,
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
    const known = await this.#containers.ask(id)
    await this.#unlessGone(this.#calls.removeContainer({ containerId: id }))
    await this.#releaseParts(id)
    this.#forgetContainer(id)
    if (known !== undefined) await removeLog(known.status.logPath)
  }

  #forgetContainer(id: string): void {
    this.#containers.forget(id)
    this.#usage.forgetContainer(id)
  }

  async updateContainerResources(id: string, resources: LinuxResources): Promise<void> {
    await this.#calls.updateContainerResources({
      containerId: id,
      linux: resourcesRequest(resources, this.#parts.unified),
    })
  }

  async containerStats(ids: readonly string[]): Promise<ReadonlyMap<string, ContainerStats>> {
    return this.#usage.ofContainers(ids)
  }

  async containerStorage(podUid: string): Promise<readonly ContainerStorage[]> {
    return this.#usage.storageOf(podUid, (pod, name) => join(this.#logDirectory(pod), name))
  }

  async podSandboxStats(): Promise<ReadonlyMap<string, PodSandboxStats>> {
    return this.#usage.ofSandboxes()
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
    const known = await this.#containers.ask(id)
    if (known === undefined) throw new Error(`container ${id} is not running`)
    const tty = known.status.annotations[annotations.terminal] === 'true'
    await this.#service.run({ containerId: id, tty }, streams, signal)
  }

  async portForward(sandboxId: string, port: number, stream: Duplex, signal: AbortSignal): Promise<void> {
    await this.#service.forwardPort(sandboxId, port, stream, signal)
  }

  // --- Logs ---------------------------------------------------------------------------------------------------------

  async *readLog(id: string, options: LogReadOptions, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const known = await this.#containers.ask(id)
    if (known === undefined) throw new Error(`container ${id} not found`)
    const writer = {
      isRunning: async () => {
        const now = await this.#containers.ask(id).catch(() => undefined)
        return now !== undefined && now.status.finishedAt === 0
      },
      onStop: (listener: () => void) =>
        this.subscribe(({ containerId }) => {
          if (containerId === id) listener()
        }),
    }
    yield* readCriLog(known.status.logPath, options, { clock: this.#parts.environment.clock, writer }, signal)
  }

  *#runningLogs(): Generator<readonly [string, string]> {
    for (const id of this.#observer.running) {
      const path = this.#containers.lastSeen(id)?.logPath
      if (path !== undefined) yield [id, path]
    }
  }

  async close(): Promise<void> {
    this.#logRotation.close()
    await this.#observer.close()
    this.#listeners.clear()
    await Promise.all([...this.#heldParts.keys()].map((id) => this.#releaseParts(id)))
    this.#service.close()
  }

  // --- Odds and ends ------------------------------------------------------------------------------------------------

  async #unlessGone(call: Promise<unknown>): Promise<void> {
    try {
      await call
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
