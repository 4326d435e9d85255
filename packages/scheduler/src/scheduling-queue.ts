import { type Pod, parseTime } from '@coracle/api'
import { assert, type Clock, type Timer } from '@coracle/environment'
import { ByAge } from './by-age.ts'
import { priorityOf } from './priority.ts'
import type { PendingPods } from './scheduler-metrics.ts'

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
  state: 'active' | 'backing-off' | 'resting' | 'in-flight'
  /** When the back-off of the last attempt ends, on the monotonic clock. */
  backOffUntilMs: number
  timer: Timer | undefined
  /** The pod changed while it was being tried: what was found may be out of date. */
  hasChanged: boolean
  /** With which others it rests, or has rested until it was woken. */
  group: string | undefined
}

/** Why pods rest: alike for all that no plugin tells apart, so that it is asked once for all of them what could help. */
export interface RestReason {
  /** Equal for pods that are alike. */
  readonly group: string
  /** Names of the plugins that kept the pod from nodes. */
  readonly refusedBy: ReadonlySet<string>
}

interface RestingGroup {
  readonly refusedBy: ReadonlySet<string>
  readonly pods: ByAge<Queued>
}

/** So many pods of a group are looked at for one whose back-off is over. */
const wakeableLookedAtMax = 16

/**
 * Pods that wait for a node. Active ones are handed out by priority, then in the order they came. One that fitted
 * nowhere rests until something changes that could help, and not before its back-off is over.
 *
 * Of pods that are alike one is woken at a time, and the next when that one has found a node: what helps costs what it helps,
 * however many rest. Of those that one event wakes the oldest come first, whenever they were last tried: after a restart they come
 * in the same order.
 */
export class SchedulingQueue {
  readonly #clock: Clock
  readonly #onActive: () => void
  readonly #podsMax: number
  readonly #pods = new Map<string, Queued>()
  /** Uids by priority, in the order they became active. */
  readonly #active = new Map<number, Set<string>>()
  readonly #resting = new Map<string, RestingGroup>()

  /** `onActive` is called whenever there is something to `take`. */
  constructor(clock: Clock, onActive: () => void, podsMax = queuePodsMax) {
    this.#clock = clock
    this.#onActive = onActive
    this.#podsMax = podsMax
  }

  /** Adds a pod, or takes over its newer state. Returns false where the queue is full. */
  set(pod: Pod): boolean {
    const uid = uidOf(pod)
    const known = this.#pods.get(uid)
    if (known !== undefined) {
      if (mayFitElsewhere(known.pod, pod)) this.#podChanged(uid, known, pod)
      known.pod = pod
      return true
    }
    if (this.#pods.size >= this.#podsMax) return false
    const queued: Queued = {
      pod,
      attempts: 0,
      state: 'active',
      backOffUntilMs: 0,
      timer: undefined,
      hasChanged: false,
      group: undefined,
    }
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
    if (known.state === 'resting') this.#leaveGroup(known)
    else this.#wakeNext(known)
    this.#pods.delete(uid)
  }

  /** Whether `take` would hand out a pod. */
  get hasActive(): boolean {
    return this.#active.values().some((uids) => uids.size > 0)
  }

  /** How many pods wait, those left out that are being tried. */
  pending(): PendingPods {
    const counts = { active: 0, backoff: 0, unschedulable: 0 }
    for (const { state } of this.#pods.values()) {
      if (state === 'active') counts.active++
      else if (state === 'backing-off') counts.backoff++
      else if (state === 'resting') counts.unschedulable++
    }
    return counts
  }

  /** How often a pod was taken since it came; 0 for one that is not here. */
  attemptsOf(uid: string): number {
    return this.#pods.get(uid)?.attempts ?? 0
  }

  /** Whether any pod rests. */
  get hasResting(): boolean {
    return this.#resting.size > 0
  }

  /** The next pod to try; undefined where none is active. Ends in `remove`, `failed` or `rest`. */
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
    queued.hasChanged = false
    return queued.pod
  }

  /** The attempt found a node: there may be room for others that are alike. The pod stays until it is removed, or has failed. */
  placed(uid: string): void {
    const queued = this.#pods.get(uid)
    if (queued !== undefined) this.#wakeNext(queued)
  }

  /** The attempt failed by an error: the pod is tried again when its back-off is over. */
  failed(uid: string): void {
    const queued = this.#pods.get(uid)
    if (queued === undefined) return
    this.#backOff(queued)
    this.#retry(uid, queued)
  }

