import { assert } from './assert.ts'
import type { Clock, Time, Timer, TimerOptions } from './clock.ts'
import { parseDuration } from './duration.ts'

/** How many timers and deferred callbacks one `settle` or `advance` may run before it is taken for a busy loop. */
const callbacksMax = 10_000_000

/**
 * How long nothing but housekeeping must have run before the clock leaves out rounds of it. Longer than anybody waits for a
 * sign of life before taking silence for death (a node that never reported: 60 s), so that a death is noticed on time.
 */
export const quietLeadMs = 60_000

interface Pending {
  readonly dueMs: number
  readonly external: boolean
  readonly sequence: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * A clock that stands still until a test moves it. Timers fire in the order of their due time, ties in the order they were set. What is
 * external comes first of what is due at a moment, all of it before anybody can react.
 *
 * Where nothing waits on anything but promises, this clock, and what it was told to `hold` for, "everything has settled" is
 * decidable: no microtask is left, nothing is deferred, no timer is due and nothing is held.
 *
 * Idle time is free: once nothing but housekeeping has run for a minute, the clock goes straight to the next timer that is
 * none, or to where it was to stop. There the overdue housekeeping runs, each once and in the order it was due, as on a
 * host that was suspended. Every other timer fires exactly when it is due, and finds all housekeeping done. A poll fires when
 * it is due too, and leaves the quiet as it is until it leads to a change: then the overdue housekeeping comes first.
 */
export class VirtualClock implements Clock {
  #nowMs: Time
  readonly #startMs: Time
  #sequence = 0
  readonly #timers: Pending[] = []
  readonly #housekeeping: Pending[] = []
  readonly #polls: Pending[] = []
  /** Since when nothing but housekeeping and idle polls has run. */
  #quietSinceMs: Time
  /** Whether what runs now is what a poll has led to. */
  #isPolling = false
  /** Those who wait for overdue housekeeping. */
  #catchingUp: (() => void)[] = []
  #deferred: (() => void)[] = []
  readonly #held = new Set<Promise<void>>()
  /** Ends a wait for what is held: it may have deferred something on the way, or wait for overdue housekeeping. */
  #wake: () => void = () => {}

