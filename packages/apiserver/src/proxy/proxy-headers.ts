import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { passedOn } from '../aggregation/passed-on.ts'

/** What a request tells the pod of where it came from, beside what it said itself. Who makes it is nobody's business there. */
export function requestHeaders(
  { headers, socket }: IncomingMessage,
  forwardedUri: string | undefined,
): OutgoingHttpHeaders {
  const length = headers['content-length']
  const chunked = headers['transfer-encoding'] !== undefined
  const client = socket.remoteAddress ?? ''
  return {
    ...passedOn(headers),
    Host: headers.host ?? '',
    ...(chunked ? { 'Transfer-Encoding': 'chunked' } : length === undefined ? {} : { 'Content-Length': length }),
    'X-Forwarded-For': [headers['x-forwarded-for'] ?? [], client].flat().join(', '),
    ...(forwardedUri === undefined ? {} : { 'X-Forwarded-Uri': forwardedUri }),
  }
}

/** Other origins' rights at the pod's are none here. */
const corsHeaders: readonly string[] = [
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]

/** What of an answer's headers goes to the client. Its length only where its body does not change on the way. */
export function answerHeaders(headers: IncomingHttpHeaders, isRewritten: boolean): OutgoingHttpHeaders {
  const shown = Object.entries(passedOn(headers)).filter(([name]) => !corsHeaders.includes(name))
  const length = headers['content-length']
  return { ...Object.fromEntries(shown), ...(length === undefined || isRewritten ? {} : { 'content-length': length }) }
}
