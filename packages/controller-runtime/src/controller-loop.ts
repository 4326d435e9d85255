import { apiVersionOf, hasReason, type KubernetesObject, type Resource } from '@coracle/api'
import {
  type Client,
  createEventRecorder,
  createWorkQueue,
  type EventApi,
  type EventRecorder,
  type Informer,
  type InformerFactory,
  keyOf,
  type Priority,
  splitKey,
  type WorkQueue,
} from '@coracle/client'
import { type Environment, type MetricsRegistry, SharedTurn, sleep } from '@coracle/environment'
import { AsyncMapping } from './async-mapping.ts'
import type { Controller, RateLimiterFactory } from './controller.ts'
import { type ControllerMetrics, createControllerMetrics, type Outcome } from './controller-metrics.ts'
import type { KeySource } from './key-source.ts'
import { NewlySeen } from './newly-seen.ts'
import { OwnWrites } from './own-writes.ts'
import { controlledBy } from './owners.ts'
import type { ActionRecord } from './plan.ts'
import type { Change } from './predicates.ts'
import type { Lookup, ReconcileContext, Request } from './reconcile.ts'
import { ReconcileWrites } from './reconcile-writes.ts'
import { SourceFollower } from './source-follower.ts'
import { isTerminal } from './terminal-error.ts'
import { type WiredSource, wire } from './wired-source.ts'

/** How long events may still be written when a controller stops. */
const flushMaxMs = 1000

export interface ControllerLoopOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly environment: Environment
  readonly metrics: MetricsRegistry
  /** Where the controller names none of its own. */
  readonly rateLimiter: RateLimiterFactory
  /** In which form, and as which instance, events are reported. */
  readonly reporting: { readonly api: EventApi; readonly instance: string }
  readonly onAction: (record: ActionRecord) => void
}

/** Runs one controller: from changes to keys, from keys to reconciles. */
export class ControllerLoop implements Lookup {
  readonly #controller: Controller
  readonly #client: Client
  readonly #environment: Environment
  readonly #registry: MetricsRegistry
  readonly #metrics: ControllerMetrics
  readonly #rateLimiter: RateLimiterFactory
  readonly #reporting: ControllerLoopOptions['reporting']
  readonly #onAction: (record: ActionRecord) => void
  readonly #sources: readonly WiredSource[]
  /** Those of the sources, as they were asked for: handlers ask for one at each change. */
  readonly #informers = new WeakMap<Resource, Informer<KubernetesObject>>()
  readonly #changing: readonly SourceFollower[]
  readonly #writes: OwnWrites
  readonly #seen = new NewlySeen()
  /** What reconciles under way write, by their keys, and those that are settled until the caches show it. */
  readonly #made = new Map<string, ReconcileWrites>()
  /** Until when keys rest that have just been reconciled, on the monotonic clock. An object that is gone rests no longer. */
  readonly #restsUntilMs = new Map<string, number>()
  /** Tells the reconciles of this run of the program from those of others; with a number behind it names one of them. */
  readonly #runId: string
  #reconciles = 0

  constructor(controller: Controller, options: ControllerLoopOptions) {
    const { client, informers, environment, metrics, rateLimiter, reporting, onAction } = options
    const { name, resource, maxConcurrentReconciles } = controller
    this.#controller = controller
    this.#client = client
    const logger = environment.logger.child({ controller: name, controllerKind: resource.kind })
    this.#environment = { ...environment, logger }
    this.#runId = environment.random.fork('reconcile ids').string(8, '0123456789abcdef')
    this.#registry = metrics
    this.#metrics = createControllerMetrics(metrics, name, maxConcurrentReconciles)
    this.#rateLimiter = controller.rateLimiter ?? rateLimiter
    this.#reporting = reporting
    this.#onAction = onAction
    this.#sources = controller.sources.map((source) => wire(source, informers))
    this.#changing = controller.changingSources.map(
      (sources) => new SourceFollower(sources, informers, this.#environment.logger),
    )
    this.#writes = new OwnWrites(informers)
  }

