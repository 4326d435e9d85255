import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import type { Host } from '../host.ts'
import type { Session } from '../session.ts'

/** Which object is waited for. */
export interface Awaited {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
}

/**
 * Whether the wait is over, asked for each state of an object from the present one on; undefined: it is not there. Throw
 * to end the wait for another reason.
 */
export type IsOver = (object: KubernetesObject | undefined) => boolean | Promise<boolean>

/**
 * Follows an object until `isOver` says so. Resolves to false where that has not come within `timeoutMs`; 0 waits as long
 * as it takes. A watch that ends is begun again.
 */
export async function awaitObject(
  { environment }: Host,
  { client }: Session,
  { resource, key }: Awaited,
  timeoutMs: number,
  isOver: IsOver,
): Promise<boolean> {
  const timeout = new AbortController()
  const timer = timeoutMs > 0 ? environment.clock.setTimer(timeoutMs, () => timeout.abort()) : undefined
  const { signal } = timeout
  try {
    for (;;) {
      const { items, metadata } = await client.list(resource, { ...selecting(key), signal })
      if (await isOver(items[0])) return true
      const { resourceVersion = '' } = metadata
      const watch = await client.watch(resource, { ...selecting(key), resourceVersion, signal })
      for await (const event of watch) {
        if (event.type === 'ERROR') break
        if (event.type === 'BOOKMARK') continue
        if (await isOver(event.type === 'DELETED' ? undefined : event.object)) {
          watch.close()
          return true
        }
      }
    }
  } catch (error) {
    if (signal.aborted && !hasReason(error, 'Forbidden')) return false
    throw error
  } finally {
    timer?.cancel()
  }
}

const selecting = ({ name, namespace }: ObjectKey) => ({
  ...(namespace === undefined ? {} : { namespace }),
  fieldSelector: `metadata.name=${name}`,
})
