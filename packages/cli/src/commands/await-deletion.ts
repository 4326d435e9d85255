import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { mayPass, watchPace } from '../resources/watch-again.ts'
import type { Session } from '../session.ts'

/** An object that was asked to go. */
export interface Doomed {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
  /** Its identity, where the server told: another of its name may take its place. */
  readonly uid: string | undefined
}

/**
 * Resolves when all these objects are gone. Rejects with a CliError after `timeoutMs`; 0 waits as long as it takes, also for a server that
 * is gone for a while.
 */
export async function waitUntilGone(
  host: Host,
  session: Session,
  doomed: readonly Doomed[],
  timeoutMs: number,
): Promise<void> {
  const timeout = new AbortController()
  const timer = timeoutMs > 0 ? host.environment.clock.setTimer(timeoutMs, () => timeout.abort()) : undefined
  try {
    for (const each of doomed) await waitForOne(host, session, each, timeout.signal)
  } catch (error) {
    // Who may delete need not be allowed to look.
    if (!hasReason(error, 'Forbidden') && !hasReason(error, 'MethodNotAllowed')) throw error
  } finally {
    timer?.cancel()
  }
}

async function waitForOne(host: Host, session: Session, doomed: Doomed, signal: AbortSignal): Promise<void> {
  const { resource, key } = doomed
  const pace = watchPace(host)
  let isFound = false
  const isGone = async (): Promise<boolean> => {
    const left = await find(session, doomed, signal)
    if (left === undefined) return true
    isFound = true
    await watchUntilGone(session, doomed, left, signal)
    return false
  }
  const mayGoOn = (error: unknown): boolean => isFound && !signal.aborted && mayPass(error)
  try {
    for (let isOver = false; !isOver; ) {
      await pace()
      isOver = await isGone().catch((error: unknown) => {
        if (!mayGoOn(error)) throw error
        return false
      })
    }
  } catch (error) {
    if (signal.aborted) throw new CliError(`timed out waiting for the condition on ${resource.plural}/${key.name}`)
    throw error
  }
}

/** The object while it is there. */
async function find(
  { client }: Session,
  { resource, key, uid }: Doomed,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  try {
    const object = await client.get(resource, key, { signal })
    return uid === undefined || object.metadata.uid === uid ? object : undefined
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** Resolves when the object is deleted, or when the watch ends before that. */
async function watchUntilGone(
  { client }: Session,
  { resource, key }: Doomed,
  { metadata }: KubernetesObject,
  signal: AbortSignal,
): Promise<void> {
  const watch = await client.watch(resource, {
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    fieldSelector: `metadata.name=${key.name}`,
    ...(metadata.resourceVersion === undefined ? {} : { resourceVersion: metadata.resourceVersion }),
    signal,
  })
  for await (const event of watch) {
    if (event.type === 'DELETED' || event.type === 'ERROR') return watch.close()
  }
}
