import type { Clock, MetricsRegistry, Timer, TimerOptions } from '@coracle/environment'
import { KeyLine } from './key-line.ts'
import { exponentialRateLimiter, type RateLimiter } from './rate-limiter.ts'
import { createWorkQueueMetrics, type WorkQueueMetrics } from './work-queue-metrics.ts'

/** Keys a queue holds at most, waiting ones included. */
export const queueKeysMax = 1_000_000

/** While background keys wait, one of them is handed out after so many fresh ones: they are slowed down, never starved. */
export const freshInRowMax = 16

/** Failed keys that are tried again before their time at once, at most: the others wait on. */
export const retriesAtOnceMax = 64

/** What came of a change goes before what only looks again: the first list, a resync. */
export type Priority = 'fresh' | 'background'

export interface WaitOptions extends TimerOptions {
  /** That of the key where it is being processed, otherwise fresh. */
  readonly priority?: Priority
}

/**
 * A queue of keys of which none is handed out twice at a time, nor queued twice. A key that is added while it is being
 * processed comes back once it is done. Semantics are those of client-go's workqueue, with two priorities.
 */
export interface WorkQueue {
  /** Keys that wait to be handed out now. */
  readonly length: number
  /** Queues a key, unless it is queued already. One that waits in the background is fresh once it is added as fresh. */
  add(key: string, priority?: Priority): void
  /** Adds a key `delayMs` from now. Of several waits for one key the shortest counts; it is housekeeping, or a poll, if all of them are no more. */
  addAfter(key: string, delayMs: number, options?: WaitOptions): void
  /** Adds a key that has failed after the wait its rate limiter asks for. */
  addRateLimited(key: string): void
  /**
   * What failed keys wait for may have come: those for which `isMeant` holds are added now, by name and no more than
   * `retriesAtOnceMax`. One that is being processed may have looked too soon: it is added at once should it fail. The next wait of
   * all of them is as long as it would have been.
   */
  retryNow(isMeant: (key: string) => boolean): void
  /** The key has succeeded: its next rate-limited wait is the shortest. */
  forget(key: string): void
  /** How often the key was added rate limited since it was forgotten. */
  retries(key: string): number
  /** The next key, fresh ones first, each in the order they came; undefined once the queue is shut down. Call `done` when it is processed. */
  get(): Promise<string | undefined>
  /** The key is processed, well or not. */
  done(key: string): void
  /** Hands out nothing any more and takes nothing any more; waits under way end with undefined. */
  shutDown(): void
}

export interface WorkQueueOptions {
  /** Shows in errors and metrics. */
  readonly name?: string
  readonly keysMax?: number
  /** How long failed keys wait: from 5 ms to 1,000 s by default, doubling for each key. */
  readonly rateLimiter?: RateLimiter
  readonly metrics?: MetricsRegistry | undefined
}

/** An empty queue whose waits pass on `clock`. Adding beyond `keysMax` throws a RangeError. */
export function createWorkQueue(clock: Clock, options: WorkQueueOptions = {}): WorkQueue {
  return new DeduplicatingQueue(clock, options)
}

interface Wait {
  readonly dueMs: number
  readonly housekeeping: boolean
  readonly poll: boolean
  readonly priority: Priority
  readonly timer: Timer
}

interface Processing {
  readonly priority: Priority
  readonly sinceMs: number
}

class DeduplicatingQueue implements WorkQueue {
  readonly #clock: Clock
  readonly #name: string
  readonly #keysMax: number
  readonly #rateLimiter: RateLimiter
  readonly #metrics: WorkQueueMetrics | undefined
  /** Keys to hand out, in order, and since when they wait. */
  readonly #fresh = new KeyLine()
  readonly #background = new KeyLine()
  readonly #processing = new Map<string, Processing>()
  /** Keys added while they were being processed. */
  readonly #again = new Map<string, Priority>()
  readonly #waits = new Map<string, Wait>()
  /** Those of the keys that wait because they have failed. */
  readonly #failed = new Set<string>()
  /** Keys that are being processed while what they may fail for comes. */
  readonly #hopeful = new Set<string>()
  /** Wake who waits for a key. They take it a moment later, so that what is added in one go still counts once. */
  readonly #takers: (() => void)[] = []
  /** Fresh keys handed out while background ones waited. */
  #freshInRow = 0
  #isShutDown = false

