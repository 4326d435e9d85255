import { pipeline } from 'node:stream/promises'
import { RemoteUnavailableError } from '../aggregation/aggregator.ts'
import { passedOn } from '../aggregation/passed-on.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { sendText } from './respond.ts'

export interface RemoteRoute {
  readonly group: string
  readonly version: string
  /** Whether it goes on for long by nature, as a watch does. */
  readonly isLong: boolean
}

/** Sends a request on to the server that serves a version of a group, and its answer back as it comes. Authorization has happened. */
export async function handleRemote(
  context: HandlerContext,
  exchange: Exchange,
  { group, version, isLong }: RemoteRoute,
): Promise<void> {
  const { request, response, user } = exchange
  const { method = 'GET', headers } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await context.bodies.read(request) : undefined
  const signal = isLong ? context.becomeLongRunning(exchange) : closedSignal(exchange)
  try {
    const sent = { method, path: request.url ?? '/', headers, body, signal }
    const answer = await context.core.aggregator.forward(group, version, user, sent)
    if (response.headersSent) return void answer.destroy()
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers))
    await pipeline(answer, response, { signal })
  } catch (error) {
    // Who has gone needs no answer; what has begun can only be broken off.
    if (signal.aborted || response.headersSent) return void response.destroy()
    if (!(error instanceof RemoteUnavailableError)) throw error
    sendText(response, 503, `${error.message}\n`)
  }
}

/** Aborted when the answer is over, whether it was taken or not. */
function closedSignal({ response }: Exchange): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort()
  })
  return gone.signal
}
