import { hasReason, type KubernetesObject } from '@coracle/api'
import type { DiscoveredResource, ObjectKey } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import type { Session } from '../session.ts'

/** An object that was asked to go. */
export interface Doomed {
  readonly resource: DiscoveredResource
  readonly key: ObjectKey
  /** Its identity, where the server told: another of its name may take its place. */
  readonly uid: string | undefined
}

/** Resolves when all these objects are gone. Rejects with a CliError after `timeoutMs`; 0 waits as long as it takes. */
export async function waitUntilGone(
  { environment }: Host,
  session: Session,
  doomed: readonly Doomed[],
  timeoutMs: number,
): Promise<void> {
  const timeout = new AbortController()
  const timer = timeoutMs > 0 ? environment.clock.setTimer(timeoutMs, () => timeout.abort()) : undefined
  try {
    for (const each of doomed) await waitForOne(session, each, timeout.signal)
  } catch (error) {
    // Who may delete need not be allowed to look.
    if (!hasReason(error, 'Forbidden') && !hasReason(error, 'MethodNotAllowed')) throw error
  } finally {
    timer?.cancel()
  }
}

async function waitForOne(session: Session, doomed: Doomed, signal: AbortSignal): Promise<void> {
  const { resource, key } = doomed
  try {
    for (
      let left = await find(session, doomed, signal);
      left !== undefined;
      left = await find(session, doomed, signal)
    ) {
      await watchUntilGone(session, doomed, left, signal)
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
