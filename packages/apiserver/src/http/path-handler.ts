import type { ApiError } from '@coracle/api'
import {
  type Environment,
  type HealthCheck,
  LoadOnce,
  type MetricsRegistry,
  metricsContentType,
  ping,
} from '@coracle/environment'
import type { ApiCore } from '../api-core.ts'
import { Discovery } from './discovery.ts'
import type { Exchange } from './exchange.ts'
import { type HealthChecks, handleHealth } from './health.ts'
import { createHealthMetrics } from './health-metrics.ts'
import { handleOpenId } from './openid.ts'
import { openIdPaths } from './openid-paths.ts'
import { send, sendPrettyJson } from './respond.ts'
import { rootPaths } from './root-paths.ts'
import { isBuiltInGroup, noHandler, pathMethodNotAllowed, pathNotFound } from './routes.ts'
import { storeCheck } from './store-check.ts'
import { handleVersion } from './version.ts'
import type { ZPagePath } from './zpages.ts'

export interface PathHandlerOptions {
  readonly core: ApiCore
  readonly environment: Environment
  /** What must hold for `/readyz`, beside that the core is ready. */
  readonly readiness?: readonly HealthCheck[]
  /** What must hold for `/livez`. */
  readonly liveness?: readonly HealthCheck[]
  /** What `/metrics` shows; without it there is no such path, nor one below it. */
  readonly metrics?: MetricsRegistry | undefined
  /** What `/flagz` shows: the flags of the command that runs the server, with their values; without them there is no such path. */
  readonly flags?: Readonly<Record<string, string>> | undefined
}

/** What is below these has routes upstream, and a Status where there is none; other paths have plain text. */
const routedRoots: readonly string[] = ['/api', '/version', ...openIdPaths]

/** Answers paths that are no resources: what the server says of itself. */
export function createPathHandler({
  core,
  environment,
  readiness = [],
  liveness = [],
  metrics,
  flags,
}: PathHandlerOptions) {
  const startedMs = environment.clock.now()
  const discovery = new Discovery(core.registries, core.aggregator)
  const openApi = new LoadOnce(async () => {
    // At the first request: most clusters of tests are never asked.
    const { OpenApi } = await import('./openapi.ts')
    return new OpenApi(core.registries, core.aggregator, core.serviceAccountTokens !== undefined)
  })
  const healthMetrics = createHealthMetrics()
  const health = healthChecks({ core, environment, readiness, liveness })
  const notFoundAt = (path: string): ApiError => {
    const [, root, group = ''] = path.split('/')
    const isRouted = root === 'apis' && group !== '' && isBuiltInGroup(core.registries.definitions(), group)
    return isRouted || routedRoots.some((each) => path.startsWith(`${each}/`)) ? pathNotFound() : noHandler()
  }
  const paths = (): readonly string[] => {
    const groupVersions = [...core.registries.definitions(), ...core.aggregator.groupVersions()]
    return rootPaths(groupVersions, health, {
      metrics: metrics !== undefined,
      tokens: core.serviceAccountTokens !== undefined,
      flags: flags !== undefined,
    })
  }
  const showZPage = async (path: ZPagePath, { request, query, response }: Exchange): Promise<void> => {
    const { handleZPage } = await import('./zpages.ts')
    const nowMs = environment.clock.now()
    const pages = { startedMs, nowMs, random: environment.random, paths: paths(), flags: flags ?? {} }
    return handleZPage(path, pages, request, query, response)
  }

  return (exchange: Exchange, path: string): Promise<void> | void => {
    const { request, response, query } = exchange
    const reported = handleHealth(health, path, query, response, {
      logger: environment.logger,
      metrics: healthMetrics,
    })
    if (reported !== undefined) return reported
    if (path === '/' || path === '/index.html') return sendPrettyJson(response, 200, { paths: paths() })
    if (path.startsWith('/openapi/')) {
      return openApi.get().then((documents) => {
        const answered = documents.handle(path, query, request, response)
        if (answered === false) throw noHandler()
        return answered
      })
    }
    if (metrics !== undefined && path === '/metrics') return sendMetrics(exchange, metrics, () => metrics.collected())
    if (metrics !== undefined && path === '/metrics/slis') {
      return sendMetrics(exchange, healthMetrics, async () => healthMetrics.text())
    }
    if (path === '/statusz' || (path === '/flagz' && flags !== undefined)) return showZPage(path, exchange)
    // Upstream serves what is above whatever the method is.
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      throw paths().includes(path.replace(/(?<=.)\/$/, '')) ? pathMethodNotAllowed() : notFoundAt(path)
    }
    if (handleVersion(path, request, response)) return
    const discovered = discovery.handle(path, exchange)
    if (discovered !== false) return discovered
    const openId = handleOpenId(core.serviceAccountTokens, path, request, response)
    if (openId !== undefined) return openId
    throw notFoundAt(path)
  }
}

/** A DELETE has them count from zero, as upstream where profiling is on, which it is by default; any other method reads them. */
async function sendMetrics(
  { request, response }: Exchange,
  metrics: Pick<MetricsRegistry, 'reset'>,
  read: () => Promise<string>,
): Promise<void> {
  if (request.method !== 'DELETE') return send(response, 200, metricsContentType, Buffer.from(await read()))
  metrics.reset()
  return send(response, 200, 'text/plain; charset=utf-8', Buffer.from('metrics reset\n'))
}

function healthChecks({
  core,
  environment,
  readiness,
  liveness,
}: Required<Omit<PathHandlerOptions, 'metrics' | 'flags'>>): HealthChecks {
  let starting: string | undefined = 'the API is starting'
  core.ready.then(
    () => {
      starting = undefined
    },
    (error: unknown) => {
      starting = `the API could not start: ${String(error)}`
    },
  )
  const started: HealthCheck = { name: 'informer-sync', check: () => starting }
  // Upstream writes the default roles and bindings when it has started, and has a check of its own for them.
  const hasRoles: HealthCheck = { name: 'poststarthook/rbac/bootstrap-roles', check: () => starting }
  const store = core.sharesStore ? [storeCheck(core, environment.clock)] : []
  const livez = [ping, ...store, ...liveness]
  return { livez, readyz: [ping, ...store, started, hasRoles, ...readiness], healthz: [...livez, started, hasRoles] }
}
