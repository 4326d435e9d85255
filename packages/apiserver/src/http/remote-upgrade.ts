import { tooManyRequests } from '@coracle/api'
import { IdleTimer, idleTimeoutMs } from '@coracle/client/streaming'
import { RemoteUnavailableError } from '../aggregation/aggregator.ts'
import { joinSwitched, refused, type Switched } from '../proxy/switched-protocols.ts'
import { busyMessage } from '../store-errors.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { sendText } from './respond.ts'

/**
 * Sends a request that asks for another protocol on to the server that serves a version of a group, and makes one connection of both where
 * that agrees. Authorization has happened.
 */
export async function handleRemoteUpgrade(
  context: HandlerContext,
  exchange: Exchange,
  group: string,
  version: string,
): Promise<void> {
  const { core, upgrades } = context
  const { request, response, user } = exchange
  const { method = 'GET', url: path = '/', headers } = request
  if (upgrades.isFull) throw tooManyRequests(busyMessage, 1)
  const signal = context.becomeLongRunning(exchange)
  try {
    const sent = { method, path, headers, upgrade: headers.upgrade, signal }
    const outcome = await core.aggregator.switchProtocols(group, version, user, sent)
    if (!('answer' in outcome)) await refused(outcome, response)
    else await join(context, exchange, outcome, signal)
  } catch (error) {
    // Who has gone needs no answer; what has begun can only be broken off.
    if (signal.aborted || response.headersSent || upgrades.isTaken(request)) return void response.destroy()
    if (!(error instanceof RemoteUnavailableError)) throw error
    sendText(response, 503, `${error.message}\n`)
  }
}

async function join(
  { environment: { clock }, upgrades }: HandlerContext,
  { request }: Exchange,
  switched: Switched,
  signal: AbortSignal,
): Promise<void> {
  const { connection } = switched
  const leave = (): void => void connection.destroy()
  const idle = new IdleTimer(clock, idleTimeoutMs, leave)
  connection.on('error', leave).on('data', () => idle.note())
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    await joinSwitched(upgrades, request, switched, clock, idle)
  } finally {
    idle.cancel()
    signal.removeEventListener('abort', leave)
    leave()
  }
}
