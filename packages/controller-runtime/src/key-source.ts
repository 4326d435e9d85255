/**
 * Where keys come from that no cache knows of: a timer, a message queue, a poll of something outside the cluster. Described with
 * `.watchesSource(…)`.
 */
export interface KeySource {
  /**
   * Calls `add` for each key that is to be reconciled, until the signal. It is called whenever the controller begins to run. What
   * it throws, or rejects with, is logged.
   */
  start(add: (key: string) => void, signal: AbortSignal): void | Promise<void>
}

/** A source that any part of the program may put keys into. */
export interface Channel extends KeySource {
  /**
   * Has a key reconciled by every controller that listens. While none runs it does nothing: a controller looks at every object
   * when it begins.
   */
  send(key: string): void
}

/** A channel nobody listens to yet. */
export function createChannel(): Channel {
  const listeners = new Set<(key: string) => void>()
  return {
    start(add, signal) {
      listeners.add(add)
      signal.addEventListener('abort', () => listeners.delete(add), { once: true })
    },
    send(key) {
      for (const add of listeners) add(key)
    },
  }
}
