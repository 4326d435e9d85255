import type { IncomingMessage } from 'node:http'

/** Headers of a request. Of more Node keeps none, silently: one that says who somebody acts as could be among them. */
export const headersMax = 2_000

/**
 * What is wrong with the head of a request that Node's parser lets through and Go's server does not: `400 Bad Request: …`,
 * ready to be the answer. Whatever a proxy before this server may read in another way than this server must be refused, or
 * somebody's request is hidden in another's (RFC 9112, 11.2); the connection has to end with that answer.
 */
export function framingProblem({
  httpVersionMajor,
  httpVersionMinor,
  rawHeaders,
}: IncomingMessage): string | undefined {
  if (httpVersionMajor !== 1) return '400 Bad Request'
  if (rawHeaders.length >= 2 * headersMax) return '431 Request Header Fields Too Large'
  let host: string | undefined
  let transferEncoding: string | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Every request passes here: names are only looked at where their length says that they may matter.
    if (name.length === 'host'.length && name.toLowerCase() === 'host') {
      if (host !== undefined) return '400 Bad Request: too many Host headers'
      host = rawHeaders[at + 1]
    } else if (name.length === 'transfer-encoding'.length && name.toLowerCase() === 'transfer-encoding') {
      if (transferEncoding !== undefined) return unsupportedTransferEncoding
      transferEncoding = rawHeaders[at + 1] ?? ''
    }
  }
  if (host === undefined) {
    if (httpVersionMinor > 0) return '400 Bad Request: missing required Host header'
  } else if (!validHost.test(host)) return '400 Bad Request: malformed Host header'
  if (transferEncoding === undefined) return undefined
  // HTTP/1.0 knows no chunks: whoever passed this on may have ended the body elsewhere (RFC 9112, 6.1).
  if (httpVersionMinor === 0) return '400 Bad Request: Transfer-Encoding in an HTTP/1.0 request'
  return transferEncoding.toLowerCase() === 'chunked' ? undefined : unsupportedTransferEncoding
}

const unsupportedTransferEncoding = '501 Not Implemented: Unsupported transfer encoding'

/** The characters of a host and a port, of which Go's server accepts any sequence (httpguts.ValidHostHeader). */
const validHost = /^[!$%&'()*+,\-.:;=[\]_~0-9A-Za-z]*$/
