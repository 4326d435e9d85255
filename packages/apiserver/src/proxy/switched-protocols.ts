import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { ApiError } from '@coracle/api'
import type { IdleTimer } from '@coracle/client/streaming'
import type { Upgrades } from '@coracle/client/upgrades'
import type { Clock } from '@coracle/environment'
import type { ServerResponse } from '../http/server-response.ts'
import { answerHeaders } from './proxy-headers.ts'

/** How long a client has to take what was said to it last. */
const closeGraceMs = 10_000

/** A connection on which another protocol than HTTP is spoken from now on. */
export interface Switched {
  /** What was answered: 101, and by which protocol. */
  readonly answer: IncomingMessage
  readonly connection: Duplex
  /** What has come after the answer. */
  readonly head: Buffer
}

/** What becomes of a request that asks for another protocol: that, or an answer that refuses it. */
export function switchedBy(sent: ClientRequest): Promise<Switched | IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('upgrade', (answer, connection, head) => resolve({ answer, connection, head }))
    sent.once('response', resolve)
    sent.on('error', reject)
  })
}

/**
 * Makes the connection of a request one with a server that has agreed to speak another protocol, until one of both ends. Rejects where the
 * client has gone.
 */
export async function joinSwitched(
  upgrades: Upgrades,
  request: IncomingMessage,
  { answer, connection, head }: Switched,
  clock: Clock,
  idle: IdleTimer,
): Promise<void> {
  const taken = upgrades.take(request)
  if (taken === undefined) throw new Error('the connection of the request cannot be taken')
  const client = taken.connection
  client.write(headOf(answer))
  client.write(head)
  connection.write(taken.head)
  client.on('data', () => idle.note())
  client.pipe(connection)
  connection.pipe(client)
  const ends = [finished(client, { writable: false }), finished(connection, { writable: false })]
  await Promise.race(ends).catch(() => {})
  // As upstream: when one side has ended the connection is over. What is on its way to the client has a little time.
  const timer = clock.setTimer(closeGraceMs, () => client.destroy())
  client.once('close', () => timer.cancel())
  client.end(() => client.destroy())
}

/** A server that refuses says why; one that answers as if nothing had been asked for is at fault. */
export async function refused(answer: IncomingMessage, response: ServerResponse): Promise<void> {
  const code = answer.statusCode ?? 0
  if (code < 400) throw new ApiError(500, 'InternalError', `invalid upgrade response: status code ${code}`)
  response.writeHead(code, answer.statusMessage, answerHeaders(answer.headers, false))
  await pipeline(answer, response)
}

function headOf({ statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = [`HTTP/1.1 101 ${statusMessage}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`)
  return `${lines.join('\r\n')}\r\n\r\n`
}
