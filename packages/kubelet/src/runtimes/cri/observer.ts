import type { Environment, Timer } from '@coracle/environment'
import type { Decoded } from '@coracle/environment/grpc'
import { type ContainerStoppedEvent, RuntimeUnavailableError } from '../runtime.ts'
import { type CriConnection, isUnimplemented } from './connection.ts'
import { containerStates, type listContainersResponse, type listPodSandboxResponse } from './messages.ts'
import { runtimeMethods } from './methods.ts'
import { agentLabel, labels } from './names.ts'

/** How often it is looked what has become of containers, where the runtime does not tell: upstream's relistPeriod. */
export const relistMs = 1_000
/** The same where it does: what it has left out is found out then. */
export const relistBesideEventsMs = 10_000

/** A sandbox or container as it was last seen. */
interface Seen {
  readonly podUid: string
  readonly state: number
}

/**
 * Finds out what becomes of sandboxes and containers of its own accord: by what the runtime tells, or else by looking every second, as
 * upstream's pod lifecycle event generator does.
 */
export class ContainerObserver {
  readonly #connection: CriConnection
  readonly #environment: Environment
  readonly #agent: string
  readonly #tell: (event: ContainerStoppedEvent) => void
  #seen: ReadonlyMap<string, Seen> = new Map()
  #running: ReadonlySet<string> = new Set()
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #stream: { cancel(): void } | undefined
  /** Whether the runtime tells of containers; undefined until that is known. */
  #tells: boolean | undefined
  #isAway = false
  #isClosed = false

  constructor(
    connection: CriConnection,
    environment: Environment,
    agent: string,
    tell: (event: ContainerStoppedEvent) => void,
  ) {
    this.#connection = connection
    this.#environment = environment
    this.#agent = agent
    this.#tell = tell
  }

  /** Containers that ran when it was last looked. */
  get running(): ReadonlySet<string> {
    return this.#running
  }

  start(): void {
    this.#listen()
    this.#schedule(0)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    this.#stream?.cancel()
    await this.#looking
  }

  #schedule(delayMs: number): void {
    this.#timer?.cancel()
    if (this.#isClosed) return
    this.#timer = this.#environment.clock.setTimer(delayMs, () => {
      this.#looking = this.#look().finally(() => this.#schedule(this.#tells === true ? relistBesideEventsMs : relistMs))
    })
  }

  async #look(): Promise<void> {
    const labelSelector = { [agentLabel]: this.#agent }
    try {
      const [{ items }, { containers }] = await Promise.all([
        this.#connection.call(runtimeMethods.listPodSandbox, { filter: { labelSelector } }),
        this.#connection.call(runtimeMethods.listContainers, { filter: { labelSelector } }),
      ])
      if (this.#isClosed) return
      this.#compare(items, containers)
      this.#noteReachable()
    } catch (error) {
      this.#noteFailure(error)
    }
  }

  #compare(
    sandboxes: Decoded<typeof listPodSandboxResponse>['items'],
    containers: Decoded<typeof listContainersResponse>['containers'],
  ): void {
    const now = new Map<string, Seen>()
    for (const { id, state, labels: own } of [...sandboxes, ...containers])
      now.set(id, { podUid: own[labels.podUid] ?? '', state })
    this.#running = new Set(containers.filter(({ state }) => state === containerStates.running).map(({ id }) => id))
    const before = this.#seen
    this.#seen = now
    for (const [id, { podUid, state }] of before) {
      if (now.get(id)?.state !== state) this.#tell({ podUid, containerId: id })
    }
    // What is new may have ended since it was started.
    for (const [id, { podUid }] of now) if (!before.has(id)) this.#tell({ podUid, containerId: id })
  }

  #noteReachable(): void {
    if (!this.#isAway) return
    this.#isAway = false
    this.#environment.logger.info('container runtime is back', { endpoint: this.#connection.endpoint })
    this.#listen()
    // Whatever failed meanwhile is tried again.
    const told = new Set<string>()
    for (const [id, { podUid }] of this.#seen) {
      if (told.has(podUid)) continue
      told.add(podUid)
      this.#tell({ podUid, containerId: id })
    }
  }

  #noteFailure(error: unknown): void {
    if (this.#isClosed || this.#isAway) return
    this.#isAway = error instanceof RuntimeUnavailableError
    this.#environment.logger.warn('containers could not be looked at, trying again', { error })
  }

  #listen(): void {
    if (this.#isClosed || this.#tells === false || this.#stream !== undefined) return
    const stream = this.#connection.stream(runtimeMethods.getContainerEvents, {})
    this.#stream = stream
    stream.on('data', ({ containerId, podSandboxStatus }) => {
      this.#tells = true
      const podUid = podSandboxStatus?.metadata?.uid ?? this.#seen.get(containerId)?.podUid
      if (podUid !== undefined) this.#tell({ podUid, containerId })
    })
    // A runtime that has nothing to tell yet has accepted the call all the same.
    stream.once('metadata', () => {
      this.#tells = true
    })
    const end = (error?: unknown) => {
      if (this.#stream !== stream) return
      this.#stream = undefined
      this.#tells = isUnimplemented(error) ? false : undefined
      if (this.#tells === undefined) this.#environment.clock.setTimer(relistMs, () => this.#listen())
      // What it would have told is looked at.
      if (!this.#isClosed) this.#schedule(relistMs)
    }
    stream.once('error', end)
    stream.once('end', () => end())
  }
}
