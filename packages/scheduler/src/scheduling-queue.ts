import type { Pod } from '@coracle/api'
import { assert, type Clock, type Timer } from '@coracle/environment'

/** Pods the queue holds at most. More stay in the API and are found again when there is room. */
export const queuePodsMax = 200_000

/** First and longest wait after an attempt that failed; it doubles with every attempt (upstream's). */
const backOffFirstMs = 1000
const backOffLongestMs = 10_000

/** How long a pod that fits nowhere waits without any event before it is tried again (upstream's). */
const unschedulableLongestMs = 300_000

interface Queued {
  pod: Pod
  attempts: number
  state: 'active' | 'backing-off' | 'unschedulable' | 'in-flight'
  /** When the back-off of the last attempt ends, on the monotonic clock. */
  backOffUntilMs: number
  timer: Timer | undefined
  /** Something changed while the pod was being tried: what was found may be out of date. */
  changed: boolean
}

/**
 * Pods that wait for a node. Active ones are handed out by priority, then in the order they came. One that fitted
 * nowhere rests until something changes that could help, and not before its back-off is over.
 */
export class SchedulingQueue {
  readonly #clock: Clock
  readonly #onActive: () => void
  readonly #pods = new Map<string, Queued>()
  /** Uids by priority, in the order they became active. */
  readonly #active = new Map<number, Set<string>>()

  /** `onActive` is called whenever there is something to `take`. */
  constructor(clock: Clock, onActive: () => void) {
    this.#clock = clock
    this.#onActive = onActive
  }

  /** Adds a pod, or takes over its newer state. Returns false where the queue is full. */
  set(pod: Pod): boolean {
    const uid = uidOf(pod)
    const known = this.#pods.get(uid)
    if (known !== undefined) {
      if (known.pod.spec !== pod.spec) this.#specChanged(uid, known, pod)
      known.pod = pod
      return true
    }
    if (this.#pods.size >= queuePodsMax) return false
    const queued: Queued = { pod, attempts: 0, state: 'active', backOffUntilMs: 0, timer: undefined, changed: false }
    this.#pods.set(uid, queued)
    this.#activate(uid, queued)
    return true
  }

  /** The pod waits no longer: it has a node, or is gone. */
  remove(uid: string): void {
    const known = this.#pods.get(uid)
    if (known === undefined) return
    known.timer?.cancel()
    if (known.state === 'active') this.#active.get(priorityOf(known.pod))?.delete(uid)
    this.#pods.delete(uid)
  }

  /** Whether `take` would hand out a pod. */
  get hasActive(): boolean {
    return this.#active.values().some((uids) => uids.size > 0)
  }

  /** The next pod to try; undefined where none is active. Ends in `remove` or `failed`. */
  take(): Pod | undefined {
    let highest: number | undefined
    for (const [priority, uids] of this.#active) {
      if (uids.size > 0 && (highest === undefined || priority > highest)) highest = priority
    }
    if (highest === undefined) return undefined
    const uids = this.#active.get(highest) as Set<string>
    const uid = uids.values().next().value as string
    uids.delete(uid)
    if (uids.size === 0) this.#active.delete(highest)
    const queued = this.#pods.get(uid)
    assert(queued !== undefined, `pod ${uid} is active but not queued`)
    queued.state = 'in-flight'
    queued.attempts++
    queued.changed = false
    return queued.pod
  }

  /** The attempt failed: for want of a node (it rests until something changes) or by an error (it only backs off). */
  failed(uid: string, why: 'unschedulable' | 'error'): void {
    const queued = this.#pods.get(uid)
    if (queued === undefined) return
    const backOffMs = Math.min(backOffFirstMs * 2 ** Math.min(queued.attempts - 1, 16), backOffLongestMs)
    queued.backOffUntilMs = this.#clock.monotonicMs() + backOffMs
    if (why === 'error' || queued.changed) {
      this.#retry(uid, queued)
      return
    }
    queued.state = 'unschedulable'
    this.#arm(uid, queued, unschedulableLongestMs)
  }

  /**
   * Something changed that may make room: resting pods that it helps are tried again once their back-off is over (upstream's
   * queueing hints). For pods that are being tried just now, nobody can tell yet.
   */
  retryUnschedulable(helps: (pod: Pod) => boolean): void {
    for (const [uid, queued] of this.#pods) {
      if (queued.state === 'in-flight') queued.changed = true
      else if (queued.state === 'unschedulable' && helps(queued.pod)) this.#retry(uid, queued)
    }
  }

  close(): void {
    for (const queued of this.#pods.values()) queued.timer?.cancel()
    this.#pods.clear()
    this.#active.clear()
  }

  #specChanged(uid: string, queued: Queued, pod: Pod): void {
    if (queued.state === 'in-flight') queued.changed = true
    else if (queued.state === 'unschedulable') this.#retry(uid, queued)
    else if (queued.state === 'active' && priorityOf(queued.pod) !== priorityOf(pod)) {
      this.#active.get(priorityOf(queued.pod))?.delete(uid)
      queued.pod = pod
      this.#activate(uid, queued)
    }
  }

  #retry(uid: string, queued: Queued): void {
    if (queued.state === 'backing-off') return
    const waitMs = queued.backOffUntilMs - this.#clock.monotonicMs()
    if (waitMs <= 0) {
      this.#activate(uid, queued)
      return
    }
    queued.state = 'backing-off'
    this.#arm(uid, queued, waitMs)
  }

  #arm(uid: string, queued: Queued, delayMs: number): void {
    queued.timer?.cancel()
    queued.timer = this.#clock.setTimer(delayMs, () => this.#activate(uid, queued))
  }

  #activate(uid: string, queued: Queued): void {
    queued.timer?.cancel()
    queued.timer = undefined
    queued.state = 'active'
    const priority = priorityOf(queued.pod)
    const uids = this.#active.get(priority) ?? new Set<string>()
    this.#active.set(priority, uids.add(uid))
    this.#onActive()
  }
}

const uidOf = (pod: Pod): string => pod.metadata.uid ?? ''

const priorityOf = (pod: Pod): number => pod.spec?.priority ?? 0