  /** Gives up what shared caches keep for this controller. For one that does not run. */
  release(): void {
    for (const source of this.#sources) source.release()
  }

  /** Runs until the signal, then until the reconciles under way have ended. May be run again. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await Promise.all(this.#sources.map(({ informer }) => informer.waitForSync(signal)))
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    const { clock } = this.#environment
    const queue = createWorkQueue(clock, {
      name: this.#controller.name,
      rateLimiter: this.#rateLimiter(clock),
      metrics: this.#registry,
    })
    const recorder = createEventRecorder(this.#client, this.#environment, {
      component: this.#controller.component,
      ...this.#reporting,
    })
    const shutDown = () => queue.shutDown()
    signal.addEventListener('abort', shutDown, { once: true })
    if (signal.aborted) shutDown()
    const detach = [
      ...this.#sources.filter(({ source }) => source.isOnlyRead !== true).map((wired) => this.#listen(wired, queue)),
      ...this.#changing.map((follower) => follower.follow((wired) => this.#listen(wired, queue))),
    ]
    for (const source of this.#controller.keySources) void this.#listenTo(source, queue, signal)
    if (this.#controller.resyncPeriodMs !== undefined) void this.#resync(this.#controller.resyncPeriodMs, queue, signal)
    const workers = Array.from({ length: this.#controller.maxConcurrentReconciles }, () =>
      this.#work(queue, recorder, signal),
    )
    await Promise.all(workers)
    for (const remove of detach) remove()
    await this.#flush(recorder)
  }

  informer<U extends KubernetesObject>(resource: Resource<U>): Informer<U> {
    const known = this.#informers.get(resource)
    // A source is filed under the resource its informer was made for.
    if (known !== undefined) return known as unknown as Informer<U>
    const wired = this.#sources.find(
      ({ source }) => source.resource.plural === resource.plural && source.resource.group === resource.group,
    )
    const informer = wired?.informer ?? this.#changing.map((follower) => follower.informer(resource)).find(isDefined)
    if (informer === undefined) {
      const { name } = this.#controller
      throw new Error(
        `controller "${name}" reads ${resource.plural} without having declared it: add .reads(…) to its description`,
      )
    }
    if (wired !== undefined) this.#informers.set(resource, wired.informer)
    return informer as unknown as Informer<U>
  }

  #listen({ source, informer }: WiredSource, queue: WorkQueue): () => void {
    // Read once: sources are of many shapes, and each change of a pod is asked about by thirty of them.
    const { asyncKeysOf, keysOf, predicates, endsWaits, hasSameKeys } = source
    const mapping =
      asyncKeysOf === undefined
        ? undefined
        : new AsyncMapping(
            this.#controller.name,
            (object) => asyncKeysOf(object, this),
            (key, priority, object) => {
              this.#seen.add(key, object)
              queue.add(key, priority)
            },
            this.#environment,
          )
    // `object` may be what it was before the change.
    const enqueueFor = (object: KubernetesObject, priority: Priority, change: Change<KubernetesObject>) => {
      const tell = (key: string) => {
        this.#seen.add(key, change.object)
        queue.add(key, priority)
      }
      for (const key of keysOf(object, this)) {
        if (this.#made.get(key)?.holds(source.resource, change, () => tell(key)) !== true) tell(key)
      }
      mapping?.map(object, priority)
    }
    const enqueue = (change: Change<KubernetesObject>, priority: Priority): boolean => {
      for (const predicate of predicates) if (!predicate(change)) return false
      if (endsWaits === true) queue.retryNow(inNamespaceOf(change.object))
      enqueueFor(change.object, priority, change)
      return true
    }
    const detach = informer.addHandler({
      add: (object, isInitial) => void enqueue({ type: 'add', object }, isInitial ? 'background' : 'fresh'),
      update(old, object) {
        // What an object no longer concerns has changed as well.
        const change = { type: 'update', old, object } as const
        if (enqueue(change, 'fresh') && hasSameKeys?.(old, object) !== true) enqueueFor(old, 'fresh', change)
      },
      delete: (object) => void enqueue({ type: 'delete', object }, 'fresh'),
    })
    return () => {
      detach()
      mapping?.stop()
    }
  }

  async #listenTo(source: KeySource, queue: WorkQueue, signal: AbortSignal): Promise<void> {
    try {
      await source.start((key) => queue.add(key), signal)
    } catch (error) {
      if (!signal.aborted) this.#environment.logger.error('source failed', { error })
    }
  }

  /** Looks at every object again and again, whether it has changed or not. */
  async #resync(periodMs: number, queue: WorkQueue, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.#environment.clock, periodMs, signal).catch(() => {})
      if (signal.aborted) return
      for (const object of this.#sources[0]?.informer.list() ?? []) queue.add(keyOf(object), 'background')
    }
  }

  async #work(queue: WorkQueue, recorder: EventRecorder, signal: AbortSignal): Promise<void> {
    const turn = SharedTurn.of(this.#environment.clock)
    for (;;) {
      const key = await queue.get()
      if (key === undefined) return
      // Requests wait as long as nobody else gets the process.
      if (turn.take() !== undefined) await turn.giveWay()
      if (!this.#rests(key, queue) && !this.#writes.isBehind(key, () => queue.add(key)))
        await this.#reconcile(key, queue, recorder, signal)
      queue.done(key)
    }
  }

  /** Whether a key is to be left alone for now. It comes back when it has rested. */
  #rests(key: string, queue: WorkQueue): boolean {
    const untilMs = this.#restsUntilMs.get(key)
    if (untilMs === undefined) return false
    const leftMs = untilMs - this.#environment.clock.monotonicMs()
    const isResting = leftMs > 0 && this.#sources[0]?.informer.get(key) !== undefined
    if (isResting) queue.addAfter(key, leftMs)
    else this.#restsUntilMs.delete(key)
    return isResting
  }

