import { tooManyRequests } from '@coracle/api'
import { negotiateService, type StreamingService, serveUpgraded } from '@coracle/client/streaming'
import type { Exchange, HandlerContext } from '../http/exchange.ts'
import { busyMessage } from '../store-errors.ts'

/**
 * Makes the connection of a request one of streams, and serves it to its end. Throws an ApiError before anything is said
 * where that cannot be.
 */
export async function serveStreams(
  context: HandlerContext,
  exchange: Exchange,
  service: StreamingService,
): Promise<void> {
  const { upgrades } = context
  const { request } = exchange
  const negotiated = negotiateService(request, service)
  if (upgrades.isFull) throw tooManyRequests(busyMessage, 1)
  const signal = context.becomeLongRunning(exchange)
  const upgraded = upgrades.take(request)
  if (upgraded === undefined || signal.aborted) return void exchange.response.destroy()
  const { clock, logger } = context.environment
  try {
    await serveUpgraded(service, { clock, request, upgraded, negotiated, signal })
  } catch (error) {
    logger.debug('a connection of streams has ended', { error })
  }
}
