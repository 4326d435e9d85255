import type { KubernetesObject, Resource } from '@coracle/api'
import {
  type CacheOptions,
  type Client,
  createInformerFactory,
  createLeaderElector,
  defaultRateLimiter,
  type EventApi,
  type Informer,
  type InformerFactory,
  type InformerOptions,
  type LeaderElectionOptions,
} from '@coracle/client'
import {
  aborted,
  createMetricsRegistry,
  type Environment,
  type HealthCheck,
  type MetricsRegistry,
  ping,
} from '@coracle/environment'
import type { Controller, RateLimiterFactory } from './controller.ts'
import { ControllerLoop } from './controller-loop.ts'
import type { Endpoint, EndpointOptions } from './endpoint.ts'
import type { ActionRecord } from './plan.ts'

/** How long a manager that stops waits for the reconciles under way: upstream's GracefulShutdownTimeout. */
export const gracefulStopDefaultMs = 30_000

export interface ManagerOptions {
  readonly client: Client
  readonly environment: Environment
  /** With this, controllers run only while this manager leads. Without, at once. */
  readonly leaderElection?: Omit<LeaderElectionOptions, 'identity'>
  /** Tells this manager from others that compete with it. By default a name no other has. */
  readonly identity?: string
  /** How long failed keys wait, in controllers that do not say it: as upstream's by default (`defaultRateLimiter`). */
  readonly rateLimiter?: RateLimiterFactory
  /**
   * In which form controllers report events: `v1` by default, as upstream's controllers do; `events.k8s.io/v1` names the action and the
   * reporting instance, and counts what happens again as a series.
   */
  readonly eventApi?: EventApi
  /** What the caches hold of a resource, where a controller does not say it: some namespaces, what is selected, a part of each object. */
  readonly caches?: (resource: Resource) => CacheOptions | undefined
  /** Where metrics go; a registry of its own by default. */
  readonly metrics?: MetricsRegistry
  /** Serves `/metrics`, `/healthz` and `/readyz` over HTTP, from the start to the stop. Nothing listens without it. */
  readonly endpoint?: EndpointOptions
  /** How long a stop waits for the reconciles under way. 30 s by default. */
  readonly gracefulStopMs?: number
  /** Told of every action of a plan: the causal record. */
  readonly onAction?: (record: ActionRecord) => void
}

/** What a controller has of its own, where it does not share the manager's: an identity to write as, a world to run in. */
export interface ControllerSetting {
  readonly client?: Client
  readonly environment?: Environment
}

/** Something else that runs as long as the manager: a webhook server, a poller. */
export interface Runnable {
  readonly name: string
  /** Whether it runs only while the manager leads, where managers compete. False by default. */
  readonly needsLeaderElection?: boolean
  /** Runs until the signal, and resolves when it has ended. If it rejects before, it is logged and not started again. */
  run(signal: AbortSignal): Promise<void>
}

/** Runs controllers over shared caches. */
export interface Manager {
  /** The metrics of its controllers. Others may be registered there too. */
  readonly metrics: MetricsRegistry
  /** Where it serves metrics and health; undefined before the start, and without `ManagerOptions.endpoint`. */
  readonly endpoint: Endpoint | undefined
  /** Whether its controllers may run: always without leader election. */
  readonly isLeader: boolean
  /**
   * Adds a controller; one that comes after the start runs at once. Returns what stops it alone and forgets it, resolving
   * when the reconciles under way have ended.
   */
  add(controller: Controller, own?: ControllerSetting): () => Promise<void>
  /** Adds something else to run; what comes after the start runs at once. */
  addRunnable(runnable: Runnable): void
  /** What must hold for `/healthz`: the process is restarted where it does not. */
  addHealthCheck(check: HealthCheck): void
  /** What must hold for `/readyz`, beside that the caches are filled. */
  addReadyCheck(check: HealthCheck): void
  /** The shared informer of a resource. One asked for after the start starts at once. */
  informer<T extends KubernetesObject>(resource: Resource<T>, options?: InformerOptions<T>): Informer<T>
  /**
   * Starts the caches and then the controllers; resolves once the caches are filled. With leader election controllers
   * wait until this manager leads, stop when it no longer does, and go on when it does again. Rejects if it is stopped
   * before.
   */
  start(): Promise<void>
  /**
   * Stops, for good, and resolves when the reconciles under way have ended; then the lease is given back. Rejects after
   * `gracefulStopMs` with the names of the controllers that still run; the lease is left to run out.
   */
  stop(): Promise<void>
}

/** A controller, or something else that runs, and whether it does. */
interface Added {
  readonly name: string
  readonly needsLeaderElection: boolean
  readonly removed: AbortController
  run(signal: AbortSignal): Promise<void>
  running: Promise<void> | undefined
}

/** A manager without controllers. */
export function createManager(options: ManagerOptions): Manager {
  return new ControllerManager(options)
}

class ControllerManager implements Manager {
  readonly metrics: MetricsRegistry
  readonly #options: ManagerOptions
  readonly #identity: string
  readonly #informers: InformerFactory
  readonly #added = new Set<Added>()
  readonly #healthChecks: HealthCheck[] = [ping]
  readonly #readyChecks: HealthCheck[] = [ping]
  readonly #stopping = new AbortController()
  /** Until when what needs to lead runs; undefined while this manager does not lead. */
  #turn: AbortSignal | undefined
  #running: Promise<void> | undefined
  #endpoint: Endpoint | undefined
  #serving: Promise<Endpoint> | undefined

