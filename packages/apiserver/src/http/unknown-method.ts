import type { IncomingHttpHeaders, IncomingMessage as NodeIncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

// Not imported, as in server-response.ts.
const { IncomingMessage } = process.getBuiltinModule('node:http')

/** A token of RFC 9110: what Go's server takes for a method, or for the name of a header. */
const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"
const requestLine = new RegExp(`^(${token}) ((?:/|https?://)[\\x21-\\x7e\\x80-\\xff]*) HTTP/1\\.([01])$`)
const headerLine = new RegExp(`^(${token}):[ \\t]*([\\t\\x20-\\x7e\\x80-\\xff]*)$`)

/** Beginnings of such a line, from its second character on. */
const begunLine = new RegExp(`^${token}(?: (?:(?:/|https?://)[\\x21-\\x7e\\x80-\\xff]*(?: [HTP/1.0]{0,8}\\r?)?)?)?$`)

/** How long a head may get, as with methods that Node.js knows. */
const headBytesMax = 16 * 1024

/** Whether `bytes`, which are no whole head of a request yet, may become one with what is still to come. */
export function mayGoOn(bytes: Buffer): boolean {
  if (bytes.length > headBytesMax || bytes.includes('\r\n\r\n')) return false
  const end = bytes.indexOf('\n')
  const first = bytes.toString('latin1', 0, end < 0 ? undefined : end)
  return end < 0 ? begunLine.test(first) : requestLine.test(first.slice(0, -1)) && first.endsWith('\r')
}

/** Headers of which the first counts where there are several, as in Node.js. */
const single: ReadonlySet<string> = new Set(['authorization', 'content-length', 'content-type', 'host', 'user-agent'])

/**
 * The request that `bytes` begin with, whose method Node.js' parser does not know: Go's server takes any token for one, and leaves it to
 * whoever serves the path to refuse it. It has no body: nothing reads that of a method that nobody serves, and the connection has to end with
 * the answer. Undefined where the bytes are no whole head of a request.
 */
export function requestOfUnknownMethod(bytes: Buffer, socket: Socket): NodeIncomingMessage | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const [, method, url, minor] = requestLine.exec(first) ?? []
  if (method === undefined || url === undefined) return undefined
  const rawHeaders: string[] = []
  const headers: IncomingHttpHeaders = {}
  for (const line of lines) {
    const [, name, rest] = headerLine.exec(line) ?? []
    if (name === undefined || rest === undefined) return undefined
    const value = rest.trimEnd()
    rawHeaders.push(name, value)
    const key = name.toLowerCase()
    const before = headers[key]
    if (before === undefined) headers[key] = value
    else if (!single.has(key)) headers[key] = `${String(before)}, ${value}`
  }
  const request = new IncomingMessage(socket)
  const httpVersionMinor = Number(minor)
  const httpVersion = `1.${httpVersionMinor}`
  Object.assign(request, { method, url, httpVersion, httpVersionMajor: 1, httpVersionMinor, rawHeaders, headers })
  request.complete = true
  request.push(null)
  return request
}
