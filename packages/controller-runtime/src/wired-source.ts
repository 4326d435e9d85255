import type { KubernetesObject } from '@coracle/api'
import type { Informer, InformerFactory } from '@coracle/client'
import type { Source } from './controller.ts'

/** A source with the cache it is read from. */
export interface WiredSource {
  readonly source: Source
  readonly informer: Informer<KubernetesObject>
  /** Takes from the cache, which others share, what it keeps for this source alone. */
  release(): void
}

/** Finds or makes the cache of a source, with the indexes and aggregates that the source needs. */
export function wire(source: Source, informers: InformerFactory): WiredSource {
  const { indexes = {}, aggregates = [], ...scope } = source.options
  const informer = informers.informer(source.resource, scope)
  const releases = [
    ...Object.entries(indexes).map(([name, valuesOf]) => informer.addIndex(name, valuesOf)),
    ...aggregates.map((aggregate) => informer.addAggregate(aggregate)),
  ]
  return {
    source,
    informer,
    release() {
      for (const release of releases) release()
    },
  }
}
