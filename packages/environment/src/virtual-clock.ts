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
  readonly sequence: number
  readonly callback: () => void
  cancelled: boolean
}

/**
 * A clock that stands still until a test moves it. Timers fire in the order of their due time, ties in the order they were set.
 *
 * Where nothing waits on anything but promises, this clock, and what it was told to `hold` for, "everything has settled" is
 * decidable: no microtask is left, nothing is deferred, no timer is due and nothing is held.
 *
 * Idle time is free: once nothing but housekeeping has run for a minute, the clock goes straight to the next timer that is
 * none, or to where it was to stop. There the overdue housekeeping runs, each once and in the order it was due, as on a
 * host that was suspended. Every other timer fires exactly when it is due, and finds all housekeeping done.
 */
export class VirtualClock implements Clock {
  #nowMs: Time
  readonly #startMs: Time
  #sequence = 0
  readonly #timers: Pending[] = []
  readonly #housekeeping: Pending[] = []
  #deferred: (() => void)[] = []
  readonly #held = new Set<Promise<void>>()
  /** Ends a wait for what is held: it may have deferred something on the way. */
  #wake: () => void = () => {}

  constructor(start: Time | string = '2026-01-01T00:00:00Z') {
    this.#startMs = typeof start === 'string' ? Date.parse(start) : start
    assert(Number.isFinite(this.#startMs), `not a time: ${start}`)
    this.#nowMs = this.#startMs
  }

  now(): Time {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  setTimer(delayMs: number, callback: () => void, { housekeeping = false }: TimerOptions = {}): Timer {
    const pending: Pending = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      sequence: this.#sequence++,
      callback,
      cancelled: false,
    }
    heapPush(housekeeping ? this.#housekeeping : this.#timers, pending)
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
    let quietSinceMs = this.#nowMs
    for (let callbacks = 0; callbacks < callbacksMax; ) {
      await drainMicrotasks()
      const deferred = this.#deferred
      if (deferred.length > 0) {
        this.#deferred = []
        for (const callback of deferred) callback()
        callbacks += deferred.length
        continue
      }
      if (this.#held.size > 0) {
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        await Promise.race([woken, ...this.#held])
        continue
      }
      const timer = firstOf(this.#timers)
      const upkeep = firstOf(this.#housekeeping)
      const isUpkeep = upkeep !== undefined && (timer === undefined || before(upkeep, timer))
      const next = isUpkeep ? upkeep : timer
      if (next === undefined || next.dueMs > targetMs) return
      heapPop(isUpkeep ? this.#housekeeping : this.#timers)
      if (isUpkeep && next.dueMs > quietSinceMs + quietLeadMs)
        this.#nowMs = Math.min(targetMs, timer?.dueMs ?? targetMs)
      else this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      if (!isUpkeep) quietSinceMs = this.#nowMs
      next.callback()
      callbacks++
    }
    throw new Error(
      `the virtual clock ran ${callbacksMax} callbacks without settling: something re-arms itself without delay`,
    )
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
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.sequence < b.sequence)
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
