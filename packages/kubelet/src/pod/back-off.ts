/** The first wait between a container's exits and its restarts; the very first restart comes at once. */
export const backOffInitialMs = 10_000
/** The longest wait. */
export const backOffMaxMs = 300_000
/** A container that ran this long starts over at the first wait: upstream's twice the longest wait. */
const backOffResetMs = 2 * backOffMaxMs

/** What is remembered of a container's restarts. */
export interface BackOff {
  readonly delayMs: number
  /** When the container was last restarted. */
  readonly updatedAtMs: number
}

/**
 * When a container that exited at `finishedAtMs` may start again, as upstream's client-go Backoff decides it: at once
 * the first time, then 10 s after the exit, doubling to 5 min, and forgotten after a run of 10 min.
 */
export function restartAtMs(backOff: BackOff | undefined, finishedAtMs: number): number {
  if (backOff === undefined || finishedAtMs - backOff.updatedAtMs > backOffResetMs) return finishedAtMs
  return finishedAtMs + backOff.delayMs
}

/** What is remembered of a container that has just got another image: the first restart comes at once again. */
export const freshBackOff = (nowMs: number): BackOff => ({ delayMs: 0, updatedAtMs: nowMs })

/** A run of a container, as far as its back-off goes. */
export interface BackedOffRun {
  readonly image: string
  /** How often the container was started before. */
  readonly attempt: number
  readonly startedAtMs?: number
  readonly finishedAtMs?: number
}

/**
 * What an agent that has not seen a container's restarts takes to be remembered of them, from its latest run and the one before:
 * that none but the last began anew, or had another image. Upstream's agent forgets all when it starts, and has crashing containers start at once.
 */
export function presumedBackOff(latest: BackedOffRun, previous: BackedOffRun | undefined): BackOff | undefined {
  const { attempt, startedAtMs } = latest
  if (attempt === 0 || startedAtMs === undefined) return undefined
  if (previous !== undefined && previous.image !== latest.image) return freshBackOff(startedAtMs)
  const ranMs = (previous?.finishedAtMs ?? 0) - (previous?.startedAtMs ?? 0)
  const delayMs = ranMs > backOffResetMs ? backOffInitialMs : backOffInitialMs * 2 ** (attempt - 1)
  return { delayMs: Math.min(delayMs, backOffMaxMs), updatedAtMs: startedAtMs }
}

/** What to remember when the container is restarted now. */
export function nextBackOff(backOff: BackOff | undefined, finishedAtMs: number, nowMs: number): BackOff {
  if (backOff === undefined || finishedAtMs - backOff.updatedAtMs > backOffResetMs) {
    return { delayMs: backOffInitialMs, updatedAtMs: nowMs }
  }
  const delayMs = Math.max(backOffInitialMs, 2 * backOff.delayMs)
  return { delayMs: Math.min(delayMs, backOffMaxMs), updatedAtMs: nowMs }
}
