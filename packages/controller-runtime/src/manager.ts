import type { KubernetesObject, Resource } from '@coracle/api'
import {
  type Client,
  createInformerFactory,
  createLeaderElector,
  type Informer,
  type InformerFactory,
  type InformerOptions,
  type LeaderElectionOptions,
} from '@coracle/client'
import { aborted, type Environment } from '@coracle/environment'
import type { Controller } from './controller.ts'
import { ControllerLoop } from './controller-loop.ts'
import type { ActionRecord } from './plan.ts'

export interface ManagerOptions {
  readonly client: Client
  readonly environment: Environment
  /** With this, controllers run only while this manager leads. Without, at once. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'identity'>
  /** Tells this manager from others that compete with it. By default a name no other has. */
  readonly identity?: string
  /** Told of every action of a plan: the causal record. */
  readonly onAction?: (record: ActionRecord) => void
}

/** What a controller has of its own, where it does not share the manager's: an identity to write as, a world to run in. */
export interface ControllerSetting {
  readonly client?: Client
  readonly environment?: Environment
}

/** Runs controllers over shared caches. */
export interface Manager {
  /**
   * Adds a controller; one that comes after the start runs at once. Returns what stops it alone and forgets it, resolving
   * when the reconciles under way have ended.
   */
  add(controller: Controller, own?: ControllerSetting): () => Promise<void>
  /** The shared informer of a resource. One asked for after the start starts at once. */
  informer<T extends KubernetesObject>(resource: Resource<T>, options?: InformerOptions<T>): Informer<T>
  /**
   * Starts the caches and then the controllers; resolves once the caches are filled. With leader election controllers
   * wait until this manager leads, stop when it no longer does, and go on when it does again. Rejects if it is stopped
   * before.
   */
  start(): Promise<void>
  /** Stops, and resolves when the reconciles under way have ended. For good. */
  stop(): Promise<void>
}

interface AddedController {
  readonly loop: ControllerLoop
  readonly removed: AbortController
  running: Promise<void> | undefined
}

/** A manager without controllers. */
export function createManager(options: ManagerOptions): Manager {
  return new ControllerManager(options)
}

class ControllerManager implements Manager {
  readonly #options: ManagerOptions
  readonly #informers: InformerFactory
  readonly #controllers = new Set<AddedController>()
  readonly #stopping = new AbortController()
  /** Until when controllers run; undefined while none does. */
  #turn: AbortSignal | undefined
  #running: Promise<void> | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#informers = createInformerFactory(options.client, options.environment)
  }

  add(controller: Controller, own: ControllerSetting = {}): () => Promise<void> {
    const { client, environment, onAction = () => {} } = this.#options
    const loop = new ControllerLoop(controller, { client, environment, ...own, informers: this.#informers, onAction })
    const added: AddedController = { loop, removed: new AbortController(), running: undefined }
    this.#controllers.add(added)
    if (this.#turn !== undefined) this.#run(added, this.#turn)
    return async () => {
      added.removed.abort(new Error(`controller "${controller.name}" is stopped`))
      await added.running
      if (this.#controllers.delete(added)) loop.release()
    }
  }

  informer<T extends KubernetesObject>(resource: Resource<T>, options?: InformerOptions<T>): Informer<T> {
    return this.#informers.informer(resource, options)
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) throw new Error('the manager runs already')
    this.#informers.start()
    const { leaderElection } = this.#options
    this.#running =
      leaderElection === undefined ? this.#runAll(this.#stopping.signal) : this.#runWhileLeading(leaderElection)
    await this.#informers.waitForSync(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the manager is stopped'))
    await this.#running
    await this.#informers.stop()
  }

  /** Runs all controllers, also those that come meanwhile, until the signal. */
  async #runAll(signal: AbortSignal): Promise<void> {
    this.#turn = signal
    for (const added of this.#controllers) this.#run(added, signal)
    await aborted(signal)
    this.#turn = undefined
    await Promise.all([...this.#controllers].map(({ running }) => running))
  }

  #run(added: AddedController, turn: AbortSignal): void {
    added.running = added.loop.run(AbortSignal.any([turn, added.removed.signal]))
  }

  /** Level-triggered controllers need no fresh process to start over: after a loss the manager is a candidate again. */
  async #runWhileLeading(leaderElection: Omit<LeaderElectionOptions, 'identity'>): Promise<void> {
    const { client, environment } = this.#options
    const identity = this.#options.identity ?? environment.random.uuid()
    const elector = createLeaderElector(client, environment, { ...leaderElection, identity })
    while (!this.#stopping.signal.aborted) await elector.run((signal) => this.#runAll(signal), this.#stopping.signal)
  }
}
