import type { MetricsRegistry } from '@coracle/environment'
import type { Registries } from './registries.ts'

/**
 * Shows how many objects are stored of each kind, and about how many bytes they take, under upstream's names, until the returned function is called. A kind that
 * is gone is shown no more.
 */
export function collectObjectCounts(metrics: MetricsRegistry, registries: Registries): () => void {
  const counts = metrics.gauge({
    name: 'apiserver_resource_objects',
    help: 'Number of stored objects by resource.',
    labels: ['group', 'resource'],
  })
  const sizes = metrics.gauge({
    name: 'apiserver_resource_size_estimate_bytes',
    help: 'Estimated size of the stored objects by resource: of their JSON.',
    labels: ['group', 'resource'],
  })
  let shown = new Map<string, Readonly<Record<'group' | 'resource', string>>>()
  return metrics.onCollect(() => {
    const present = new Map<string, Readonly<Record<'group' | 'resource', string>>>()
    for (const { kind, storage, registries: versions } of registries.kinds()) {
      const definition = versions[0]?.definition
      if (definition === undefined) continue
      const labels = { group: definition.group, resource: definition.plural }
      present.set(kind.storageKey, labels)
      counts.with(labels).set(storage.cache.size)
      sizes.with(labels).set(storage.cache.bytes)
    }
    for (const [key, labels] of shown) {
      if (present.has(key)) continue
      counts.remove(labels)
      sizes.remove(labels)
    }
    shown = present
  })
}
