import { ApiError } from '@coracle/api'
import type { Clock, Timer } from '@coracle/environment'
import { serverError } from '../server-error.ts'

/** Time a server has to accept a connection. */
const handshakeTimeoutMs = 60_000

/** The server answers, but makes no such connection. */
export class UpgradeError extends Error {
  override readonly name = 'UpgradeError'
}

/** Why a server has refused a connection. What a node agent cannot do comes as text, in its own words. */
export function upgradeRefusal(method: string, code: number, body: string): Error {
  const error = serverError(method, code, body)
  return error.reason === 'InternalError' && !body.startsWith('{')
    ? new UpgradeError(`unable to upgrade connection: ${body.trim()}`)
    : error
}

/**
 * Whether another way to connect may get further: the server, or something before it, does not know this one, or rights for its method
 * are missing. Who is not known, or asks for what is not there, is told so either way.
 */
export function mayConnectOtherwise(error: unknown): boolean {
  if (error instanceof ApiError) return error.reason !== 'Unauthorized' && error.reason !== 'NotFound'
  return error instanceof UpgradeError
}

/** Calls `giveUp` where a server leaves the question for a connection unanswered; the timer is cancelled once it has answered. */
export function limitHandshake(clock: Clock, giveUp: (error: Error) => void): Timer {
  return clock.setTimer(handshakeTimeoutMs, () => {
    const error = new Error(`it has not answered within ${handshakeTimeoutMs / 1000} s`)
    giveUp(Object.assign(error, { code: 'ETIMEDOUT' }))
  })
}
