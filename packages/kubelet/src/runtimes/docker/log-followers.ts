import type { Environment } from '@coracle/environment'
import type { Engine } from './engine.ts'
import { LogFollower } from './log-follower.ts'

/** How long the end of a container is held back for the end of its log. */
export const lastEntriesMs = 5_000

/** The logs of all containers of a node. */
export class LogFollowers {
  readonly #engine: Engine
  readonly #environment: Environment
  readonly #followers = new Map<string, LogFollower>()
  #isClosed = false

  constructor(engine: Engine, environment: Environment) {
    this.#engine = engine
    this.#environment = environment
  }

  /** Sees to it that the log of a container which has run is written, once. */
  follow(id: string, path: string): void {
    if (path === '' || this.#isClosed || this.#followers.has(id)) return
    this.#followers.set(id, new LogFollower(this.#engine, this.#environment, id, path))
  }

  /** Resolves when the log of a container that has ended is complete, or has not become so for long. */
  async completed(id: string): Promise<void> {
    const follower = this.#followers.get(id)
    if (follower === undefined) return
    const late = Promise.withResolvers<void>()
    const timer = this.#environment.clock.setTimer(lastEntriesMs, late.resolve)
    await Promise.race([follower.done, late.promise])
    timer.cancel()
  }

  async reopen(id: string): Promise<void> {
    await this.#followers.get(id)?.reopen()
  }

  /** For a container that is about to go. */
  async forget(id: string): Promise<void> {
    const follower = this.#followers.get(id)
    this.#followers.delete(id)
    await follower?.close()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#followers.keys()].map((id) => this.forget(id)))
  }
}
