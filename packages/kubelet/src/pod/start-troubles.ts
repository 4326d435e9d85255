import type { Container } from '@coracle/api'
import { runsOf } from '../status/container-statuses.ts'
import type { BackOff } from './back-off.ts'
import { type ImageFailure, imagePullBackOff } from './image-pull.ts'
import type { PodObservation, PodPlan, StartFailure } from './plan-pod.ts'
import type { PodContext } from './pod-context.ts'
import { recordContainerEvent } from './pod-events.ts'
import { podText } from './pod-name.ts'

/** A start that failed for its configuration is tried again after this: upstream's backOffPeriod. */
export const startRetryMs = 10_000

/** What did not go well with the starts of a pod's containers, by their names. */
export class StartTroubles {
  readonly #backOffs = new Map<string, BackOff>()
  readonly #failures = new Map<string, StartFailure>()
  /** Back-offs that were told of: the run of each container that they follow. */
  readonly #told = new Map<string, number | undefined>()

  /** How long each container that starts again waits. */
  get backOffs(): ReadonlyMap<string, BackOff> {
    return this.#backOffs
  }

  /** Why containers did not come to run, and when they are tried again. */
  get failures(): ReadonlyMap<string, StartFailure> {
    return this.#failures
  }

  noteBackOff(name: string, backOff: BackOff): void {
    this.#backOffs.set(name, backOff)
  }

  noteFailure(container: Container, failure: ImageFailure, nowMs: number): void {
    this.#failures.set(
      container.name,
      imagePullBackOff(container, failure, this.#failures.get(container.name), nowMs) ?? {
        ...failure,
        ...(container.image === undefined ? {} : { image: container.image }),
        retryAtMs: nowMs + startRetryMs,
        endsRun: endsRun.has(failure.reason),
      },
    )
  }

  /** The container has come to run. */
  forgetFailure(name: string): void {
    this.#failures.delete(name)
  }

  /** The clock was set by so much: what is waited for takes as long as was meant. */
  followClock(setMs: number): void {
    for (const [name, failure] of this.#failures)
      this.#failures.set(name, { ...failure, retryAtMs: failure.retryAtMs + setMs })
  }

  /** Tells of each wait of containers that end again and again once, not on every look. */
  tellBackOffs(context: PodContext, { pod, runs }: PodObservation, { waiting }: PodPlan): void {
    for (const [name, { reason }] of waiting) {
      const attempt = runsOf(name, runs)[0]?.attempt
      if (reason !== 'CrashLoopBackOff' || this.#told.get(name) === attempt) continue
      this.#told.set(name, attempt)
      const message = `Back-off restarting failed container ${name} in pod ${podText(pod)}`
      recordContainerEvent(context, pod, { name }, 'Warning', 'BackOff', message)
    }
  }
}

/** Failures that leave an ended container behind, unless the runtime has not come so far. */
const endsRun: ReadonlySet<string> = new Set(['RunContainerError', 'PostStartHookError'])
