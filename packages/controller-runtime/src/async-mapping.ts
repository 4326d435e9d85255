import type { KubernetesObject } from '@coracle/api'
import { createWorkQueue, keyOf, type Priority, type WorkQueue } from '@coracle/client'
import type { Environment } from '@coracle/environment'

/** Objects mapped at a time. */
export const mappingsParallelMax = 16

/** States of one object that wait to be mapped. Beyond that those in the middle are left out: the first and the last count most. */
export const statesMax = 16

/** The keys that an object concerns, found out by asking: the API, a database. */
export type AsyncKeysOf<T extends KubernetesObject> = (object: T) => Promise<readonly string[]>

interface Waiting<T> {
  readonly states: Set<T>
  priority: Priority
}

/**
 * Maps changed objects to keys where that takes asking. An object that changes again while it waits is mapped in all its states
 * at once; a mapping that fails is logged and tried again, as a reconcile is.
 */
export class AsyncMapping<T extends KubernetesObject> {
  readonly #keysOf: AsyncKeysOf<T>
  readonly #add: (key: string, priority: Priority, object: T) => void
  readonly #environment: Environment
  readonly #queue: WorkQueue
  readonly #waiting = new Map<string, Waiting<T>>()

  constructor(
    name: string,
    keysOf: AsyncKeysOf<T>,
    add: (key: string, priority: Priority, object: T) => void,
    environment: Environment,
  ) {
    this.#keysOf = keysOf
    this.#add = add
    this.#environment = environment
    this.#queue = createWorkQueue(environment.clock, { name: `${name} mapping` })
    for (let worker = 0; worker < mappingsParallelMax; worker++) void this.#work()
  }

  map(object: T, priority: Priority): void {
    const key = keyOf(object)
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) this.#waiting.set(key, { states: new Set([object]), priority })
    else {
      const [, second] = waiting.states
      if (waiting.states.size >= statesMax && second !== undefined) waiting.states.delete(second)
      waiting.states.add(object)
      if (priority === 'fresh') waiting.priority = 'fresh'
    }
    this.#queue.add(key, priority)
  }

  stop(): void {
    this.#queue.shutDown()
    this.#waiting.clear()
  }

  async #work(): Promise<void> {
    for (let key = await this.#queue.get(); key !== undefined; key = await this.#queue.get()) {
      await this.#mapWaiting(key)
      this.#queue.done(key)
    }
  }

  async #mapWaiting(key: string): Promise<void> {
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) return
    try {
      for (const state of waiting.states) {
        for (const concerned of await this.#keysOf(state)) this.#add(concerned, waiting.priority, state)
        waiting.states.delete(state)
      }
      this.#waiting.delete(key)
      this.#queue.forget(key)
    } catch (error) {
      this.#environment.logger.error('mapping failed, trying again', { mapped: key, error })
      this.#queue.addRateLimited(key)
    }
  }
}
