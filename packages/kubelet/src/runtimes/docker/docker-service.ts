import { readFileSync } from 'node:fs'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { Environment } from '@coracle/environment'
import { complete, type Message } from '@coracle/environment/grpc-messages'
import {
  type CallLimits,
  type CallName,
  type CriAnswer,
  type CriCalls,
  CriError,
  type CriEventListener,
  type CriRequest,
  type CriService,
  criCodes,
  isNotFound,
} from '../cri/calls.ts'
import { imageMethods, runtimeMethods } from '../cri/methods.ts'
import { agentLabel, labels as podLabels } from '../cri/names.ts'
import type { ContainerEventMessage, InfoAnswer, InspectedContainer, ListedContainer, StatsAnswer } from './answers.ts'
import { containerBody, containerStatus, listedContainer, podmanUpdateBody, updateBody } from './container-requests.ts'
import type { Engine, EngineRequest } from './engine.ts'
import { recursiveReadOnlyVersion, runtimeHandlers } from './handlers.ts'
import { EngineImages, resolvedName } from './images.ts'
import { ensureInfraImage } from './infra-image.ts'
import { ListBatches } from './list-batches.ts'
import { LogFollowers } from './log-followers.ts'
import { containerName, containerType, dockerLabels, labelFilters, type SandboxConfig, sandboxType } from './names.ts'
import { forwardToSandbox } from './port-forward.ts'
import { listedSandbox, sandboxBody, sandboxStatus } from './sandbox-requests.ts'
import { containerUsage, type OwnStats, sandboxUsage } from './stats.ts'
import { runSync, runWithStreams } from './streams.ts'

export interface DockerServiceParts {
  readonly environment: Environment
  readonly engine: Engine
  /** `docker` or `podman`, and its version. */
  readonly name: string
  readonly version: string
  /** Whose containers these are. */
  readonly agent: string
  /** Where files of pods are made. */
  readonly filesDirectory: string
  /** What sandboxes are made of. */
  readonly infraImage: string
}

type Handlers = {
  readonly [Name in CallName]: (request: CriRequest<Name>, limits: CallLimits) => Promise<CriAnswer<Name>>
}

/** The network that pods are connected to. */
const networkName = 'bridge'
/** What is Podman's own, as of its version 4. */
const podmanPrefix = '/v4.0.0/libpod'
/** How many containers are asked at one time how much they use. */
const statsAtOnce = 8
const hexDigits = '0123456789abcdef'
/**
 * Events after which a container is as it was, or as the node agent has just made it. Each probe by a command makes two or three of them, and each
 * start and end as many, each of which would have its pod looked at. What the command was follows with some.
 */
const changesNothing = /^(attach|cleanup|copy|create|detach|exec|health_status|init|kill|mount|resize|sync|top|unmount)/

/** The Container Runtime Interface in terms of the Docker Engine API. */
export class DockerService implements CriService {
  readonly calls: CriCalls
  readonly #parts: DockerServiceParts
  readonly #engine: Engine
  readonly #images: EngineImages
  readonly #logs: LogFollowers
  readonly #lists: ListBatches
  /** Containers that were told to have ended, and are still listed as running. */
  readonly #ended = new Set<string>()

  /** It stays as it is until the engine is started anew, and costs it something: Podman runs programs of the host for each answer. */
  readonly #info = new Map<string | undefined, Promise<InfoAnswer>>()

