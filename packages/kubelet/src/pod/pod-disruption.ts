import { isCritical } from '../admission/preemption.ts'
import type { WaitingReason } from '../status/container-statuses.ts'
import { type PodObservation, type PodPlan, preempting } from './plan-pod.ts'
import { recordPodEvent } from './pod-events.ts'
import type { PodHost } from './pod-host.ts'

/** Why the node ends one pod by itself, which it tells of once. */
export class PodDisruption {
  readonly #host: PodHost
  #isPreempted = false
  #evicted: (WaitingReason & { readonly graceMaxMs: number }) | undefined
  #isTold = false

  constructor(host: PodHost) {
    this.#host = host
  }

  /** What the plan of the pod rests on. */
  get observed(): Pick<PodObservation, 'preempted' | 'evicted'> {
    return { preempted: this.#isPreempted, evicted: this.#evicted }
  }

  /** The node needs the room of the pod for a critical one, which lacks so named a resource. */
  preempt(resource: string): void {
    if (this.#isPreempted) return
    this.#isPreempted = true
    this.#host.context.metrics?.()?.podPreempted(resource)
    this.#tell('Warning', preempting)
    this.#host.wake()
  }

  /** The node does not keep the pod, by upstream's name of the signal: it goes, with at most so long to end. False where it stays: the system itself depends on it, or it is on its way. */
  evict(message: string, graceMaxMs: number, signal: string): boolean {
    if (this.#evicted !== undefined || isCritical(this.#host.pod)) return false
    this.#evicted = { reason: 'Evicted', message, graceMaxMs }
    this.#host.context.metrics?.()?.podEvicted(signal)
    this.#tell('Warning', this.#evicted)
    this.#host.wake()
    return true
  }

  /** Tells of what the plan ends the pod for, such as its deadline, unless that was told. */
  tellFailure({ pod }: PodObservation, { failure }: PodPlan): void {
    if (failure === undefined || this.#isTold || pod.status?.reason === failure.reason) return
    this.#tell('Normal', failure)
  }

  #tell(type: 'Normal' | 'Warning', { reason, message }: WaitingReason): void {
    this.#isTold = true
    recordPodEvent(this.#host.context, this.#host.pod, type, reason, message)
  }
}
