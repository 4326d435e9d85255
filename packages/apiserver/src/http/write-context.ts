import { badRequest, type CauseClaim, causeHeader, parseCauseHeader } from '@coracle/api'
import type { RequestContext } from '../request.ts'
import type { Exchange } from './exchange.ts'
import { requestTimeoutMs } from './exchanges.ts'
import { timeoutMsOf } from './query.ts'
import { warn } from './respond.ts'

/** What a write carries on its way: who asks, why, how long it has, and how to tell the client something beside the answer. Throws a BadRequest for a reason it cannot read. */
export function contextOf(exchange: Exchange): RequestContext {
  const { request, user, userAgent, response } = exchange
  const cause = request.headers[causeHeader]
  const auditId = request.headers['audit-id']
  return {
    user,
    userAgent,
    leftMs: () => leftMsOf(exchange),
    warn: (text) => warn(response, text),
    ...(typeof cause === 'string' ? { claim: claimOf(cause) } : {}),
    ...(typeof auditId === 'string' ? { auditId } : {}),
  }
}

/** How long the client of an exchange still waits, in milliseconds. */
function leftMsOf({ clock, startedMs, query }: Exchange): number {
  const limitMs = Math.min(timeoutMsOf(query) ?? requestTimeoutMs, requestTimeoutMs)
  return startedMs + limitMs - clock.monotonicMs()
}

function claimOf(value: string): CauseClaim {
  try {
    return parseCauseHeader(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badRequest(`the header ${causeHeader}: ${error.message}`)
  }
}