  constructor(start: Time | string = '2026-01-01T00:00:00Z') {
    this.#startMs = typeof start === 'string' ? Date.parse(start) : start
    assert(Number.isFinite(this.#startMs), `not a time: ${start}`)
    this.#nowMs = this.#startMs
    this.#quietSinceMs = this.#startMs
  }

  now(): Time {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  setTimer(delayMs: number, callback: () => void, options: TimerOptions = {}): Timer {
    const { housekeeping, poll, external = false } = options
    const pending: Pending = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      external,
      sequence: this.#sequence++,
      callback,
      cancelled: false,
    }
    heapPush(housekeeping ? this.#housekeeping : poll ? this.#polls : this.#timers, pending)
    return {
      cancel: () => {
        pending.cancelled = true
      },
    }
  }

  defer(callback: () => void): void {
    this.#deferred.push(callback)
    this.#wake()
  }

  hold<T>(work: Promise<T>): Promise<T> {
    const over = work
      .then(
        () => {},
        () => {},
      )
      .finally(() => this.#held.delete(over))
    this.#held.add(over)
    return work
  }

  catchUp(): Promise<void> | undefined {
    if (!this.#isPolling) return undefined
    this.#isPolling = false
    this.#quietSinceMs = this.#nowMs
    if ((firstOf(this.#housekeeping)?.dueMs ?? Number.POSITIVE_INFINITY) > this.#nowMs) return undefined
    return new Promise((resolve) => {
      this.#catchingUp.push(resolve)
      this.#wake()
    })
  }

  /** Runs everything that can run without time passing. */
  async settle(): Promise<void> {
    await this.#runUntil(this.#nowMs)
  }

  /** Lets `duration` (a Go duration such as `1m30s`, or milliseconds) pass, firing each timer at its own due time. */
  async advance(duration: string | number): Promise<void> {
    const durationMs = typeof duration === 'number' ? duration : parseDuration(duration)
    assert(durationMs >= 0, `time does not go backwards: ${duration}`)
    const targetMs = this.#nowMs + durationMs
    await this.#runUntil(targetMs)
    this.#nowMs = targetMs
  }

  async #runUntil(targetMs: Time): Promise<void> {
    this.#quietSinceMs = this.#nowMs
    for (let callbacks = 0; callbacks < callbacksMax; ) {
      await drainMicrotasks()
      const deferred = this.#deferred
      if (deferred.length > 0) {
        this.#deferred = []
        for (const callback of deferred) callback()
        callbacks += deferred.length
        continue
      }
      if (this.#held.size > 0 && this.#catchingUp.length === 0) {
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        await Promise.race([woken, ...this.#held])
        continue
      }
      const next = this.#next(targetMs)
      if (next === undefined) {
        if (this.#catchingUp.length === 0) return
        for (const resolve of this.#catchingUp.splice(0)) resolve()
        continue
      }
      next.callback()
      callbacks++
      for (let also = this.#nextExternal(next); also !== undefined; also = this.#nextExternal(also)) {
        also.callback()
        callbacks++
      }
    }
    throw new Error(
      `the virtual clock ran ${callbacksMax} callbacks without settling: something re-arms itself without delay`,
    )
  }

  /** Takes the next callback that is due by then, and goes to its time; undefined where there is none. */
  #next(targetMs: Time): Pending | undefined {
    const timer = firstOf(this.#timers)
    const poll = firstOf(this.#polls)
    const upkeep = firstOf(this.#housekeeping)
    if (this.#catchingUp.length > 0)
      return upkeep === undefined || upkeep.dueMs > this.#nowMs ? undefined : this.#take(this.#housekeeping, upkeep)
    const isLeftOut = upkeep !== undefined && upkeep.dueMs > this.#quietSinceMs + quietLeadMs
    const madeUpMs = Math.min(targetMs, timer?.dueMs ?? targetMs)
    const isUpkeep = upkeep !== undefined && (timer === undefined || before(upkeep, timer))
    const isPoll =
      poll !== undefined &&
      (timer === undefined || before(poll, timer)) &&
      (!isUpkeep || (isLeftOut ? poll.dueMs <= madeUpMs : before(poll, upkeep)))
    const next = isPoll ? poll : isUpkeep ? upkeep : timer
    if (next === undefined || next.dueMs > targetMs) return undefined
    this.#nowMs = Math.max(this.#nowMs, next === upkeep && isLeftOut ? madeUpMs : next.dueMs)
    this.#isPolling = isPoll
    if (next === timer) this.#quietSinceMs = this.#nowMs
    return this.#take(isPoll ? this.#polls : isUpkeep ? this.#housekeeping : this.#timers, next)
  }

  /** Takes the next of what happens by itself at the same moment as `fired`. */
  #nextExternal(fired: Pending): Pending | undefined {
    const timer = firstOf(this.#timers)
    const isNext = fired.external && timer?.external === true && timer.dueMs === fired.dueMs
    return isNext ? this.#take(this.#timers, timer) : undefined
  }

  #take(heap: Pending[], first: Pending): Pending {
    heapPop(heap)
    return first
  }
}

/** The event loop empties the microtask queue, however deep, before it turns to an immediate. */
function drainMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The first that is not cancelled. */
function firstOf(heap: Pending[]): Pending | undefined {
  while (heap[0]?.cancelled) heapPop(heap)
  return heap[0]
}

function before(a: Pending, b: Pending): boolean {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs
  return a.external === b.external ? a.sequence < b.sequence : a.external
}

function heapPush(heap: Pending[], item: Pending): void {
  let index = heap.push(item) - 1
  while (index > 0) {
    const parent = (index - 1) >> 1
    const above = heap[parent] as Pending
    if (!before(item, above)) break
    heap[index] = above
    index = parent
  }
  heap[index] = item
}

function heapPop(heap: Pending[]): void {
  const last = heap.pop()
  if (last === undefined || heap.length === 0) return
  let index = 0
  for (;;) {
    let child = 2 * index + 1
    if (child >= heap.length) break
    const right = child + 1
    if (right < heap.length && before(heap[right] as Pending, heap[child] as Pending)) child = right
    const below = heap[child] as Pending
    if (!before(below, last)) break
    heap[index] = below
    index = child
  }
  heap[index] = last
}
