/** Requests that are with pods at one time; more are told to come back (429). */
export const proxiedRequestsMax = 1_000

/** Counts the requests that are with pods. */
export class ProxiedRequests {
  #count = 0

  /** Counts one more. False where there are too many. */
  take(): boolean {
    if (this.#count >= proxiedRequestsMax) return false
    this.#count += 1
    return true
  }

  release(): void {
    this.#count -= 1
  }
}
