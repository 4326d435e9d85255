import { type FSWatcher, statSync, watch } from 'node:fs'
import type { Clock, Timer } from '@coracle/environment'
import { type LogSegment, logFileBytesMax, logSegments, rotateLog } from './log-segments.ts'
import { TimeIndex } from './time-index.ts'

/** A log that grows all the time is looked at this often: how exact its times are, and what it costs. */
const observationGapMs = 20
/** A log that outgrows its file again at once waits this long for the next rotation: each takes milliseconds. */
const rotationGapMs = 100
/** How often a log is looked at where the host refuses to tell of changes (its limit of watches is reached). */
const pollMs = 1_000

/**
 * Follows the log of a running container: notes when it grew, rotates it, and tells those who read along.
 * `close` looks a last time.
 */
export class LogWatcher {
  readonly #path: string
  readonly #clock: Clock
  readonly #onError: (error: unknown) => void
  readonly #index: TimeIndex
  readonly #listeners = new Set<() => void>()
  #watcher: FSWatcher | undefined
  #timer: Timer | undefined
  #observedAtMs = Number.NEGATIVE_INFINITY
  #rotatedAtMs = Number.NEGATIVE_INFINITY
  #failed = false
  #end: number
  /** Where the file being written to starts in the log. */
  #fileStart: number
  #closed = false

  /** `onError` hears when the log cannot be looked after, such as for a full disk; it is tried again. */
  constructor(path: string, clock: Clock, onError: (error: unknown) => void) {
    this.#path = path
    this.#clock = clock
    this.#onError = onError
    this.#index = new TimeIndex(`${path}.times`)
    const file = writtenFile(path)
    this.#fileStart = file.start
    this.#end = file.start + file.bytes
    // What came while nobody watched was written by the time the file was last changed. Times are whole milliseconds, as clocks have
    // them: what is more exact would be rounded where it is printed, and lines be older than the time that is said of them.
    const changedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs
    if (changedAtMs !== undefined) {
      this.#guarded(() => this.#index.add({ end: this.#end, timeMs: Math.floor(changedAtMs) }))
    }
    this.#watch()
    // What was written between the look above and the watch changes nothing that would be told. A file that has outgrown its size
    // while nobody watched is rotated, though it may never grow again.
    this.observe()
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Calls back whenever there is more to read, or nothing more will come. Returns the way to end that. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    if (this.#closed) return
    this.observe()
    this.#closed = true
    this.#watcher?.close()
    this.#timer?.cancel()
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  #watch(): void {
    try {
      this.#watcher = watch(this.#path, { persistent: false }, () => this.#changed())
      this.#watcher.on('error', () => this.#poll())
    } catch {
      this.#poll()
    }
  }

  #poll(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    if (this.#closed) return
    this.#timer = this.#clock.setTimer(pollMs, () => {
      this.observe()
      this.#poll()
    })
  }

  #changed(): void {
    if (this.#closed || this.#timer !== undefined) return
    const waitMs = this.#observedAtMs + observationGapMs - this.#clock.monotonicMs()
    if (waitMs <= 0) this.observe()
    else this.#observeLater(waitMs)
  }

  #observeLater(waitMs: number): void {
    this.#timer = this.#clock.setTimer(waitMs, () => {
      this.#timer = undefined
      this.observe()
    })
  }

  /** Looks at once: what is there now is noted as written by now, however late the host tells of it. */
  observe(): void {
    if (this.#closed) return
    this.#observedAtMs = this.#clock.monotonicMs()
    const bytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    const end = this.#fileStart + bytes
    const grew = end !== this.#end
    const isDue = bytes > logFileBytesMax && this.#observedAtMs - this.#rotatedAtMs >= rotationGapMs
    if (!grew && !isDue) return
    this.#end = end
    this.#guarded(() => {
      if (grew) this.#index.add({ end, timeMs: this.#clock.now() })
      if (isDue) this.#rotate()
    })
    for (const listener of this.#listeners) listener()
  }

  /** The agent must outlive what happens to one container's log. What fails again and again is told of once. */
  #guarded(work: () => void): void {
    try {
      work()
      this.#failed = false
    } catch (error) {
      if (!this.#failed) this.#onError(error)
      this.#failed = true
    }
  }

  #rotate(): void {
    const begin = rotateLog(this.#path)
    this.#rotatedAtMs = this.#clock.monotonicMs()
    // What has been written since is seen at the next look.
    this.#fileStart = writtenFile(this.#path).start
    this.#end = this.#fileStart
    this.#index.trim(begin)
  }
}

/** The file of a log that is being written to. One look at it: it may be longer at the next, and does not start elsewhere for that. */
function writtenFile(path: string): Pick<LogSegment, 'start' | 'bytes'> {
  return logSegments(path).at(-1) ?? { start: 0, bytes: 0 }
}
