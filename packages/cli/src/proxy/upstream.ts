import { type ClientRequest, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Connection, credentialHeaders, tlsOptionsOf, withPresentTls } from '@coracle/client'

/** Headers that are about one connection and not about the request (RFC 9110, 7.6.1), and the caller's own credentials. */
const droppedHeaders = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'authorization',
])

/** How requests go to the server behind the proxy. */
export interface UpstreamOptions {
  readonly connection: Connection
  /** Puts the path of the server's address before that of the request. */
  readonly appendServerPath: boolean
  /** How often an idle connection to the server is probed; 0: never. */
  readonly keepAliveMs: number
}

/** Sends a request on and gives the answer as it comes, for as long as both sides stay. */
export function forward(
  options: UpstreamOptions,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  void open(options, path, request).then(
    (upstream) => {
      upstream.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders)
        response.flushHeaders()
        answer.pipe(response)
        answer.on('error', () => response.destroy())
      })
      upstream.on('error', (error) => fail(response, error))
      response.on('close', () => upstream.destroy())
      request.pipe(upstream)
    },
    (error: unknown) => fail(response, error),
  )
}

/** The same for a request that changes the protocol: afterwards both sides talk as they like. */
export function forwardUpgrade(
  options: UpstreamOptions,
  path: string,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const end = () => socket.destroy()
  void open(options, path, request, true).then((upstream) => {
    upstream.on('upgrade', (answer, serverSocket, serverHead) => {
      socket.write(headOf(answer))
      if (serverHead.length > 0) socket.write(serverHead)
      if (head.length > 0) serverSocket.write(head)
      // What the server has said until it ended may still be on its way to a slow reader.
      serverSocket.on('error', end).on('close', () => serverSocket.readableEnded || end())
      socket.on('close', () => serverSocket.destroy())
      socket.pipe(serverSocket).pipe(socket)
    })
    // The server may refuse to change the protocol: that is an answer like any other.
    upstream.on('response', (answer) => {
      const { headers, rawHeaders } = answer
      // Its body comes here without the frames it had; the end of the connection ends it.
      const isFramed = headers['transfer-encoding'] !== undefined
      socket.write(headOf({ ...statusOf(answer), rawHeaders: isFramed ? withoutFraming(rawHeaders) : rawHeaders }))
      answer.on('close', () => answer.complete || end()).pipe(socket)
    })
    upstream.on('error', end)
    upstream.end()
  }, end)
}

async function open(
  { connection, appendServerPath, keepAliveMs }: UpstreamOptions,
  path: string,
  { method, headers }: IncomingMessage,
  isUpgrade = false,
): Promise<ClientRequest> {
  const { server } = connection
  const base = new URL(server)
  const send = base.protocol === 'https:' ? httpsRequest : httpRequest
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => !droppedHeaders.has(name) && (isUpgrade || name !== 'upgrade')),
  )
  const sent = send({
    protocol: base.protocol,
    hostname: base.hostname.replace(/^\[|\]$/g, ''),
    port: base.port,
    path: appendServerPath ? base.pathname.replace(/\/$/, '') + path : path,
    method: method ?? 'GET',
    headers: {
      ...kept,
      ...(await credentialHeaders(connection)),
      ...(isUpgrade ? { connection: 'Upgrade' } : {}),
    },
    agent: false,
    ...tlsOptionsOf(await withPresentTls(connection)),
  })
  if (keepAliveMs > 0) sent.once('socket', (socket) => socket.setKeepAlive(true, keepAliveMs))
  return sent
}

type Head = Pick<IncomingMessage, 'statusCode' | 'statusMessage' | 'rawHeaders'>

const statusOf = ({ statusCode, statusMessage }: IncomingMessage) => ({ statusCode, statusMessage })

const withoutFraming = (rawHeaders: readonly string[]): string[] => [
  ...rawHeaders.filter(
    (_, index) => !/^(?:transfer-encoding|connection|keep-alive)$/i.test(rawHeaders[index & ~1] ?? ''),
  ),
  ...['Connection', 'close'],
]

/** The head of an answer, as it goes over the wire. */
function headOf({ statusCode, statusMessage, rawHeaders }: Head): string {
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []))
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const message = error instanceof Error ? error.message : String(error)
  response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' }).end(`cannot reach the server: ${message}\n`)
}