  async #reconcile(key: string, queue: WorkQueue, recorder: EventRecorder, signal: AbortSignal): Promise<void> {
    const { clock } = this.#environment
    const request = this.#requestFor(key)
    const seen = this.#seen.take(key)
    const made = new ReconcileWrites()
    this.#made.set(key, made)
    const context = this.#contextFor(request, queue, recorder, signal, seen, made)
    const startMs = clock.monotonicMs()
    this.#metrics.activeWorkers.inc()
    const { outcome, isSettled = false } = await this.#attempt(request, context, queue, signal)
    this.#metrics.activeWorkers.dec()
    this.#metrics.reconcileSeconds.observe((clock.monotonicMs() - startMs) / 1000)
    if (outcome === 'error') this.#seen.giveBack(key, seen)
    if (outcome !== undefined) this.#metrics.outcomes[outcome].inc()
    if (isSettled) this.#leaveOut(key, made)
    else {
      this.#made.delete(key)
      made.release()
    }
  }

  /** What the reconcile of a key has written is not looked at, whether the caches show it already or will. */
  #leaveOut(key: string, made: ReconcileWrites): void {
    made.leaveOut()
    if (!this.#writes.isBehind(key, () => this.#made.delete(key))) this.#made.delete(key)
  }

  /** Reconciles, and queues the key again where it is to be looked at again. Undefined: it was given up because of the signal. */
  async #attempt(
    request: Request<KubernetesObject>,
    context: ReconcileContext<KubernetesObject>,
    queue: WorkQueue,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: Outcome | undefined; readonly isSettled?: boolean | undefined }> {
    const { key } = request
    try {
      const result = await this.#controller.reconcile(request, context)
      queue.forget(key)
      // Whole milliseconds, as clocks have them: a wait for less would be over before its time, again and again.
      const restMs = Math.ceil(result?.restMs ?? 0)
      if (restMs > 0) this.#restsUntilMs.set(key, this.#environment.clock.monotonicMs() + restMs)
      const isSettled = result?.isSettled
      if (result?.requeueAfterMs === undefined) return { outcome: 'success', isSettled }
      const { housekeeping = false, poll = false } = result
      queue.addAfter(key, result.requeueAfterMs, { housekeeping, poll })
      return { outcome: 'requeue_after', isSettled }
    } catch (error) {
      if (signal.aborted) return { outcome: undefined }
      this.#metrics.errors.inc()
      if (isTerminal(error)) {
        this.#metrics.terminalErrors.inc()
        queue.forget(key)
        context.logger.error('reconcile failed for good', { error })
        return { outcome: 'error' }
      }
      // A conflict only says that the object is newer than the cache: it is part of the game.
      if (hasReason(error, 'Conflict'))
        context.logger.info('reconcile met a newer object, trying again', { error: error.message })
      else context.logger.error('reconcile failed, trying again', { error, failures: queue.retries(key) + 1 })
      queue.addRateLimited(key)
      return { outcome: 'error' }
    }
  }

  #requestFor(key: string): Request<KubernetesObject> {
    const { namespace, name } = splitKey(key)
    return { key, namespace, name, object: this.#sources[0]?.informer.get(key) }
  }

  #contextFor(
    { key, namespace, name, object }: Request<KubernetesObject>,
    queue: WorkQueue,
    recorder: EventRecorder,
    signal: AbortSignal,
    seen: readonly number[],
    made: ReconcileWrites,
  ): ReconcileContext<KubernetesObject> {
    const { clock, random, logger } = this.#environment
    const { name: controller, resource } = this.#controller
    const reconciled = {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(object?.metadata.uid === undefined ? {} : { uid: object.metadata.uid }),
    }
    return {
      clock,
      random,
      logger: logger.child({ key, reconcileId: `${this.#runId}-${++this.#reconciles}` }),
      controller,
      resource,
      client: this.#writes.clientFor(key, this.#client, { controller, object: reconciled, seen }, made),
      recorder,
      signal,
      informer: (resource) => this.informer(resource),
      owned: (resource) => (object === undefined ? [] : controlledBy(this.informer(resource), object)),
      lookAgainAfter: (delayMs) => queue.addAfter(key, delayMs),
      recordAction: this.#onAction,
    }
  }

  async #flush(recorder: EventRecorder): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#environment.clock.setTimer(flushMaxMs, resolve)
      void recorder.flush().then(() => {
        timer.cancel()
        resolve()
      })
    })
    recorder.stop()
  }
}

/** Whether a key may be concerned by an object: it is in the same namespace, or the object is in none. */
const inNamespaceOf =
  ({ metadata: { namespace } }: KubernetesObject) =>
  (key: string): boolean =>
    namespace === undefined || splitKey(key).namespace === namespace

const isDefined = <V>(value: V | undefined): value is V => value !== undefined