  constructor(parts: DockerServiceParts) {
    this.#parts = parts
    this.#engine = parts.engine
    this.#images = new EngineImages(parts.engine, parts.infraImage)
    this.#logs = new LogFollowers(parts.engine, parts.environment)
    this.#lists = new ListBatches(parts.environment.clock, (type, selector) => {
      const query = { all: true, filters: labelFilters(type, selector) }
      return parts.engine.list<ListedContainer>({ path: '/containers/json', query })
    })
    this.calls = completed(this.#handlers())
  }

  get endpoint(): string {
    return this.#engine.endpoint
  }

  run: CriService['run'] = (command, streams, signal) =>
    runWithStreams(this.#engine, this.#parts.environment.clock, command, streams, signal)

  forwardPort: CriService['forwardPort'] = async (sandboxId, port, stream, signal) =>
    forwardToSandbox(await this.#inspect(sandboxId), port, stream, signal)

  watchEvents({ opened, told, ended }: CriEventListener): { cancel(): void } {
    const abort = new AbortController()
    const filters = JSON.stringify({ type: ['container'] })
    const watch = async () => {
      const path = '/events'
      this.#info.clear()
      opened()
      for await (const { Action = '', Actor } of this.#engine.messages<ContainerEventMessage>({
        path,
        query: { filters },
        signal: abort.signal,
      })) {
        // Podman does not filter events by labels in all its versions.
        const labels = Actor?.Attributes ?? {}
        if (Actor === undefined || labels[agentLabel] !== this.#parts.agent || changesNothing.test(Action)) continue
        if (Action === 'die') this.#ended.add(Actor.ID)
        told(Actor.ID, labels[podLabels.podUid])
      }
    }
    watch().then(
      () => ended(),
      (error) => ended(error),
    )
    return { cancel: () => abort.abort() }
  }

  close(): void {
    void this.#logs.close()
  }

  #handlers(): Handlers {
    const engine = this.#engine
    return {
      version: async () => ({ runtimeName: this.#parts.name, runtimeVersion: this.#parts.version }),
      status: () => this.#status(),

      runPodSandbox: ({ config, runtimeHandler }, limits) =>
        this.#runSandbox(given(config, 'config'), runtimeHandler, limits),
      stopPodSandbox: async ({ podSandboxId }, { timeoutMs }) => {
        const contained = await this.#list(containerType, { [dockerLabels.sandboxId]: podSandboxId })
        const running = contained.filter(({ State }) => State === 'running').map(({ Id }) => Id)
        await Promise.all(running.map((id) => unlessGone(this.#stop(id, 0, timeoutMs))))
        await this.#stop(podSandboxId, 0, timeoutMs)
        return {}
      },
      removePodSandbox: async ({ podSandboxId }) => {
        for (const { Id } of await this.#list(containerType, { [dockerLabels.sandboxId]: podSandboxId }))
          await unlessGone(this.#remove(Id))
        await this.#remove(podSandboxId)
        return {}
      },
      podSandboxStatus: async ({ podSandboxId }) => ({ status: sandboxStatus(await this.#inspect(podSandboxId)) }),
      listPodSandbox: async ({ filter }) => ({
        items: (await this.#list(sandboxType, filter?.labelSelector ?? {})).map(listedSandbox),
      }),

      createContainer: (request) => this.#createContainer(request),
      startContainer: async ({ containerId }) => {
        await engine.call({ method: 'POST', path: `/containers/${containerId}/start` })
        const { Config } = await this.#inspect(containerId)
        this.#logs.follow(containerId, Config.Labels?.[dockerLabels.logPath] ?? '')
        return {}
      },
      stopContainer: async ({ containerId, timeout }, { timeoutMs }) => {
        await this.#stop(containerId, timeout, timeoutMs)
        return {}
      },
      removeContainer: async ({ containerId }) => {
        await this.#remove(containerId)
        return {}
      },
      listContainers: async ({ filter }) => {
        const found = await this.#list(containerType, filter?.labelSelector ?? {})
        for (const { Id, State, Labels } of found)
          if (State !== 'created') this.#logs.follow(Id, Labels?.[dockerLabels.logPath] ?? '')
        return { containers: found.map(listedContainer) }
      },
      containerStatus: ({ containerId }) => this.#containerStatus(containerId),
      updateContainerResources: async ({ containerId, linux }) => {
        await this.#update(containerId, given(linux, 'linux'))
        return {}
      },
      reopenContainerLog: async ({ containerId }) => {
        await this.#logs.reopen(containerId)
        return {}
      },
      execSync: (request, { signal }) => runSync(engine, this.#parts.environment.clock, request, signal),
      listContainerStats: async ({ filter }) => ({
        stats: (await this.#stats(containerType, filter?.labelSelector ?? {})).map(containerUsage),
      }),
      listPodSandboxStats: async ({ filter }) => ({
        stats: (await this.#stats(sandboxType, filter?.labelSelector ?? {})).map(sandboxUsage),
      }),

      listImages: () => this.#images.list(),
      imageStatus: ({ image }) => this.#images.status(image?.image ?? ''),
      pullImage: async (request, limits) => ({ imageRef: await this.#images.pull(request, limits) }),
      removeImage: async ({ image }) => {
        await this.#images.remove(image?.image ?? '')
        return {}
      },
      imageFsInfo: async () => {
        const { DockerRootDir: mountpoint = '' } = await this.#infoOf()
        return { imageFilesystems: [{ fsId: { mountpoint } }] }
      },
    }
  }

  /** What the engine says of itself, at a version of its API. */
  #infoOf(prefix?: string): Promise<InfoAnswer> {
    const asked = this.#info.get(prefix) ?? this.#engine.call<InfoAnswer>({ path: '/info', prefix })
    this.#info.set(prefix, asked)
    asked.catch(() => this.#info.delete(prefix))
    return asked
  }

  async #status(): Promise<CriAnswer<'status'>> {
    const networks = await this.#engine.list<{ readonly Name: string }>({ path: '/networks' })
    const hasNetwork = networks.some(({ Name }) => Name === networkName)
    // Only then it tells what its runtimes can do.
    const prefix = this.#engine.prefixOf(recursiveReadOnlyVersion)
    const info = prefix === undefined ? undefined : await this.#infoOf(prefix)
    return {
      ...(info === undefined ? {} : { runtimeHandlers: runtimeHandlers(info) }),
      status: {
        conditions: [
          { type: 'RuntimeReady', status: true },
          {
            type: 'NetworkReady',
            status: hasNetwork,
            ...(hasNetwork
              ? {}
              : {
                  reason: 'NetworkPluginNotReady',
                  message: `${this.#parts.name} has no network ${JSON.stringify(networkName)}: start it with one`,
                }),
          },
        ],
      },
    }
  }

  // --- Sandboxes ----------------------------------------------------------------------------------------------------

  async #runSandbox(config: SandboxConfig, runtimeHandler: string, { timeoutMs }: CallLimits) {
    const { infraImage, name } = this.#parts
    await ensureInfraImage(this.#engine, this.#images, infraImage)
    const body = sandboxBody(config, infraImage, runtimeHandler, name, oomScore)
    const metadata = given(config.metadata, 'metadata')
    const id = await this.#create(containerName('POD', metadata, metadata.attempt), body, { timeoutMs })
    try {
      await this.#engine.call({ method: 'POST', path: `/containers/${id}/start`, timeoutMs })
      return { podSandboxId: id }
    } catch (error) {
      await this.#remove(id).catch(() => {})
      throw error
    }
  }

  // --- Containers ---------------------------------------------------------------------------------------------------

  async #createContainer({ podSandboxId, config, sandboxConfig }: CriRequest<'createContainer'>) {
    const wanted = given(config, 'config')
    const sandbox = given(sandboxConfig, 'sandboxConfig')
    const [pod, metadata] = [given(sandbox.metadata, 'metadata'), given(wanted.metadata, 'metadata')]
    for (const { hostPath } of wanted.mounts) await makeMissing(hostPath)
    const body = containerBody(wanted, {
      sandboxId: podSandboxId,
      logPath: isAbsolute(wanted.logPath) ? wanted.logPath : join(sandbox.logDirectory, wanted.logPath),
      engine: this.#parts.name,
      hostname: sandbox.hostname,
      oomScore,
      mounts: await this.#nameServers(sandbox, wanted.mounts),
    })
    const isRecursive = wanted.mounts.some(({ recursiveReadOnly }) => recursiveReadOnly)
    const prefix = isRecursive ? this.#engine.prefixOf(recursiveReadOnlyVersion) : undefined
    return { containerId: await this.#create(containerName(metadata.name, pod, metadata.attempt), body, { prefix }) }
  }

  /** How a pod looks up names, as a file to be mounted: engines would write it in words of their own. */
  async #nameServers({ dnsConfig, metadata }: SandboxConfig, volumes: readonly { readonly containerPath: string }[]) {
    const containerPath = '/etc/resolv.conf'
    if (dnsConfig === undefined || volumes.some((each) => each.containerPath === containerPath)) return []
    const { servers, searches, options } = dnsConfig
    const lines = [
      ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
      ...servers.map((server) => `nameserver ${server}`),
      ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
    ]
    const hostPath = join(this.#parts.filesDirectory, metadata?.uid ?? '', 'resolv.conf')
    await mkdir(dirname(hostPath), { recursive: true, mode: 0o700 })
    await writeFile(hostPath, lines.map((line) => `${line}\n`).join(''), { mode: 0o644 })
    return [{ containerPath, hostPath, readonly: false }]
  }

  /** Gives the id. A name that is taken, as by one that was made just before the node agent was killed, gets something added. */
  async #create(name: string, body: object, request: Pick<EngineRequest, 'prefix' | 'timeoutMs'>): Promise<string> {
    const create = (full: string) =>
      this.#engine.call<{ readonly Id: string }>({
        method: 'POST',
        path: '/containers/create',
        query: { name: full },
        body,
        ...request,
      })
    try {
      return (await create(name)).Id
    } catch (error) {
      if (!(error instanceof CriError) || !/already in use/i.test(error.details)) throw error
      return (await create(`${name}_${this.#parts.environment.random.string(8, hexDigits)}`)).Id
    }
  }

  async #containerStatus(id: string): Promise<CriAnswer<'containerStatus'>> {
    const first = await this.#inspect(id)
    const logPath = first.Config.Labels?.[dockerLabels.logPath] ?? ''
    const hasEnded = !first.State.Running && containerStatus(first, noImage).startedAt > 0
    if (hasEnded) {
      this.#logs.follow(id, logPath)
      await this.#logs.completed(id)
    }
    const image = await this.#images.find(first.Image)
    const name = image?.RepoTags?.[0] ?? first.Config.Image
    return {
      status: containerStatus(first, { name, ref: image === undefined ? first.Image : resolvedName(image) }),
      info: { info: JSON.stringify({ pid: first.State.Pid }) },
    }
  }

  async #stop(id: string, timeoutSeconds: number, timeoutMs: number | undefined): Promise<void> {
    try {
      await this.#engine.call({
        method: 'POST',
        path: timeoutSeconds === 0 ? `/containers/${id}/kill` : `/containers/${id}/stop`,
        query: timeoutSeconds === 0 ? { signal: 'SIGKILL' } : { t: timeoutSeconds },
        timeoutMs,
      })
      if (timeoutSeconds > 0) return
      await this.#engine.call({ method: 'POST', path: `/containers/${id}/wait`, timeoutMs })
    } catch (error) {
      if (isNotFound(error)) throw error
      if ((await this.#inspect(id)).State.Running) throw error
    }
  }

  async #remove(id: string): Promise<void> {
    await this.#logs.forget(id)
    this.#ended.delete(id)
    await this.#engine.call({ method: 'DELETE', path: `/containers/${id}`, query: { v: true, force: true } })
  }

  async #update(id: string, resources: NonNullable<CriRequest<'updateContainerResources'>['linux']>): Promise<void> {
    const path = `/containers/${id}/update`
    // Podman has this in an API of its own.
    await this.#engine.send({
      method: 'POST',
      path,
      ...(this.#parts.name === 'podman'
        ? { prefix: podmanPrefix, body: podmanUpdateBody(resources) }
        : { body: updateBody(resources) }),
    })
  }

  /** What running containers of a type use. */
  async #stats(type: string, selector: Readonly<Record<string, string>>): Promise<readonly OwnStats[]> {
    const found = await this.#list(type, selector)
    const running = found.filter(({ State }) => State === 'running')
    const all: OwnStats[] = []
    for (let start = 0; start < running.length; start += statsAtOnce) {
      const some = running.slice(start, start + statsAtOnce)
      all.push(...(await Promise.all(some.map(async ({ Id }) => ({ id: Id, answer: await this.#statsOf(Id) })))))
    }
    return all
  }

  /** Empty where it has just ended: the engine refuses, or answers nothing at all. */
  async #statsOf(id: string): Promise<StatsAnswer> {
    const query = { stream: false, 'one-shot': true }
    const answer = this.#engine.call<StatsAnswer | undefined>({ path: `/containers/${id}/stats`, query })
    return (await answer.catch(() => undefined)) ?? {}
  }

  async #inspect(id: string): Promise<InspectedContainer> {
    const found = await this.#engine.call<InspectedContainer | null | undefined>({ path: `/containers/${id}/json` })
    if (found?.State === undefined) throw new CriError(criCodes.unknown, `the engine says nothing of container ${id}`)
    return found
  }

  async #list(type: string, selector: Readonly<Record<string, string>>): Promise<readonly ListedContainer[]> {
    const found = await this.#lists.list(type, selector)
    return this.#ended.size === 0 ? found : Promise.all(found.map((each) => this.#upToDate(each)))
  }

  /** Docker tells of the end of a container a moment before its list does. */
  async #upToDate(listed: ListedContainer): Promise<ListedContainer> {
    const { Id: id, State } = listed
    if (!this.#ended.has(id)) return listed
    if (State === 'running') {
      const state = await this.#inspect(id).then(
        (found) => found.State.Status,
        () => 'exited',
      )
      return { ...listed, State: state }
    }
    this.#ended.delete(id)
    return listed
  }
}

const noImage = { name: '', ref: '' }

/** What is done to a container, which somebody else may just have removed: that it is gone says nothing of its sandbox. */
async function unlessGone(call: Promise<void>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Calls whose requests are whole when they are carried out, and whose answers when they are read. */
function completed(handlers: Handlers): CriCalls {
  const methods: Readonly<Record<string, { readonly request: Message; readonly response: Message }>> = {
    ...runtimeMethods,
    ...imageMethods,
  }
  const calls = Object.entries(handlers).map(([name, handler]) => {
    const method = methods[name]
    if (method === undefined) throw new Error(`${name} is no procedure`)
    const carryOut = handler as (request: object, limits: CallLimits) => Promise<object>
    const call = async (request: object, limits: CallLimits = {}) =>
      complete(method.response, await carryOut(complete(method.request, request), limits))
    return [name, call]
  })
  return Object.fromEntries(calls)
}

function given<T>(value: T | undefined, field: string): T {
  if (value === undefined) throw new CriError(criCodes.invalidArgument, `${field}: Required value`)
  return value
}

/** What is mounted is there: a directory that is not is made, as container runtimes do. */
async function makeMissing(path: string): Promise<void> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (!isThere) await mkdir(path, { recursive: true })
}

/** CAP_SYS_RESOURCE, as a bit. */
const sysResource = 1n << 24n

/** How readily a process is killed: those that may not be killed later than this one are not, where the rights for that are missing. */
function oomScore(wanted: number): number {
  const rights = /^CapEff:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  if ((BigInt(`0x${rights}`) & sysResource) !== 0n) return wanted
  return Math.max(wanted, Number(readFileSync('/proc/self/oom_score_adj', 'utf8')))
}