  constructor(clock: Clock, { name = 'work', keysMax = queueKeysMax, rateLimiter, metrics }: WorkQueueOptions) {
    this.#clock = clock
    this.#name = name
    this.#keysMax = keysMax
    this.#rateLimiter = rateLimiter ?? exponentialRateLimiter()
    this.#metrics =
      metrics &&
      createWorkQueueMetrics(metrics, name, {
        depth: (priority) => (priority === 'fresh' ? this.#fresh.size : this.#background.size),
        processingMs: () => {
          const nowMs = clock.monotonicMs()
          return [...this.#processing.values()].map(({ sinceMs }) => nowMs - sinceMs)
        },
      })
  }

  get length(): number {
    return this.#fresh.size + this.#background.size
  }

  add(key: string, priority: Priority = 'fresh'): void {
    if (this.#isShutDown || this.#fresh.has(key)) return
    if (this.#processing.has(key)) {
      if (this.#again.get(key) !== 'fresh') this.#again.set(key, priority)
      return
    }
    const sinceMs = this.#background.sinceMs(key)
    if (sinceMs !== undefined) {
      if (priority === 'background') return
      this.#background.delete(key)
      this.#fresh.add(key, sinceMs)
      return
    }
    this.#checkRoom()
    this.#metrics?.added()
    const ready = priority === 'fresh' ? this.#fresh : this.#background
    ready.add(key, this.#nowMs())
    this.#takers.shift()?.()
  }

  addAfter(key: string, delayMs: number, options: WaitOptions = {}): void {
    if (this.#isShutDown) return
    const wanted = options.priority ?? this.#processing.get(key)?.priority ?? 'fresh'
    if (!(delayMs > 0)) {
      this.add(key, wanted)
      return
    }
    const nowMs = this.#clock.monotonicMs()
    const earlier = this.#waits.get(key)
    if (earlier === undefined) this.#checkRoom()
    const dueMs = Math.min(nowMs + delayMs, earlier?.dueMs ?? Number.POSITIVE_INFINITY)
    const { housekeeping, poll } = earlier === undefined ? kindOf(options) : moreUrgent(kindOf(options), earlier)
    const priority = earlier?.priority === 'fresh' ? 'fresh' : wanted
    const isSameWait = earlier?.dueMs === dueMs && earlier.housekeeping === housekeeping && earlier.poll === poll
    if (isSameWait && earlier.priority === priority) return
    earlier?.timer.cancel()
    const elapse = () => {
      this.#waits.delete(key)
      this.#failed.delete(key)
      this.add(key, priority)
    }
    const timer = this.#clock.setTimer(dueMs - nowMs, elapse, { housekeeping, poll })
    this.#waits.set(key, { dueMs, housekeeping, poll, priority, timer })
  }

  addRateLimited(key: string): void {
    this.#metrics?.retried()
    const delayMs = this.#rateLimiter.delayMs(key)
    this.addAfter(key, this.#hopeful.delete(key) ? 0 : delayMs)
    if (this.#waits.has(key)) this.#failed.add(key)
  }

  retryNow(isMeant: (key: string) => boolean): void {
    for (const key of this.#processing.keys()) if (isMeant(key)) this.#hopeful.add(key)
    if (this.#failed.size === 0) return
    for (const key of [...this.#failed].filter(isMeant).sort().slice(0, retriesAtOnceMax)) {
      this.#waits.get(key)?.timer.cancel()
      this.#waits.delete(key)
      this.#failed.delete(key)
      this.add(key)
    }
  }

  forget(key: string): void {
    this.#failed.delete(key)
    this.#rateLimiter.forget(key)
  }

  retries(key: string): number {
    return this.#rateLimiter.failures(key)
  }

  async get(): Promise<string | undefined> {
    for (;;) {
      if (this.#isShutDown) return undefined
      const key = this.#take()
      if (key !== undefined) return key
      await new Promise<void>((resolve) => this.#takers.push(resolve))
    }
  }

  done(key: string): void {
    const processed = this.#processing.get(key)
    if (processed !== undefined) this.#metrics?.workSeconds.observe((this.#nowMs() - processed.sinceMs) / 1000)
    this.#processing.delete(key)
    this.#hopeful.delete(key)
    const again = this.#again.get(key)
    if (again === undefined) return
    this.#again.delete(key)
    this.add(key, again)
  }

  shutDown(): void {
    this.#isShutDown = true
    this.#fresh.clear()
    this.#background.clear()
    this.#again.clear()
    for (const { timer } of this.#waits.values()) timer.cancel()
    this.#waits.clear()
    this.#failed.clear()
    this.#hopeful.clear()
    for (const wake of this.#takers.splice(0)) wake()
    this.#metrics?.end()
  }

  #take(): string | undefined {
    const isBackgroundsTurn = this.#fresh.size === 0 || this.#freshInRow >= freshInRowMax
    const priority = isBackgroundsTurn && this.#background.size > 0 ? 'background' : 'fresh'
    this.#freshInRow = priority === 'fresh' && this.#background.size > 0 ? this.#freshInRow + 1 : 0
    const ready = priority === 'fresh' ? this.#fresh : this.#background
    const next = ready.take()
    if (next === undefined) return undefined
    const sinceMs = this.#nowMs()
    this.#metrics?.queueSeconds.observe((sinceMs - next.sinceMs) / 1000)
    this.#processing.set(next.key, { priority, sinceMs })
    return next.key
  }

  /** Only metrics want to know. */
  #nowMs(): number {
    return this.#metrics === undefined ? 0 : this.#clock.monotonicMs()
  }

  #checkRoom(): void {
    if (this.length + this.#waits.size < this.#keysMax) return
    throw new RangeError(`the ${this.#name} queue is full: it holds ${this.#keysMax} keys`)
  }
}

type WaitKind = Pick<Wait, 'housekeeping' | 'poll'>

function kindOf({ housekeeping = false, poll = false }: WaitOptions): WaitKind {
  return { housekeeping, poll: poll && !housekeeping }
}

/** Housekeeping only where both are, a poll where neither is more than that. */
function moreUrgent(one: WaitKind, other: WaitKind): WaitKind {
  const housekeeping = one.housekeeping && other.housekeeping
  const isNoMoreThanPoll = (one.housekeeping || one.poll) && (other.housekeeping || other.poll)
  return { housekeeping, poll: isNoMoreThanPoll && !housekeeping }
}
