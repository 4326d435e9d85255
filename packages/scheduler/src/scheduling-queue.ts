import { deepEqual, type Pod, parseTime } from '@coracle/api'
import { assert, type Clock, type Timer } from '@coracle/environment'
import { ByAge } from './by-age.ts'
import { ByPriority } from './by-priority.ts'
import { priorityOf } from './priority.ts'
import type { PendingPods } from './scheduler-metrics.ts'

/** Pods the queue holds at most. More stay in the API and are found again when there is room. */
export const queuePodsMax = 200_000

/** First and longest wait after an attempt that failed; it doubles with every attempt (upstream's). */
const backOffFirstMs = 1000
const backOffLongestMs = 10_000

/** Of pods whose back-offs end within so long the most important goes first (upstream's). */
const backOffWindowMs = 1000

/** How long a pod that fits nowhere waits without any event before it is tried again (upstream's). */
const unschedulableLongestMs = 300_000

interface Queued {
  pod: Pod
  attempts: number
  /** Attempts that found no node. */
  unschedulableCount: number
  /** Attempts that failed by an error, since one last ended otherwise. */
  errorCount: number
  state: 'active' | 'backing-off' | 'resting' | 'in-flight'
  /** When the back-off of the last attempt ends, on the monotonic clock. */
  backOffUntilMs: number
  timer: Timer | undefined
  /** The pod changed while it was being tried: what was found may be out of date. */
  hasChanged: boolean
  /** With which others it rests, or has rested until it was woken. */
  group: string | undefined
  /** What plugins saw of it when it was last put to rest. */
  signature: string | undefined
}

