import type { RequestContext } from '../request.ts'
import type { Exchange } from './exchange.ts'
import { warn } from './respond.ts'

/** What a write carries on its way: who asks, and how to tell the client something beside the answer. */
export function contextOf({ user, userAgent, response }: Exchange): RequestContext {
  return { user, userAgent, warn: (text) => warn(response, text) }
}
