import type { Environment } from '@coracle/environment'
import type { Revision, Store } from '@coracle/store'
import { decodeCause } from '../causes/cause-note.ts'

/** How long the causes of changes are kept, if the store does not have too many of them. */
export const causesAgeMaxMs = 7 * 24 * 60 * 60_000

/** How often those that have outlived this are looked for. */
export const causeExpiryIntervalMs = 10 * 60_000

/** Lets the store forget old causes, time and again until the returned function is called. */
export function startCauseExpiry({ clock, logger }: Environment, store: Store): () => void {
  let isStopped = false
  const sweep = async (): Promise<void> => {
    try {
      await store.forgetNotes(await lastBefore(store, clock.now() - causesAgeMaxMs))
    } catch (error) {
      if (!isStopped) logger.warn('old causes could not be forgotten', { error: String(error) })
    }
  }
  const tick = (): void => {
    void sweep()
    timer = clock.setTimer(causeExpiryIntervalMs, tick, { housekeeping: true })
  }
  let timer = clock.setTimer(causeExpiryIntervalMs, tick, { housekeeping: true })
  return () => {
    isStopped = true
    timer.cancel()
  }
}

/** The last revision whose cause was noted before a time; 0 where there is none. Halves what is left with each question. */
async function lastBefore(store: Store, timeMs: number): Promise<Revision> {
  let last: Revision = 0
  // Notes up to `low` are older than the time, and those from `high` on are not.
  let [low, high] = [0, (await store.latest()) + 1]
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2)
    const [found] = await store.notes({ before: middle + 1, limit: 1 })
    if (found !== undefined && decodeCause(found.note).timeMs >= timeMs) {
      high = found.revision
      continue
    }
    last = found?.revision ?? last
    low = middle
  }
  return last
}
