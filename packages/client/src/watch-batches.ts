import type { KubernetesObject } from '@coracle/api'
import type { Watch, WatchEvent } from './client.ts'

/** The events of a watch, all there are at a time; one by one where it cannot tell. */
export function batchesOf<T extends KubernetesObject>(watch: Watch<T>): AsyncIterable<readonly WatchEvent<T>[]> {
  return watch.batches?.() ?? oneByOne(watch)
}

async function* oneByOne<T extends KubernetesObject>(watch: Watch<T>): AsyncGenerator<readonly WatchEvent<T>[]> {
  for await (const event of watch) yield [event]
}
