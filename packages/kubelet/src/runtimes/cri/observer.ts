import type { Environment, Timer } from '@coracle/environment'
import type { Decoded } from '@coracle/environment/grpc'
import { type ContainerStoppedEvent, RuntimeUnavailableError } from '../runtime.ts'
import { type CriService, isUnimplemented } from './calls.ts'
import { containerStates, type listContainersResponse, type listPodSandboxResponse } from './messages.ts'
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
  readonly #service: CriService
  readonly #environment: Environment
  readonly #agent: string
  readonly #tell: (event: ContainerStoppedEvent) => void
  #seen: ReadonlyMap<string, Seen> = new Map()
  #running: ReadonlySet<string> = new Set()
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #events: { cancel(): void } | undefined
  /** Whether the runtime tells of containers; undefined until that is known. */
  #tells: boolean | undefined
  #isAway = false
  #isClosed = false

  constructor(
    service: CriService,
    environment: Environment,
    agent: string,
    tell: (event: ContainerStoppedEvent) => void,
  ) {
    this.#service = service
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
    this.#events?.cancel()
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
        this.#service.calls.listPodSandbox({ filter: { labelSelector } }),
        this.#service.calls.listContainers({ filter: { labelSelector } }),
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
    this.#environment.logger.info('container runtime is back', { endpoint: this.#service.endpoint })
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
    if (this.#isClosed || this.#tells === false || this.#events !== undefined) return
    let isOpen = true
    const end = (error?: unknown) => {
      isOpen = false
      this.#events = undefined
      this.#tells = isUnimplemented(error) ? false : undefined
      if (this.#tells === undefined) this.#environment.clock.setTimer(relistMs, () => this.#listen())
      // What it would have told is looked at.
      if (!this.#isClosed) this.#schedule(relistMs)
    }
    const events = this.#service.watchEvents({
      opened: () => {
        this.#tells = true
      },
      told: (containerId, podUid = this.#seen.get(containerId)?.podUid) => {
        if (podUid !== undefined) this.#tell({ podUid, containerId })
      },
      ended: end,
    })
    if (isOpen) this.#events = events
  }
}
