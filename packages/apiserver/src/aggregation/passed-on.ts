import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'

/** Headers of one connection, those that say who asks, and those that are made anew. */
const keptBack: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'authorization',
])

/**
 * Headers that go through in either direction: those of one connection do not, nor what `Connection` says is one (RFC 9110, 7.6.1).
 * Nobody but this server says for whom it asks.
 */
export function passedOn(headers: IncomingHttpHeaders | OutgoingHttpHeaders): OutgoingHttpHeaders {
  const ofConnection = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => {
      const lower = name.toLowerCase()
      if (value === undefined || keptBack.has(lower) || ofConnection.includes(lower)) return false
      return !/^(x-remote-|impersonate-)/.test(lower)
    }),
  )
}
