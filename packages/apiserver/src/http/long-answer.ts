import type { Writable } from 'node:stream'
import { asksForWebSocket } from '@coracle/client/upgrades'
import type { Exchange, HandlerContext } from './exchange.ts'
import { privately } from './respond.ts'

/** The way an answer goes that is told piece by piece, for as long as there is something to tell. */
export interface LongAnswer {
  /** Each piece that is written reaches the client as it is: one event of a watch, some bytes of a log. */
  readonly output: Writable
  /** Begins the answer, if that has not been done. Until then the request may still be refused. */
  begin(): void
}

export interface LongAnswerOptions {
  readonly contentType: string
  /** How pieces become messages where the client asks for a WebSocket. */
  readonly messages: 'event' | 'bytes'
}

/**
 * The body of an HTTP answer, or the messages of a WebSocket where the request asks for one. Rejects with an ApiError where that
 * cannot be.
 */
export async function longAnswer(
  context: HandlerContext,
  exchange: Exchange,
  options: LongAnswerOptions,
): Promise<LongAnswer> {
  const { request, response } = exchange
  if (asksForWebSocket(request)) {
    // Protocols of streams are loaded with the first connection.
    const { messageAnswer } = await import('../streaming/message-answer.ts')
    return messageAnswer(context, exchange, options)
  }
  return {
    output: response,
    begin() {
      if (response.headersSent) return
      response.writeHead(200, ['Content-Type', options.contentType, ...privately])
      response.flushHeaders()
    },
  }
}
