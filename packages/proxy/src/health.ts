import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Balancer } from './balancer.ts'
import type { Frontend, Listening, ServiceName } from './frontends.ts'

/** Load balancers ask every few seconds, over few connections. */
const connectionsMax = 100
const requestTimeoutMs = 10_000

/**
 * Answers load balancers, over HTTP at whatever path, how many endpoints a service has on own nodes, in upstream's form: 200 where there are
 * any, else 503. Rejects with the system's error.
 */
export async function answerHealth(
  { address, port }: Pick<Frontend, 'address' | 'port'>,
  service: ServiceName,
  balancer: Balancer,
): Promise<Listening> {
  const server = createServer(
    { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs },
    (request, response) => {
      request.resume()
      const localEndpoints = balancer.size
      const body = JSON.stringify({ service, localEndpoints, serviceProxyHealthy: true }, undefined, '\t')
      response.writeHead(localEndpoints > 0 ? 200 : 503, {
        'Content-Type': 'application/json',
        'X-Content-Type-Options': 'nosniff',
        'X-Load-Balancing-Endpoint-Weight': String(localEndpoints),
      })
      response.end(body)
    },
  )
  server.maxConnections = connectionsMax
  server.listen({ host: address, port, exclusive: true })
  await once(server, 'listening')
  // As for `listenTcp`.
  server.on('error', () => {})
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
