import type { Timer } from '@coracle/environment'
import { type ContainerRuntimeStatus, RuntimeUnavailableError } from '../runtimes/runtime.ts'
import { runPreStop } from './lifecycle-hooks.ts'
import type { PodAction, PodObservation } from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent } from './pod-events.ts'
import { podKey } from './pod-name.ts'
import { gracePeriodMinMs } from './stop-containers.ts'

/** A stop that the runtime has failed to carry out is tried again after this. */
const stopRetryMs = 1_000

type StopAction = Extract<PodAction, { readonly type: 'stop-container' }>
type PrepareStopAction = Extract<PodAction, { readonly type: 'prepare-stop' }>

/** The hook of a container that is to stop. */
interface PreStop {
  /** Settles when it is over; undefined where there is none. */
  readonly done: Promise<void> | undefined
  /** When the grace period of which it takes its time is over, on the monotonic clock. */
  readonly untilMs: number
}

/**
 * The containers of a pod that are being stopped: each is told of and has its hook run once, however often the plan asks.
 * Stops take their time beside everything else, and wake the pod's worker when they are done.
 */
export class ContainerStops {
  readonly #context: PodContext
  readonly #address: () => string
  readonly #wake: () => void
  /** When each container is killed, by id, on the monotonic clock. */
  readonly #killAtMs = new Map<string, number>()
  readonly #preStops = new Map<string, PreStop>()
  readonly #restarting = new Set<string>()
  /** Until stops that have failed are tried again. */
  readonly #retries = new Set<Timer>()
  #isClosed = false

  /** `address` is where the pod's servers listen, for hooks. */
  constructor(context: PodContext, address: () => string, wake: () => void) {
    this.#context = context
    this.#address = address
    this.#wake = wake
  }

  /** Runs that start again however they end, by id. */
  get restarting(): ReadonlySet<string> {
    return this.#restarting
  }

  /**
   * Forgets stops that are seen to be done, and not before: a pass that is under way when one is would stop the container
   * again.
   */
  observe(runs: readonly ContainerRuntimeStatus[]): void {
    for (const id of this.#preStops.keys()) {
      if (runs.some((run) => run.id === id && run.state === 'running')) continue
      this.#preStops.delete(id)
      this.#killAtMs.delete(id)
    }
    for (const id of this.#restarting) if (!runs.some((run) => run.id === id)) this.#restarting.delete(id)
  }

  stop(action: StopAction, observation: PodObservation): void {
    const { run } = action
    const gracePeriodMs = this.#graceLeftMs(action)
    const killAtMs = observation.monotonicMs + gracePeriodMs
    const before = this.#killAtMs.get(run.id)
    if (before !== undefined && before <= killAtMs) return
    this.#killAtMs.set(run.id, killAtMs)
    if (action.restart) this.#restarting.add(run.id)
    // Where less time is left than there was the hook is not waited for again.
    const preStop = before === undefined ? this.prepare(action, observation) : undefined
    void this.#stopAndWake(observation, run, gracePeriodMs, preStop)
  }

  /** One that had to wait for its turn has waited on its own time: the grace period is that of the pod (KEP-753). */
  #graceLeftMs({ run, gracePeriodMs }: StopAction): number {
    const prepared = this.#killAtMs.has(run.id) ? undefined : this.#preStops.get(run.id)
    if (prepared === undefined) return gracePeriodMs
    const leftMs = prepared.untilMs - this.#context.environment.clock.monotonicMs()
    return Math.min(gracePeriodMs, Math.max(gracePeriodMinMs, leftMs))
  }

  /** Tells of the stop and begins with the hook. */
  prepare(action: StopAction | PrepareStopAction, { pod, gone }: PodObservation): PreStop {
    const { run, gracePeriodMs } = action
    const known = this.#preStops.get(run.id)
    if (known !== undefined) return known
    if (!gone) recordContainerEvent(this.#context, pod, run, 'Normal', 'Killing', action.message)
    const { initContainers = [], containers } = pod.spec
    const container = [...initContainers, ...containers].find(({ name }) => name === run.name)
    const hook = container?.lifecycle?.preStop
    const done =
      hook === undefined || gracePeriodMs === 0
        ? undefined
        : runPreStop(this.#context, pod, this.#address(), run, container, hook, gracePeriodMs)
    const preStop = { done, untilMs: this.#context.environment.clock.monotonicMs() + gracePeriodMs }
    this.#preStops.set(run.id, preStop)
    return preStop
  }

  async #stopAndWake(
    { pod }: PodObservation,
    run: ContainerRuntimeStatus,
    gracePeriodMs: number,
    preStop: PreStop | undefined,
  ): Promise<void> {
    const { environment, runtime } = this.#context
    try {
      await preStop?.done
      const leftMs = (preStop?.untilMs ?? 0) - environment.clock.monotonicMs()
      const usedByHook = preStop?.done !== undefined
      await runtime.stopContainer(run.id, usedByHook ? Math.max(leftMs, gracePeriodMinMs) : gracePeriodMs)
      this.#wake()
    } catch (error) {
      // That it is away the node says.
      const level = error instanceof RuntimeUnavailableError ? 'debug' : 'error'
      environment.logger[level]('container not stopped', { pod: podKey(pod), container: run.name, error })
      this.#retryLater(run.id)
    }
  }

  #retryLater(id: string): void {
    if (this.#isClosed) return
    const timer = this.#context.environment.clock.setTimer(stopRetryMs, () => {
      this.#retries.delete(timer)
      this.#killAtMs.delete(id)
      this.#wake()
    })
    this.#retries.add(timer)
  }

  /** Tries nothing again. */
  close(): void {
    this.#isClosed = true
    for (const timer of this.#retries) timer.cancel()
    this.#retries.clear()
  }
}
