import type { Environment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import type { Registries } from '../registries.ts'

/** History is kept for at least this long and at most twice as long, unless there is more of it than caches hold. */
export const compactionIntervalMs = 5 * 60_000

/** Forgets old history in the watch caches and in the store, time and again until the returned function is called. */
export function startCompaction(environment: Environment, store: Store, registries: Registries): () => void {
  const { clock, logger } = environment
  let target = store.revision
  const compact = (): void => {
    for (const { cache } of registries.all()) cache.forget(target)
    if (target > store.compactedRevision) {
      store.compact(target).catch((error: unknown) => logger.warn('compaction failed', { error: String(error) }))
    }
    target = store.revision
    timer = clock.setTimer(compactionIntervalMs, compact, { housekeeping: true })
  }
  let timer = clock.setTimer(compactionIntervalMs, compact, { housekeeping: true })
  return () => timer.cancel()
}