  constructor(options: ManagerOptions) {
    this.#options = options
    this.#identity = options.identity ?? options.environment.random.fork('manager identity').uuid()
    this.metrics = options.metrics ?? createMetricsRegistry()
    this.#informers = createInformerFactory(options.client, options.environment, options.caches)
    this.addReadyCheck({
      name: 'informer-sync',
      check: () => (this.#informers.hasSynced ? undefined : 'the caches are not filled yet'),
    })
  }

  get endpoint(): Endpoint | undefined {
    return this.#endpoint
  }

  get isLeader(): boolean {
    return this.#turn?.aborted === false
  }

  add(controller: Controller, own: ControllerSetting = {}): () => Promise<void> {
    const {
      client,
      environment,
      rateLimiter = defaultRateLimiter,
      eventApi = 'v1',
      onAction = () => {},
    } = this.#options
    const { metrics } = this
    const reporting = { api: eventApi, instance: this.#identity }
    const shared = { client, environment, informers: this.#informers, metrics, rateLimiter, reporting, onAction }
    const loop = new ControllerLoop(controller, { ...shared, ...own })
    const { name, needsLeaderElection } = controller
    const remove = this.#add(`controller "${name}"`, needsLeaderElection, (signal) => loop.run(signal))
    return async () => {
      if (await remove()) loop.release()
    }
  }

  addRunnable({ name, needsLeaderElection = false, run }: Runnable): void {
    this.#add(name, needsLeaderElection, async (signal) => {
      try {
        await run(signal)
      } catch (error) {
        if (!signal.aborted) this.#options.environment.logger.error('runnable failed', { runnable: name, error })
      }
    })
  }

  addHealthCheck(check: HealthCheck): void {
    this.#healthChecks.push(check)
  }

  addReadyCheck(check: HealthCheck): void {
    this.#readyChecks.push(check)
  }

  informer<T extends KubernetesObject>(resource: Resource<T>, options?: InformerOptions<T>): Informer<T> {
    return this.#informers.informer(resource, options)
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) throw new Error('the manager runs already')
    const { signal } = this.#stopping
    const { leaderElection, endpoint, environment } = this.#options
    this.#informers.start()
    const leading = leaderElection === undefined ? this.#lead(signal) : this.#leadByTurns(leaderElection)
    this.#running = Promise.all([leading, this.#runWithoutLeading()]).then(() => {})
    if (endpoint !== undefined) {
      const { metrics } = this
      const [health, ready] = [this.#healthChecks, this.#readyChecks]
      // A cluster in one process has none.
      this.#serving = import('./endpoint.ts').then(({ serveEndpoint }) =>
        serveEndpoint({ ...endpoint, metrics, health, ready, environment }),
      )
      this.#endpoint = await this.#serving
    }
    await this.#informers.waitForSync(signal)
  }

  async stop(): Promise<void> {
    const { clock } = this.#options.environment
    const { gracefulStopMs = gracefulStopDefaultMs } = this.#options
    this.#stopping.abort(new Error('the manager is stopped'))
    const late = new Promise<'late'>((resolve) => {
      const timer = clock.setTimer(gracefulStopMs, () => resolve('late'))
      const cancel = () => timer.cancel()
      this.#running?.then(cancel, cancel)
    })
    const outcome = this.#running === undefined ? undefined : await Promise.race([this.#running, late])
    // It may not listen yet. Where it cannot, the start says so.
    const served = await this.#serving?.catch(() => undefined)
    await Promise.all([this.#informers.stop(), served?.close()])
    if (outcome !== 'late') return
    const names = [...this.#added].filter(({ running }) => running !== undefined).map(({ name }) => name)
    throw new Error(`still running ${gracefulStopMs} ms after the manager was stopped: ${names.join(', ')}`)
  }

  #add(name: string, needsLeaderElection: boolean, run: Added['run']): () => Promise<boolean> {
    const added: Added = { name, needsLeaderElection, removed: new AbortController(), run, running: undefined }
    this.#added.add(added)
    const turn = needsLeaderElection ? this.#turn : this.#running && this.#stopping.signal
    if (turn?.aborted === false) this.#run(added, turn)
    return async () => {
      added.removed.abort(new Error(`${name} is stopped`))
      await added.running
      return this.#added.delete(added)
    }
  }

  #run(added: Added, turn: AbortSignal): void {
    added.running = added.run(AbortSignal.any([turn, added.removed.signal])).finally(() => {
      added.running = undefined
    })
  }

  /** Runs all that need to lead, also those that come meanwhile, until the signal. */
  async #lead(signal: AbortSignal): Promise<void> {
    this.#turn = signal
    await this.#runAll(true, signal)
    this.#turn = undefined
  }

  async #runWithoutLeading(): Promise<void> {
    await this.#runAll(false, this.#stopping.signal)
  }

  async #runAll(needsLeaderElection: boolean, signal: AbortSignal): Promise<void> {
    const concerned = () => [...this.#added].filter((added) => added.needsLeaderElection === needsLeaderElection)
    for (const added of concerned()) this.#run(added, signal)
    await aborted(signal)
    await Promise.all(concerned().map(({ running }) => running))
  }

  /** Level-triggered controllers need no fresh process to start over: after a loss the manager is a candidate again. */
  async #leadByTurns(leaderElection: Omit<LeaderElectionOptions, 'identity'>): Promise<void> {
    const { client, environment } = this.#options
    const elector = createLeaderElector(client, environment, { ...leaderElection, identity: this.#identity })
    const status = this.metrics
      .gauge({
        name: 'leader_election_master_status',
        help: 'Whether this process leads (1) or not (0), by lease.',
        labels: ['name'],
      })
      .with({ name: leaderElection.name })
    const lead = async (signal: AbortSignal): Promise<void> => {
      status.set(1)
      await this.#lead(signal)
      status.set(0)
    }
    while (!this.#stopping.signal.aborted) await elector.run(lead, this.#stopping.signal)
  }
}
