import { createMetricsRegistry, virtualEnvironment } from '@coracle/environment'
import type { Store } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { collectStoreSize } from './store-size.ts'

const { clock } = virtualEnvironment()

/** Metrics of a store that tells its size so. */
function metricsOf(sizeBytes?: () => Promise<number>) {
  const store: Store = Object.assign(createMemoryStore(), sizeBytes === undefined ? {} : { sizeBytes })
  const metrics = createMetricsRegistry()
  return { metrics, stop: collectStoreSize(metrics, store, clock) }
}

describe('the size of the store', () => {
  it('is shown under upstream’s name, as of when it is asked for', async () => {
    let size = 8192
    const { metrics, stop } = metricsOf(async () => size)
    expect(await metrics.collected()).toBe(
      [
        '# HELP apiserver_storage_size_bytes [STABLE] Size of the storage database file physically allocated in bytes.',
        '# TYPE apiserver_storage_size_bytes gauge',
        'apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} 8192',
        '',
      ].join('\n'),
    )
    size = 16_384
    expect(await metrics.collected()).toContain('} 16384\n')
    stop()
    size = 1
    expect(await metrics.collected()).toContain('} 16384\n')
  })

  it('is not shown of a store that is on no disk', async () => {
    expect(await metricsOf().metrics.collected()).not.toContain('storage_cluster_id')
  })

  it('is not shown any more where the store does not tell it, and nobody waits for that for long', async () => {
    let answer = Promise.resolve(1)
    const { metrics } = metricsOf(() => answer)
    expect(await metrics.collected()).toContain('} 1\n')
    answer = Promise.reject(new Error('away'))
    expect(await metrics.collected()).not.toContain('storage_cluster_id')
    answer = new Promise(() => {})
    const collected = metrics.collected()
    await clock.advance('1s')
    expect(await collected).not.toContain('storage_cluster_id')
  })
})
