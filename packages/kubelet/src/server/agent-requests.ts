import type { IncomingMessage, ServerResponse as NodeServerResponse, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError } from '@coracle/api'
import { Upgrades } from '@coracle/client/upgrades'
import type { Environment } from '@coracle/environment'
import { agentMetrics, probeMetrics } from './agent-metrics.ts'
import { cadvisorMetrics } from './cadvisor-metrics.ts'
import { type Exchange, sendText } from './exchange.ts'
import { configz, healthz, listPods, listRunningPods, logs } from './node-paths.ts'
import { attach, containerLogs, exec, portForward, run } from './pod-paths.ts'
import { Refusal } from './refusal.ts'
import { resourceMetrics } from './resource-metrics.ts'
import type { ServedNode } from './served-node.ts'
import { statsSummary } from './summary.ts'
import { UsageCounters } from './usage-counters.ts'
import { localVolumes } from './volume-paths.ts'

export interface AgentRequestsOptions {
  readonly environment: Environment
  /** What `/configz` shows. */
  readonly configuration?: Readonly<Record<string, unknown>> | undefined
  /** The node that a request is made of. Rejects with a Refusal where its caller is nobody that is known, or there is no such node. */
  readonly admit: (request: IncomingMessage) => Promise<AdmittedRequest>
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

/** A request whose caller is known. */
export interface AdmittedRequest {
  readonly node: ServedNode
  /**
   * Rejects with a Refusal where the caller may not make the request. What is judged is what is looked for: `path` is made of the decoded
   * parts, in which an encoded slash makes no other path.
   */
  readonly assertMay: (method: string, path: string) => Promise<void>
}

type Handler = (exchange: Exchange) => Promise<void> | void

/** `/metrics`, and what is below it. */
const metricsHandlers: Readonly<Record<string, Handler>> = {
  '': agentMetrics,
  cadvisor: cadvisorMetrics,
  probes: probeMetrics,
  resource: resourceMetrics,
}

/** By the first part of the path. */
const handlers: Readonly<Record<string, Handler>> = {
  attach,
  configz,
  containerLogs,
  exec,
  healthz,
  localVolumes,
  logs,
  metrics: (exchange) => {
    const [, kind = '', ...more] = exchange.parts
    const handler = more.length === 0 && Object.hasOwn(metricsHandlers, kind) ? metricsHandlers[kind] : undefined
    if (handler === undefined) throw new Refusal(404, '404 page not found')
    return handler(exchange)
  },
  pods: listPods,
  portForward,
  run,
  runningpods: listRunningPods,
  stats: statsSummary,
}

/** Those that take more than a GET. */
const commands: ReadonlySet<string> = new Set(['attach', 'exec', 'localVolumes', 'portForward', 'run'])

/** What a connection may become. */
const upgradesTo: ReadonlySet<string> = new Set(['websocket', 'spdy/3.1'])

/** Whether a connection may become what its request asks for. */
export const mayUpgrade = ({ headers }: IncomingMessage): boolean =>
  upgradesTo.has((headers.upgrade ?? '').toLowerCase())

const { ServerResponse } = process.getBuiltinModule('node:http')

/** Answers what kubelets are asked over HTTP, at the same paths. */
export class AgentRequests {
  readonly #options: AgentRequestsOptions
  readonly #counters: UsageCounters
  readonly #upgrades = new Upgrades(() => {})

  constructor(options: AgentRequestsOptions) {
    this.#options = options
    this.#counters = new UsageCounters(options.environment.clock)
  }

  /** Takes the requests of a server, and those for its connections to become streams. */
  answer(server: Server): void {
    server.on('request', (request, response) => void this.#handle(request, response))
    server.on('upgrade', (request: IncomingMessage, connection: Duplex, head: Buffer) => {
      this.#upgrades.note(request, { connection, head })
      const response = new ServerResponse(request)
      response.shouldKeepAlive = false
      // Any stream does.
      response.assignSocket(connection as Parameters<typeof response.assignSocket>[0])
      connection.on('error', () => connection.destroy())
      response.once('finish', () => {
        if (!this.#upgrades.isTaken(request)) connection.end()
      })
      void this.#handle(request, response)
    })
  }

  /** How a request that has failed is answered. */
  failureOf(error: unknown): readonly [number, string] {
    if (error instanceof Refusal || error instanceof ApiError) return [error.code, error.message]
    const message = error instanceof Error ? error.message : String(error)
    this.#options.environment.logger.debug('a request of the node has failed', { error })
    return [500, message]
  }

  async #handle(request: IncomingMessage, response: NodeServerResponse): Promise<void> {
    try {
      await this.#answer(request, response)
    } catch (error) {
      if (response.headersSent || this.#upgrades.isTaken(request)) return void response.destroy()
      const [code, message] = this.failureOf(error)
      response.shouldKeepAlive &&= request.complete
      sendText({ response }, code, `${message}\n`)
    } finally {
      // What nobody has read must not hold up the next request.
      request.resume()
    }
  }

  async #answer(request: IncomingMessage, response: NodeServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request
    const [path = '/', search = ''] = url.split('?', 2)
    const { environment, configuration = {}, admit } = this.#options
    const { node, assertMay } = await admit(request)
    const parts = partsOf(path)
    await assertMay(method, `/${parts.join('/')}`)
    const [first = ''] = parts
    const handler = Object.hasOwn(handlers, first) ? handlers[first] : undefined
    if (handler === undefined) throw new Refusal(404, '404 page not found')
    if (!commands.has(first) && method !== 'GET' && method !== 'HEAD') throw new Refusal(405, '405: Method Not Allowed')
    await handler({
      node,
      environment,
      counters: this.#counters,
      configuration,
      request,
      response,
      path,
      parts,
      query: new URLSearchParams(search),
      signal: this.#signalOf(response),
      takeConnection: () => {
        if (this.#upgrades.isFull) throw new Refusal(429, 'too many connections are open, please try again later')
        return this.#upgrades.take(request)
      },
    })
  }

  /** Aborted when the client goes or the server closes. */
  #signalOf(response: NodeServerResponse): AbortSignal {
    const gone = new AbortController()
    const { socket, req } = response
    const abort = () => gone.abort(new Error('the client has gone'))
    socket?.once('close', abort)
    response.once('close', () => {
      if (this.#upgrades.isTaken(req)) return
      socket?.off('close', abort)
      if (!response.writableFinished) abort()
    })
    return AbortSignal.any([gone.signal, this.#options.closing])
  }
}

/** The parts of a path, decoded. Throws a Refusal for what is none. */
function partsOf(path: string): readonly string[] {
  try {
    const parts = path.split('/').slice(1).map(decodeURIComponent)
    while (parts.at(-1) === '') parts.pop()
    if (!parts.some((part) => part === '' || part === '.' || part === '..' || part.includes('/'))) return parts
  } catch {
    // Said below.
  }
  throw new Refusal(400, `${JSON.stringify(path)} is no path of a node agent`)
}
