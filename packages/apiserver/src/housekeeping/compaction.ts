import type { Environment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import type { Registries } from '../registries.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'

/** History is kept for at least this long and at most twice as long, unless there is more of it than caches hold, or, where the server came to rest since, the store. */
export const compactionIntervalMs = 5 * 60_000

/** How often it is noted how far the store has come: less than a virtual clock waits before it leaves out housekeeping. */
const sampleIntervalMs = 30_000

/** How far the store had come at a time. */
interface Sample {
  readonly timeMs: number
  readonly revision: number
}

/** Forgets old history in the watch caches and in the store, time and again until the returned function is called. */
export function startCompaction(
  { clock, logger }: Environment,
  store: Store,
  feed: StoreFeed,
  registries: Registries,
): () => void {
  const sample = (): Sample => ({ timeMs: clock.monotonicMs(), revision: feed.revision })
  let samples: readonly Sample[] = [sample()]
  let compactedMs = clock.monotonicMs()
  let compacted = 0
  const compact = (untilMs: number): void => {
    const target = samples.findLast(({ timeMs }) => timeMs <= untilMs)?.revision ?? 0
    samples = samples.filter(({ timeMs }) => timeMs > untilMs)
    for (const { storage } of registries.kinds()) storage.cache.forget(target)
    if (target <= compacted) return
    compacted = target
    store.compact(target).catch((error: unknown) => logger.warn('compaction failed', { error: String(error) }))
  }
  const tick = (): void => {
    samples = [...samples, sample()]
    const nowMs = clock.monotonicMs()
    if (nowMs - compactedMs >= compactionIntervalMs) {
      compactedMs = nowMs
      compact(nowMs - compactionIntervalMs)
    }
    timer = clock.setTimer(sampleIntervalMs, tick, { housekeeping: true })
  }
  let timer = clock.setTimer(sampleIntervalMs, tick, { housekeeping: true })
  return () => timer.cancel()
}
