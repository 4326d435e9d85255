import type { Duplex } from 'node:stream'
import { finished } from 'node:stream/promises'
import { openPortForwardAtUrl } from '@coracle/client/streaming'
import type { Clock } from '@coracle/environment'

/**
 * Connects a stream to a port of a sandbox at the address that the runtime has given for it. Resolves when the connection has ended, and
 * rejects, in the runtime's words, where nothing listens there.
 */
export async function forwardAt(
  url: string,
  port: number,
  stream: Duplex,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const forward = await openPortForwardAtUrl(url, clock)
  const leave = () => forward.close()
  signal.addEventListener('abort', leave, { once: true })
  stream.once('close', leave)
  try {
    if (signal.aborted) return
    const { stream: remote, problem } = await forward.connect(port)
    stream.pipe(remote)
    remote.pipe(stream)
    await Promise.race([finished(remote).catch(() => {}), forward.closed])
    const why = await Promise.race([problem, forward.closed.then(() => '')])
    if (why !== '') throw new Error(why.trim())
  } finally {
    signal.removeEventListener('abort', leave)
    stream.off('close', leave)
    leave()
  }
}
