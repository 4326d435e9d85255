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
import type { Environment } from '@coracle/environment'
import type { Controller } from './controller.ts'
import { ControllerLoop } from './controller-loop.ts'
import type { ActionRecord } from './plan.ts'

export interface ManagerOptions {
  readonly client: Client
  readonly environment: Environment
  /** The client a controller writes through, where each has an identity of its own; `client` otherwise. */
  readonly clientFor?: (controller: Controller) => Client
  /** The world a controller runs in, where each has one of its own; `environment` otherwise. */
  readonly environmentFor?: (controller: Controller) => Environment
  /** With this, controllers run only while this manager leads. Without, at once. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'identity'>
  /** Tells this manager from others that compete with it. By default a name no other has. */
  readonly identity?: string
  /** Told of every action of a plan: the causal record. */
  readonly onAction?: (record: ActionRecord) => void
}

/** Runs controllers over shared caches. */
export interface Manager {
  /** Adds a controller. Only before the start. */
  add(controller: Controller): void
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

/** A manager without controllers. */
export function createManager(options: ManagerOptions): Manager {
  return new ControllerManager(options)
}

class ControllerManager implements Manager {
  readonly #options: ManagerOptions
  readonly #informers: InformerFactory
  readonly #loops: ControllerLoop[] = []
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#informers = createInformerFactory(options.client, options.environment)
  }

  add(controller: Controller): void {
    if (this.#running !== undefined)
      throw new Error(`controller "${controller.name}" comes too late: the manager runs already`)
    const { client, clientFor, environment, environmentFor, onAction } = this.#options
    this.#loops.push(
      new ControllerLoop(controller, {
        client: clientFor?.(controller) ?? client,
        informers: this.#informers,
        environment: environmentFor?.(controller) ?? environment,
        onAction: onAction ?? (() => {}),
      }),
    )
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

  async #runAll(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.run(signal)))
  }

  /** Level-triggered controllers need no fresh process to start over: after a loss the manager is a candidate again. */
  async #runWhileLeading(leaderElection: Omit<LeaderElectionOptions, 'identity'>): Promise<void> {
    const { client, environment } = this.#options
    const identity = this.#options.identity ?? environment.random.uuid()
    const elector = createLeaderElector(client, environment, { ...leaderElection, identity })
    while (!this.#stopping.signal.aborted) await elector.run((signal) => this.#runAll(signal), this.#stopping.signal)
  }
}
