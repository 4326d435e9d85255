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
  if (context.upgrades.isAsked(request)) {
    // Loaded with the first such request.
    const { handleRemoteUpgrade } = await import('./remote-upgrade.ts')
    return handleRemoteUpgrade(context, exchange, group, version)
  }
  const { method = 'GET', headers } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? await context.bodies.read(request) : undefined
  const { signal, heard } = isLong ? longRunning(context, exchange) : whileOpen(exchange)
  try {
    const sent = { method, path: request.url ?? '/', headers, body, signal }
    const answer = await context.core.aggregator.forward(group, version, user, sent)
    if (response.headersSent) return void answer.destroy()
    heard()
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers))
    await pipeline(answer, response, { signal })
  } catch (error) {
    // Who has gone needs no answer; what has begun can only be broken off.
    if (signal.aborted || response.headersSent) return void response.destroy()
    if (!(error instanceof RemoteUnavailableError)) throw error
    sendText(response, 503, `${error.message}\n`)
  }
}

/** How a request is broken off. `heard` is to be called when its answer begins. */
interface Waiting {
  readonly signal: AbortSignal
  heard(): void
}

const longRunning = (context: HandlerContext, exchange: Exchange): Waiting => ({
  signal: context.becomeLongRunning(exchange),
  heard: () => {},
})

/** Broken off when the client goes, and when it has been told that its time is over: the other server may never answer. */
function whileOpen({ response }: Exchange): Waiting {
  const gone = new AbortController()
  let isHeard = false
  response.once('close', () => {
    if (!isHeard || !response.writableFinished) gone.abort()
  })
  return {
    signal: gone.signal,
    heard: () => {
      isHeard = true
    },
  }
}
