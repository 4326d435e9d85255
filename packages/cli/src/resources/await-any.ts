import type { KubernetesObject, Resource } from '@coracle/api'
import type { Client, ListOptions } from '@coracle/client'
import type { Host } from '../host.ts'
import { watchPace } from './watch-again.ts'

/** The objects that a selection finds; where there are none yet, the first that comes within `timeoutMs`, or none. */
export async function awaitAny<T extends KubernetesObject>(
  host: Host,
  client: Client,
  resource: Resource<T>,
  selection: ListOptions,
  timeoutMs: number,
): Promise<readonly T[]> {
  const timeout = new AbortController()
  const timer = host.environment.clock.setTimer(timeoutMs, () => timeout.abort())
  const { signal } = timeout
  const pace = watchPace(host)
  try {
    for (;;) {
      await pace()
      const { items, metadata } = await client.list(resource, { ...selection, signal })
      if (items.length > 0) return items
      const { resourceVersion = '' } = metadata
      const watch = await client.watch(resource, { ...selection, resourceVersion, signal })
      for await (const event of watch) {
        // A watch that has to end is begun again.
        if (event.type === 'ERROR') break
        if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue
        watch.close()
        return [event.object]
      }
    }
  } catch (error) {
    if (signal.aborted) return []
    throw error
  } finally {
    timer.cancel()
  }
}
