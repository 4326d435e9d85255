import type { Clock, MetricsRegistry } from '@coracle/environment'
import type { Store } from '@coracle/store'

/** How long a store may take to tell its size; upstream's limit. */
const answerMaxMs = 1_000

/**
 * Shows how large the database of a store is, under upstream's name, until the returned function is called: nothing where it is on no disk,
 * or does not tell. Upstream numbers its databases, of which this is the first.
 */
export function collectStoreSize(metrics: MetricsRegistry, store: Store, clock: Clock): () => void {
  const size = metrics.gauge({
    name: 'apiserver_storage_size_bytes',
    help: '[STABLE] Size of the storage database file physically allocated in bytes.',
    labels: ['storage_cluster_id'],
  })
  const labels = { storage_cluster_id: 'etcd-0' }
  return metrics.onCollect(async () => {
    const bytes = await withinTime(store.sizeBytes?.(), clock)
    if (bytes === undefined) size.remove(labels)
    else size.with(labels).set(bytes)
  })
}

/** What a question is answered with; undefined where it is not, or not in time. */
async function withinTime<T>(answer: Promise<T> | undefined, clock: Clock): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = clock.setTimer(answerMaxMs, () => late.resolve(undefined))
  try {
    return await Promise.race([answer, late.promise])
  } catch {
    return undefined
  } finally {
    timer.cancel()
  }
}
