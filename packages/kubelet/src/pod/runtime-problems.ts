import { RuntimeUnavailableError } from '../runtimes/runtime.ts'
import { recordPodEvent } from './pod-events.ts'
import type { PodHost } from './pod-host.ts'

/** What the runtime refuses to do for one pod: each problem is told once. That the runtime is away the node says. */
export class RuntimeProblems {
  readonly #host: PodHost
  /** What was told last. */
  #told = ''

  constructor(host: PodHost) {
    this.#host = host
  }

  /** Does something, and tells where it is refused. */
  async telling<T>(reason: string, prefix: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      const message = `${prefix}: ${error instanceof Error ? error.message : String(error)}`
      const isKnown = error instanceof RuntimeUnavailableError || this.#told === message
      if (this.#host.isGone || isKnown) throw error
      this.#told = message
      recordPodEvent(this.#host.context, this.#host.pod, 'Warning', reason, message)
      throw error
    }
  }
}
