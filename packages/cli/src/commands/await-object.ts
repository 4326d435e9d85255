import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import type { Host } from '../host.ts'
import { mayPass, watchPace } from '../resources/watch-again.ts'
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

/** How much longer than the wait itself the first look may take: what was so all along is found on a slow machine, too. */
const firstLookMs = 10_000

/**
 * Follows an object until `isOver` says so. Resolves to false where that has not come within `timeoutMs`; 0 waits as long
 * as it takes. Whatever the time, the object is looked at once. A watch that ends is begun again, and so is one whose server is gone for
 * a while.
 */
export async function awaitObject(
  host: Host,
  { client }: Session,
  { resource, key }: Awaited,
  timeoutMs: number,
  isOver: IsOver,
): Promise<boolean> {
  const { clock } = host.environment
  const timeout = new AbortController()
  const { signal } = timeout
  let isLookedAt = false
  let isLate = false
  const end = () => {
    if (isLookedAt || isLate) return timeout.abort()
    isLate = true
    timer = clock.setTimer(firstLookMs, end)
  }
  let timer = timeoutMs > 0 ? clock.setTimer(timeoutMs, end) : undefined
  /** Undefined where the watch has ended and nothing is decided. */
  const look = async (): Promise<boolean | undefined> => {
    const { items, metadata } = await client.list(resource, { ...selecting(key), signal })
    isLookedAt = true
    if (await isOver(items[0])) return true
    if (isLate) return false
    const { resourceVersion = '' } = metadata
    const watch = await client.watch(resource, { ...selecting(key), resourceVersion, signal })
    for await (const event of watch) {
      if (event.type === 'ERROR') return undefined
      if (event.type === 'BOOKMARK') continue
      if (await isOver(event.type === 'DELETED' ? undefined : event.object)) {
        watch.close()
        return true
      }
    }
    return undefined
  }
  const mayGoOn = (error: unknown): boolean => isLookedAt && !signal.aborted && mayPass(error)
  const pace = watchPace(host)
  try {
    for (;;) {
      await pace()
      const outcome = await look().catch((error: unknown) => {
        if (!mayGoOn(error)) throw error
        return undefined
      })
      if (outcome !== undefined) return outcome
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
