/** How long a pod that failed on a node is left alone, from one failure to the next there. */
const waitMinMs = 1000
const waitMaxMs = 15 * 60_000

/** Nodes are forgotten when nothing failed there for this long. */
const forgottenAfterMs = 2 * waitMaxMs

/** Nodes remembered for all daemon sets together; beyond that the longest ago is forgotten. */
const failuresMax = 10_000

interface Failure {
  readonly at: number
  readonly waitMs: number
}

/** Remembers where daemon pods failed: their node may refuse them, and would go on to do so as fast as they come. Times are of the monotonic clock. */
export class DaemonPodFailures {
  readonly #failures = new Map<string, Failure>()

  /** For how long yet a failed pod of this daemon set is left on this node. */
  waitMs(daemonSet: string, nodeName: string, nowMs: number): number {
    const failure = this.#failures.get(keyOf(daemonSet, nodeName))
    return failure === undefined ? 0 : Math.max(0, Math.ceil(failure.at + failure.waitMs - nowMs))
  }

  /** A failed pod is removed: the next waits twice as long. */
  record(daemonSet: string, nodeName: string, nowMs: number): void {
    const key = keyOf(daemonSet, nodeName)
    const last = this.#failures.get(key)
    const isRecent = last !== undefined && nowMs - last.at <= forgottenAfterMs
    this.#failures.delete(key)
    this.#failures.set(key, { at: nowMs, waitMs: isRecent ? Math.min(waitMaxMs, last.waitMs * 2) : waitMinMs })
    for (const [oldest, { at }] of this.#failures) {
      if (this.#failures.size <= failuresMax && nowMs - at <= forgottenAfterMs) break
      this.#failures.delete(oldest)
    }
  }
}

const keyOf = (daemonSet: string, nodeName: string): string => `${daemonSet}/${nodeName}`