/** Why pods rest: alike for all that no plugin tells apart, so that it is asked once for all of them what could help. */
export interface RestReason {
  /** Equal for pods that are alike. */
  readonly group: string
  /** What plugins see of the pod, as far as they have something to say. */
  readonly signature: string
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
 * nowhere rests until something changes that could help. Then it is active when its back-off is over, and is handed out before where
 * none is active: nobody has to wait while there is nothing else to do. One that failed by an error waits for its back-off in any case.
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
  readonly #active = new ByPriority()
  /** Pods that may be handed out before their back-off is over, by the window it ends in. */
  readonly #backingOff = new Map<number, ByPriority>()
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
      unschedulableCount: 0,
      errorCount: 0,
      state: 'active',
      backOffUntilMs: 0,
      timer: undefined,
      hasChanged: false,
      group: undefined,
      signature: undefined,
    }
    this.#pods.set(uid, queued)
    this.#activate(uid, queued)
    return true
  }

  /** Takes over a newer state of a pod that has a node to come to: it is for the next attempt, where this one fails. */
  refresh(pod: Pod): void {
    const known = this.#pods.get(uidOf(pod))
    if (known?.state === 'in-flight') known.pod = pod
  }

  /** The pod waits no longer: it has a node, or is gone. */
  remove(uid: string): void {
    const known = this.#pods.get(uid)
    if (known === undefined) return
    known.timer?.cancel()
    if (known.state === 'active') this.#active.delete(priorityOf(known.pod), uid)
    if (known.state === 'backing-off') this.#leaveBackOff(uid, known)
    if (known.state === 'resting') this.#leaveGroup(known)
    else this.#wakeNext(known.group)
    this.#pods.delete(uid)
  }

  /** Whether `take` would hand out a pod. */
  get hasActive(): boolean {
    return !this.#active.isEmpty || this.#backingOff.size > 0
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

  /** The next pod to try; undefined where none may be tried. Ends in `remove`, `failed` or `rest`. */
  take(): Pod | undefined {
    const uid = this.#active.first ?? this.#firstBackingOff()
    if (uid === undefined) return undefined
    const queued = this.#pods.get(uid)
    assert(queued !== undefined, `pod ${uid} is to be tried but not queued`)
    if (queued.state === 'active') this.#active.delete(priorityOf(queued.pod), uid)
    else this.#leaveBackOff(uid, queued)
    queued.timer?.cancel()
    queued.timer = undefined
    queued.state = 'in-flight'
    queued.attempts++
    queued.hasChanged = false
    return queued.pod
  }

  /** The attempt found a node: there may be room for others that are alike. The pod stays until it is removed, or has failed. */
  placed(uid: string): void {
    const queued = this.#pods.get(uid)
    if (queued === undefined) return
    this.#wakeNext(queued.group)
    queued.group = undefined
  }

  /** The attempt failed by an error: the pod is tried again when its back-off is over. */
  failed(uid: string): void {
    const queued = this.#pods.get(uid)
    if (queued === undefined) return
    queued.errorCount++
    this.#backOff(queued, queued.errorCount)
    this.#await(uid, queued)
  }

  /** The attempt found no node: the pod rests until something happens that could help, or for five minutes. */
  rest(uid: string, { group, signature, refusedBy }: RestReason): void {
    const queued = this.#pods.get(uid)
    if (queued === undefined) return
    queued.errorCount = 0
    queued.unschedulableCount++
    const forMs = queued.attempts === 1 ? sinceUnschedulableMs(queued.pod, this.#clock.now()) : 0
    this.#backOff(queued, queued.unschedulableCount, forMs)
    if (queued.hasChanged) {
      this.#retry(uid, queued)
      return
    }
    const before = queued.signature === signature ? undefined : queued.group
    queued.state = 'resting'
    queued.group = group
    queued.signature = signature
    const resting = this.#resting.get(group) ?? { refusedBy, pods: new ByAge<Queued>() }
    resting.pods.add(queued)
    this.#resting.set(group, resting)
    this.#arm(uid, queued, unschedulableLongestMs)
    // Other plugins have something to say of it by now than when it was woken for its group: what holds of it may not hold of the others.
    this.#wakeNext(before)
  }

  /** What was to help the pod, if it rests, has failed: it is tried again when its back-off is over. */
  retry(uid: string): void {
    const queued = this.#pods.get(uid)
    if (queued?.state === 'resting') this.#await(uid, queued)
  }

  /**
   * Something has happened: resting pods that it helps are tried again (upstream's queueing hints).
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
    this.#backingOff.clear()
    this.#resting.clear()
  }

  #podChanged(uid: string, queued: Queued, pod: Pod): void {
    if (queued.state === 'in-flight') queued.hasChanged = true
    else if (queued.state === 'resting') this.#retry(uid, queued)
    else if (priorityOf(queued.pod) === priorityOf(pod)) return
    else if (queued.state === 'active') {
      this.#active.delete(priorityOf(queued.pod), uid)
      queued.pod = pod
      this.#activate(uid, queued)
    } else if (this.#leaveBackOff(uid, queued)) {
      queued.pod = pod
      this.#enterBackOff(uid, queued)
    }
  }

  /** One of the group that has been woken rests no more, or no more with it: the next is. */
  #wakeNext(group: string | undefined): void {
    const resting = group === undefined ? undefined : this.#resting.get(group)
    const next = resting === undefined ? undefined : this.#nextOf(resting.pods)
    if (next !== undefined) this.#retry(uidOf(next.pod), next)
  }

  /** The oldest whose back-off is over; where none is, the oldest. */
  #nextOf(pods: ByAge<Queued>): Queued | undefined {
    const nowMs = this.#clock.monotonicMs()
    return pods.first(wakeableLookedAtMax).find(({ backOffUntilMs }) => backOffUntilMs <= nowMs) ?? pods.oldest
  }

  /** The pod backs off from now on, or has done so for some time, after so many attempts. */
  #backOff(queued: Queued, attempts: number, forMs = 0): void {
    const backOffMs = Math.min(backOffFirstMs * 2 ** Math.min(attempts - 1, 16), backOffLongestMs)
    queued.backOffUntilMs = this.#clock.monotonicMs() + backOffMs - forMs
  }

  /** The pod is tried when its back-off is over, and before where there is nothing else to try. */
  #retry(uid: string, queued: Queued): void {
    this.#await(uid, queued)
    if (queued.state === 'backing-off') this.#enterBackOff(uid, queued)
  }

  /** The pod is tried when its back-off is over. */
  #await(uid: string, queued: Queued): void {
    const waitMs = queued.backOffUntilMs - this.#clock.monotonicMs()
    if (waitMs <= 0) {
      this.#activate(uid, queued)
      return
    }
    if (queued.state === 'resting') this.#leaveGroup(queued)
    queued.state = 'backing-off'
    this.#arm(uid, queued, waitMs)
  }

  #enterBackOff(uid: string, { backOffUntilMs, pod }: Queued): void {
    const window = Math.floor(backOffUntilMs / backOffWindowMs)
    const uids = this.#backingOff.get(window) ?? new ByPriority()
    this.#backingOff.set(window, uids)
    uids.add(priorityOf(pod), uid)
    this.#onActive()
  }

  /** Returns whether it was among those that may be handed out. */
  #leaveBackOff(uid: string, { backOffUntilMs, pod }: Queued): boolean {
    const window = Math.floor(backOffUntilMs / backOffWindowMs)
    const uids = this.#backingOff.get(window)
    const wasThere = uids?.delete(priorityOf(pod), uid) === true
    if (uids?.isEmpty === true) this.#backingOff.delete(window)
    return wasThere
  }

  /** The most important of those whose back-off ends first. */
  #firstBackingOff(): string | undefined {
    let earliest = Number.POSITIVE_INFINITY
    // There are no more windows than the longest back-off has seconds.
    for (const window of this.#backingOff.keys()) earliest = Math.min(earliest, window)
    return this.#backingOff.get(earliest)?.first
  }

  #arm(uid: string, queued: Queued, delayMs: number): void {
    queued.timer?.cancel()
    queued.timer = this.#clock.setTimer(delayMs, () => this.#activate(uid, queued))
  }

  #activate(uid: string, queued: Queued): void {
    queued.timer?.cancel()
    queued.timer = undefined
    if (queued.state === 'resting') this.#leaveGroup(queued)
    if (queued.state === 'backing-off') this.#leaveBackOff(uid, queued)
    queued.state = 'active'
    this.#active.add(priorityOf(queued.pod), uid)
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

/** Whether the change of a pod can have a node take it: one of its status cannot. Over a network what is the same is not the same object. */
const mayFitElsewhere = (
  { metadata: { labels: old }, spec }: Pod,
  { metadata: { labels }, spec: newSpec }: Pod,
): boolean => !deepEqual(spec, newSpec) || !deepEqual(old, labels)