  /** The attempt found no node: the pod rests until something happens that could help, or for five minutes. */
  rest(uid: string, { group, refusedBy }: RestReason): void {
    const queued = this.#pods.get(uid)
    if (queued === undefined) return
    this.#backOff(queued, queued.attempts === 1 ? sinceUnschedulableMs(queued.pod, this.#clock.now()) : 0)
    if (queued.hasChanged) {
      this.#retry(uid, queued)
      return
    }
    queued.state = 'resting'
    queued.group = group
    const resting = this.#resting.get(group) ?? { refusedBy, pods: new ByAge<Queued>() }
    resting.pods.add(queued)
    this.#resting.set(group, resting)
    this.#arm(uid, queued, unschedulableLongestMs)
  }

  /**
   * Something has happened: resting pods that it helps are tried again once their back-off is over (upstream's queueing hints).
   * One of each group is asked about, for all of them, and woken.
   */
  retryResting(helps: (pod: Pod, refusedBy: ReadonlySet<string>) => boolean): void {
    const woken = new ByAge<Queued>()
    for (const { pods, refusedBy } of this.#resting.values()) {
      const { oldest } = pods
      if (oldest !== undefined && helps(oldest.pod, refusedBy)) woken.add(this.#nextOf(pods) ?? oldest)
    }
    for (const queued of woken) this.#retry(uidOf(queued.pod), queued)
  }

  close(): void {
    for (const queued of this.#pods.values()) queued.timer?.cancel()
    this.#pods.clear()
    this.#active.clear()
    this.#resting.clear()
  }

  #podChanged(uid: string, queued: Queued, pod: Pod): void {
    if (queued.state === 'in-flight') queued.hasChanged = true
    else if (queued.state === 'resting') this.#retry(uid, queued)
    else if (queued.state === 'active' && priorityOf(queued.pod) !== priorityOf(pod)) {
      this.#active.get(priorityOf(queued.pod))?.delete(uid)
      queued.pod = pod
      this.#activate(uid, queued)
    }
  }

  /** One that has been woken rests no more: the next of its group is. */
  #wakeNext(queued: Queued): void {
    const resting = this.#resting.get(queued.group ?? '')
    queued.group = undefined
    const next = resting === undefined ? undefined : this.#nextOf(resting.pods)
    if (next !== undefined) this.#retry(uidOf(next.pod), next)
  }

  /** The oldest whose back-off is over; where none is, the oldest. */
  #nextOf(pods: ByAge<Queued>): Queued | undefined {
    const nowMs = this.#clock.monotonicMs()
    return pods.first(wakeableLookedAtMax).find(({ backOffUntilMs }) => backOffUntilMs <= nowMs) ?? pods.oldest
  }

  /** The pod backs off from now on, or has done so for some time. */
  #backOff(queued: Queued, forMs = 0): void {
    const backOffMs = Math.min(backOffFirstMs * 2 ** Math.min(queued.attempts - 1, 16), backOffLongestMs)
    queued.backOffUntilMs = this.#clock.monotonicMs() + backOffMs - forMs
  }

  #retry(uid: string, queued: Queued): void {
    const waitMs = queued.backOffUntilMs - this.#clock.monotonicMs()
    if (waitMs <= 0) {
      this.#activate(uid, queued)
      return
    }
    if (queued.state === 'resting') this.#leaveGroup(queued)
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
    if (queued.state === 'resting') this.#leaveGroup(queued)
    queued.state = 'active'
    const priority = priorityOf(queued.pod)
    const uids = this.#active.get(priority) ?? new Set<string>()
    this.#active.set(priority, uids.add(uid))
    this.#onActive()
  }

  #leaveGroup(queued: Queued): void {
    const { group = '' } = queued
    const resting = this.#resting.get(group)
    resting?.pods.delete(queued)
    if (resting?.pods.oldest === undefined) this.#resting.delete(group)
  }
}

/**
 * How long ago it was first said that no node takes the pod; 0 where nobody has said so. Then the first attempt here repeats one of
 * a scheduler that has ended since, and the pod has served its back-off, or part of it.
 */
function sinceUnschedulableMs({ status }: Pod, nowMs: number): number {
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (condition?.status !== 'False' || condition.reason !== 'Unschedulable') return 0
  const sinceMs = parseTime(condition.lastTransitionTime ?? '')
  return Number.isNaN(sinceMs) ? 0 : Math.max(0, nowMs - sinceMs)
}

const uidOf = (pod: Pod): string => pod.metadata.uid ?? ''

/** Whether the change of a pod can have a node take it: one of its status cannot. */
const mayFitElsewhere = (
  { metadata: { labels: old }, spec }: Pod,
  { metadata: { labels }, spec: newSpec }: Pod,
): boolean => spec !== newSpec || (old !== labels && JSON.stringify(old) !== JSON.stringify(labels))
