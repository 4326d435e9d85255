import type { Environment } from '@coracle/environment'
import { isNotFound } from '../cri/calls.ts'
import type { InspectedContainer } from './answers.ts'
import type { Engine } from './engine.ts'
import { EntryReader, type TimedEntry } from './log-entries.ts'
import { LogFile, type LogPosition, logLine, nanosOf } from './log-file.ts'

/** How long after a failure the log is asked for again. */
export const retryMs = 1_000
/** How much earlier than the last entry the engine is asked for: Podman reads times as floating-point numbers. */
const sinceSlackNanos = 1_000_000n
const nanosPerSecond = 1_000_000_000n

/**
 * Writes the log of one container into a file, as the engine tells it. It goes on where the file ends, so that nothing is lost or written twice
 * when the node agent or the engine have been away. It waits for the disk, and the engine waits for it.
 */
export class LogFollower {
  /** Resolves when the container has ended and all is written, or it is gone, or the follower was closed. */
  readonly done: Promise<void>
  readonly #engine: Engine
  readonly #environment: Environment
  readonly #id: string
  readonly #file: LogFile
  readonly #abort = new AbortController()

  constructor(engine: Engine, environment: Environment, id: string, path: string) {
    this.#engine = engine
    this.#environment = environment
    this.#id = id
    this.#file = new LogFile(path)
    this.done = this.#run()
  }

  /** Begins another file, where the one that was written to has been put aside. */
  reopen(): Promise<void> {
    return this.#file.reopen()
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await this.done
  }

  async #run(): Promise<void> {
    let hasWarned = false
    while (!this.#abort.signal.aborted) {
      try {
        if (await this.#follow()) break
      } catch (error) {
        if (this.#abort.signal.aborted || isNotFound(error)) break
        if (!hasWarned)
          this.#environment.logger.warn('container log interrupted, trying again', { container: this.#id, error })
        hasWarned = true
      }
      await this.#pause()
    }
    await this.#file.close()
  }

  /** Gives whether the container has ended and its log is complete. */
  async #follow(): Promise<boolean> {
    const before = await this.#inspect()
    await this.#read(before.Config.Tty === true, before.State.Running)
    if (!before.State.Running) return true
    if ((await this.#inspect()).State.Running) return false
    // What was written last may not have been told to those who follow.
    await this.#read(before.Config.Tty === true, false)
    return true
  }

  #inspect(): Promise<InspectedContainer> {
    return this.#engine.call({ path: `/containers/${this.#id}/json`, signal: this.#abort.signal })
  }

  async #read(isTerminal: boolean, follow: boolean): Promise<void> {
    const position = await this.#file.position()
    const response = await this.#engine.open({
      path: `/containers/${this.#id}/logs`,
      query: { stdout: true, stderr: true, timestamps: true, follow, since: sinceOf(position) },
      signal: this.#abort.signal,
    })
    const leave = () => response.destroy()
    this.#abort.signal.addEventListener('abort', leave, { once: true })
    if (this.#abort.signal.aborted) leave()
    const reader = new EntryReader(isTerminal)
    const isNew = newEntries(position)
    const write = async (entries: Iterable<TimedEntry>) => {
      const lines = [...entries].filter(isNew).map(logLine)
      if (lines.length > 0) await this.#file.append(lines)
    }
    try {
      for await (const bytes of response) await write(reader.read(bytes))
      await write(reader.end())
    } finally {
      this.#abort.signal.removeEventListener('abort', leave)
      response.destroy()
    }
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#environment.clock.setTimer(retryMs, resolve)
    this.#abort.signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    timer.cancel()
  }
}

/** Seconds since 1970, as the engine takes them. */
function sinceOf({ time }: LogPosition): string | undefined {
  if (time === undefined) return undefined
  const since = time - sinceSlackNanos
  return `${since / nanosPerSecond}.${String(since % nanosPerSecond).padStart(9, '0')}`
}

/** Whether an entry, of those that come in their order, is after a position. */
function newEntries({ time: lastTime, count }: LogPosition): (entry: TimedEntry) => boolean {
  let leftOut = 0
  return ({ time }) => {
    if (lastTime === undefined) return true
    const nanos = nanosOf(time)
    if (nanos === lastTime) return ++leftOut > count
    return nanos > lastTime
  }
}
