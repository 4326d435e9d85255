import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FilterRules, mayPass } from './request-filter.ts'
import { sendFile } from './static-files.ts'
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
  const server = createServer((request, response) => handle(options, request, response))
  server.maxConnections = proxyConnectionsMax
  server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    const target = targetOf(options, request)
    if (target === undefined || !isAllowed(options, request)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    forwardUpgrade(options, target, request, socket, head)
  })
  server.listen(address)
  await once(server, 'listening')
  return {
    address: 'path' in address ? address.path : shown(server.address() as AddressInfo),
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const shown = ({ address, port, family }: AddressInfo): string =>
  `${family === 'IPv6' ? `[${address}]` : address}:${port}`

function handle(options: ProxyOptions, request: IncomingMessage, response: ServerResponse): void {
  const { files } = options
  const path = pathOf(request)
  const target = targetOf(options, request)
  if (!isAllowed(options, request)) answer(response, 403, 'Forbidden')
  else if (files !== undefined && path.startsWith(files.prefix)) {
    sendFile(files.directory, path.slice(files.prefix.length), response)
  } else if (target === undefined) answer(response, 404, '404 page not found')
  else forward(options, target, request, response)
}

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0] ?? '/'

function isAllowed({ filter }: ProxyOptions, request: IncomingMessage): boolean {
  const { method = 'GET', headers } = request
  return mayPass(filter, { method, path: pathOf(request), host: headers.host ?? '' })
}

/** The path at the server, with the query; undefined of what is not under the prefix. */
function targetOf({ apiPrefix }: ProxyOptions, { url = '/' }: IncomingMessage): string | undefined {
  return url.startsWith(apiPrefix) ? `/${url.slice(apiPrefix.length)}` : undefined
}

function answer(response: ServerResponse, code: number, text: string): void {
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`)
}
