import { posix } from 'node:path'
import { nodes, type ResourceDefinition } from '@coracle/api'
import { escapedPath } from '../proxy/escaped-path.ts'
import type { Registry } from '../registry-contract.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { warn } from './respond.ts'
import {
  attributesOf,
  checkPathName,
  pathBelowSubresource,
  pathMethodNotAllowed,
  pathNotFound,
  pathOf,
  type ResourceRoute,
} from './routes.ts'
import { contextOf } from './write-context.ts'

/** What may be sent on. */
const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])

/** Whether requests to a route are sent on to another server, whatever is below. */
export const isProxied = ({ subresource, verb }: ResourceRoute, { subresources }: ResourceDefinition): boolean =>
  subresource === 'proxy' && verb !== 'watch' && subresources[subresource]?.proxies === true

/** Sends a request on to what an object stands for, such as a port of a pod. Authorization has happened. */
export async function handleProxy(
  context: HandlerContext,
  exchange: Exchange,
  route: ResourceRoute,
  { definition }: Registry,
): Promise<void> {
  const { request, response, query, search } = exchange
  const { method = 'GET', url = '/' } = request
  const subresource = context.core.subresource(definition, route.subresource)
  if (subresource?.proxy === undefined) throw pathNotFound()
  if (!methods.has(method)) throw pathMethodNotAllowed()
  if (definition.deprecated !== undefined) warn(response, definition.deprecated)
  checkPathName(route.name)
  const [path = '/'] = pathOf(url).split('?', 1)
  const below = pathBelowSubresource(path, route)
  // WebSockets are opened by a GET; who may only read from nodes must not run commands by it.
  if (route.verb !== 'create' && definition.plural === nodes.plural && runsCommands(below)) {
    context.core.authorize(
      exchange.user,
      attributesOf({ ...route, verb: 'create' }, definition, () => ''),
    )
  }
  const signal = context.becomeLongRunning(exchange)
  const asked = { method, path: below, query, signal }
  const target = await subresource.proxy(contextOf(exchange), route.namespace, route.name, asked)
  // Connections to pods are loaded with the first request to one.
  const { isUpgrade, serveProxy } = await import('../proxy/serve-proxy.ts')
  if (below === '' && (method === 'GET' || method === 'HEAD') && !isUpgrade(request)) {
    // Links relative to a page need to know that it is one of many.
    response.writeHead(301, { Location: `${path}/${search === '' ? '' : `?${search}`}` })
    return void response.end()
  }
  const at = { prefix: prefixOf(definition, route), path: below === '' ? '' : posix.normalize(below), search }
  await serveProxy(context, exchange, target, at, signal)
}

/** Whether something runs or connects at a path of a node agent: the others are read. */
const runsCommands = (path: string): boolean => /^\/(?:exec|attach|run|portForward)(?:\/|$)/.test(posix.normalize(path))

/** The path of the subresource itself. */
function prefixOf(
  { group, version, plural, namespaced }: ResourceDefinition,
  { namespace, name }: ResourceRoute,
): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const within = namespaced ? `/namespaces/${namespace}` : ''
  return escapedPath(`${root}${within}/${plural}/${name}/proxy`)
}
