import { badRequest, type CauseClaim, causeHeader, parseCauseHeader } from '@coracle/api'
import type { RequestContext } from '../request.ts'
import type { Exchange } from './exchange.ts'
import { warn } from './respond.ts'

/** What a write carries on its way: who asks, why, and how to tell the client something beside the answer. Throws a BadRequest for a reason it cannot read. */
export function contextOf({ request, user, userAgent, response }: Exchange): RequestContext {
  const cause = request.headers[causeHeader]
  const auditId = request.headers['audit-id']
  return {
    user,
    userAgent,
    warn: (text) => warn(response, text),
    ...(typeof cause === 'string' ? { claim: claimOf(cause) } : {}),
    ...(typeof auditId === 'string' ? { auditId } : {}),
  }
}

function claimOf(value: string): CauseClaim {
  try {
    return parseCauseHeader(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw badRequest(`the header ${causeHeader}: ${error.message}`)
  }
}
