import type { Clock, Timer, TimerOptions } from '@coracle/environment'

/** Keys a queue holds at most, waiting ones included. */
export const queueKeysMax = 1_000_000

/** First and longest wait of `addRateLimited`; it doubles with every failure of the key (client-go's defaults). */
export const retryFirstMs = 5
export const retryLongestMs = 1_000_000

/**
 * A queue of keys of which none is handed out twice at a time, nor queued twice. A key that is added while it is being
 * processed comes back once it is done. Semantics are those of client-go's workqueue.
 */
export interface WorkQueue {
  /** Keys that wait to be handed out now. */
  readonly length: number
  /** Queues a key, unless it is queued already. */
  add(key: string): void
  /** Adds a key `delayMs` from now. Of several waits for one key the shortest counts; it is housekeeping if all of them are. */
  addAfter(key: string, delayMs: number, options?: TimerOptions): void
  /** Adds a key after a wait that doubles with every call since `forget`, from 5 ms to 1,000 s. */
  addRateLimited(key: string): void
  /** The key has succeeded: its next rate-limited wait is the shortest. */
  forget(key: string): void
  /** How often the key was added rate limited since it was forgotten. */
  retries(key: string): number
  /** The next key, first in first out; undefined once the queue is shut down. Call `done` when it is processed. */
  get(): Promise<string | undefined>
  /** The key is processed, well or not. */
  done(key: string): void
  /** Hands out nothing any more and takes nothing any more; waits under way end with undefined. */
  shutDown(): void
}

export interface WorkQueueOptions {
  /** Shows in errors. */
  readonly name?: string
  readonly keysMax?: number
}

/** An empty queue whose waits pass on `clock`. Adding beyond `keysMax` throws a RangeError. */
export function createWorkQueue(clock: Clock, options: WorkQueueOptions = {}): WorkQueue {
  return new DeduplicatingQueue(clock, options.name ?? 'work', options.keysMax ?? queueKeysMax)
}

interface Wait {
  readonly dueMs: number
  readonly housekeeping: boolean
  readonly timer: Timer
}

class DeduplicatingQueue implements WorkQueue {
  readonly #clock: Clock
  readonly #name: string
  readonly #keysMax: number
  /** Keys to hand out, in order. Sets keep insertion order, and taking the first is cheap. */
  readonly #ready = new Set<string>()
  readonly #processing = new Set<string>()
  /** Keys added while they were being processed. */
  readonly #again = new Set<string>()
  readonly #waits = new Map<string, Wait>()
  readonly #failures = new Map<string, number>()
  /** Wake who waits for a key. They take it a moment later, so that what is added in one go still counts once. */
  readonly #takers: (() => void)[] = []
  #isShutDown = false

  constructor(clock: Clock, name: string, keysMax: number) {
    this.#clock = clock
    this.#name = name
    this.#keysMax = keysMax
  }

  get length(): number {
    return this.#ready.size
  }

  add(key: string): void {
    if (this.#isShutDown || this.#ready.has(key)) return
    if (this.#processing.has(key)) {
      this.#again.add(key)
      return
    }
    this.#checkRoom()
    this.#ready.add(key)
    this.#takers.shift()?.()
  }

  addAfter(key: string, delayMs: number, options: TimerOptions = {}): void {
    if (this.#isShutDown) return
    if (!(delayMs > 0)) {
      this.add(key)
      return
    }
    const nowMs = this.#clock.monotonicMs()
    const earlier = this.#waits.get(key)
    if (earlier === undefined) this.#checkRoom()
    const dueMs = Math.min(nowMs + delayMs, earlier?.dueMs ?? Number.POSITIVE_INFINITY)
    const housekeeping = options.housekeeping === true && (earlier?.housekeeping ?? true)
    if (earlier !== undefined && earlier.dueMs === dueMs && earlier.housekeeping === housekeeping) return
    earlier?.timer.cancel()
    const elapse = () => {
      this.#waits.delete(key)
      this.add(key)
    }
    this.#waits.set(key, { dueMs, housekeeping, timer: this.#clock.setTimer(dueMs - nowMs, elapse, { housekeeping }) })
  }

  addRateLimited(key: string): void {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.addAfter(key, Math.min(retryLongestMs, retryFirstMs * 2 ** failures))
  }

  forget(key: string): void {
    this.#failures.delete(key)
  }

  retries(key: string): number {
    return this.#failures.get(key) ?? 0
  }

  async get(): Promise<string | undefined> {
    for (;;) {
      if (this.#isShutDown) return undefined
      for (const key of this.#ready) {
        this.#ready.delete(key)
        this.#processing.add(key)
        return key
      }
      await new Promise<void>((resolve) => this.#takers.push(resolve))
    }
  }

  done(key: string): void {
    this.#processing.delete(key)
    if (this.#again.delete(key)) this.add(key)
  }

  shutDown(): void {
    this.#isShutDown = true
    this.#ready.clear()
    this.#again.clear()
    for (const { timer } of this.#waits.values()) timer.cancel()
    this.#waits.clear()
    for (const wake of this.#takers.splice(0)) wake()
  }

  #checkRoom(): void {
    if (this.#ready.size + this.#waits.size < this.#keysMax) return
    throw new RangeError(`the ${this.#name} queue is full: it holds ${this.#keysMax} keys`)
  }
}
