import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { posix } from 'node:path'
import { type FilterRules, mayPass } from './request-filter.ts'
import { escapedHtml, sendFile } from './static-files.ts'
import { forward, forwardUpgrade, type UpstreamOptions } from './upstream.ts'

/** Connections to the proxy at a time. */
export const proxyConnectionsMax = 1024

export interface ProxyOptions extends UpstreamOptions {
  /** What paths of the API begin with here: `/` or `/custom/`. */
  readonly apiPrefix: string
  /** Files served beside the API. */
  readonly files?: { readonly directory: string; readonly prefix: string }
  readonly filter: FilterRules
}

export type ProxyAddress = { readonly host: string; readonly port: number } | { readonly path: string }

export interface ProxyServer {
  /** `127.0.0.1:8001`, or the path of the socket. */
  readonly address: string
  close(): Promise<void>
}

/** Serves the API of a cluster, with the credentials of its connection, to whoever reaches this address. */
export async function startProxy(options: ProxyOptions, address: ProxyAddress): Promise<ProxyServer> {
  const server = createServer({ shouldUpgradeCallback }, (request, response) => handle(options, request, response))
  server.maxConnections = proxyConnectionsMax
  server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    const verdict = verdictOn(options, request)
    socket.on('error', () => socket.destroy())
    if (verdict.kind === 'forward') forwardUpgrade(options, verdict.target, request, socket, head)
    else socket.end(`HTTP/1.1 ${statusLineOf(verdict)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  })
  server.listen(address)
  await once(server, 'listening')
  // A connection that cannot be taken, for want of files, is lost to whoever opened it; the next may be taken.
  server.on('error', () => {})
  return {
    address: 'path' in address ? address.path : shown(server.address() as AddressInfo),
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A client that would rather speak HTTP/2, and may be answered without: an offer that the server behind it does not get. */
const shouldUpgradeCallback = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() !== 'h2c'

const shown = ({ address, port, family }: AddressInfo): string =>
  `${family === 'IPv6' ? `[${address}]` : address}:${port}`

/** What is to be done with a request. */
type Verdict =
  | { readonly kind: 'forward' /** The path at the server, with the query. */; readonly target: string }
  | { readonly kind: 'file'; readonly directory: string; readonly path: string }
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'refuse'; readonly code: 400 | 403 | 404; readonly text: string }

const badRequest: Verdict = { kind: 'refuse', code: 400, text: '400 Bad Request' }
const forbidden: Verdict = { kind: 'refuse', code: 403, text: 'Forbidden' }
const notFound: Verdict = { kind: 'refuse', code: 404, text: '404 page not found' }

/**
 * Judges a request by its decoded path. The filter sees the path that the server gets, so that neither a prefix, nor
 * escapes, nor empty segments lead around it: paths that are not clean are redirected, as by Go's ServeMux. Files are
 * not filtered (kubectl's rule).
 */
function verdictOn(options: ProxyOptions, { method = 'GET', url = '/', headers }: IncomingMessage): Verdict {
  const { apiPrefix, files, filter } = options
  if (!url.startsWith('/')) return notFound
  const rawPath = url.split('?', 1)[0] ?? '/'
  const query = url.slice(rawPath.length)
  const path = decoded(rawPath)
  if (path === undefined) return badRequest

  const clean = posix.normalize(path)
  const isPrefixWithoutSlash = [apiPrefix, files?.prefix].includes(`${clean}/`)
  const canonical = isPrefixWithoutSlash ? `${clean}/` : clean
  if (canonical !== path) return { kind: 'redirect', location: encoded(canonical) + query }

  const isFile = files !== undefined && path.startsWith(files.prefix)
  if (isFile && !(files.prefix.length < apiPrefix.length && path.startsWith(apiPrefix))) {
    return { kind: 'file', directory: files.directory, path: path.slice(files.prefix.length) }
  }
  if (!path.startsWith(apiPrefix)) return notFound
  // A prefix like the API's own is part of its paths (kubectl's rule).
  const dropped = apiPrefix.startsWith('/api') ? 0 : apiPrefix.length - 1
  const apiPath = path.slice(dropped)
  if (!mayPass(filter, { method, path: apiPath, host: headers.host ?? '' })) return forbidden
  const rawApiPath = rawPath.startsWith(apiPrefix) ? rawPath.slice(dropped) : encoded(apiPath)
  return { kind: 'forward', target: rawApiPath + query }
}

/** A path without its escapes; undefined where they are not well-formed. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

const encoded = (path: string): string => path.replace(/[^\w\-.~$&+,/:;=@]+/g, encodeURIComponent)

function handle(options: ProxyOptions, request: IncomingMessage, response: ServerResponse): void {
  const verdict = verdictOn(options, request)
  switch (verdict.kind) {
    case 'forward':
      forward(options, verdict.target, request, response)
      return
    case 'file':
      sendFile(verdict.directory, verdict.path, response)
      return
    case 'redirect':
      redirect(request, response, verdict.location)
      return
    case 'refuse':
      answer(response, verdict.code, verdict.text)
  }
}

function statusLineOf(verdict: Exclude<Verdict, { kind: 'forward' }>): string {
  switch (verdict.kind) {
    case 'file':
      return '400 Bad Request'
    case 'redirect':
      return `301 Moved Permanently\r\nLocation: ${verdict.location}`
    case 'refuse':
      return `${verdict.code} ${STATUS_CODES[verdict.code]}`
  }
}

/** Sends the caller elsewhere, with a page of one link for those who read it. */
function redirect({ method }: IncomingMessage, response: ServerResponse, location: string): void {
  const isRead = method === 'GET' || method === 'HEAD'
  response.writeHead(301, { location, ...(isRead ? { 'content-type': 'text/html; charset=utf-8' } : {}) })
  response.end(isRead ? `<a href="${escapedHtml(location)}">Moved Permanently</a>.\n\n` : undefined)
}

function answer(response: ServerResponse, code: number, text: string): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  response.writeHead(code, headers).end(`${text}\n`)
}
