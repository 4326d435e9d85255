import { ApiError } from '@coracle/api'
import { isUnreachableServer } from '@coracle/client'
import type { Host } from '../host.ts'
import { pause } from '../pause.ts'

/** A watch that has ended sooner than this has not held. */
const heldMs = 1_000

/** So many watches may end at once before there is a pause: one or two are nothing, and a server that ends each is not to be flooded. */
const atOnceMax = 2

/** To be waited for before each watch of one wait: there is a pause where those before have ended as soon as they had begun. */
export function watchPace(host: Pick<Host, 'environment'>): () => Promise<void> {
  const { clock } = host.environment
  let begunMs: number | undefined
  let atOnce = 0
  return async () => {
    if (begunMs !== undefined) atOnce = clock.monotonicMs() - begunMs < heldMs ? atOnce + 1 : 0
    if (atOnce > atOnceMax) await pause(host, heldMs)
    begunMs = clock.monotonicMs()
  }
}

/** How a connection ends that somebody else ends. */
const lostCodes: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/** Whether a wait that has seen its object goes on: the connection was lost, or the server has no time just now. As with kubectl. */
export function mayPass(error: unknown): boolean {
  if (error instanceof ApiError) return error.status.code === 429 || error.status.code >= 500
  return isUnreachableServer(error) || (error instanceof Error && 'code' in error && lostCodes.includes(error.code))
}
