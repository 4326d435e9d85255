import type { ApiError, ResourceDefinition } from '@coracle/api'
import { isCausesRoute } from './causes-definition.ts'
import type { Exchange, HandlerContext } from './exchange.ts'
import { isHealthPath } from './health.ts'
import { handleProxy, isProxied } from './proxy-handler.ts'
import { asksToWatch } from './query.ts'
import { handleRemote } from './remote-handler.ts'
import { isLongSubresource, type RequestMetrics } from './request-metrics.ts'
import { handleResource } from './resource-handlers.ts'
import {
  attributesOf,
  isBuiltInGroup,
  methodRefused,
  noHandler,
  pathMethodNotAllowed,
  pathNotFound,
  type ResourceRoute,
  routeOf,
} from './routes.ts'
import { handleSubresource } from './subresource-handlers.ts'

/** Authorizes a request and calls the handler of its path. Throws or rejects with the error that the request is to be answered with. */
export type Dispatch = (exchange: Exchange, path: string) => Promise<void> | void

/** `paths` answers requests whose path is no resource. */
export function createDispatch(
  context: HandlerContext,
  paths: Dispatch,
  requests: RequestMetrics | undefined,
): Dispatch {
  const { core } = context
  /** Upstream words it in another way where it has no handler for the group at all. */
  const notFoundAt = ({ group }: ResourceRoute): ApiError =>
    isBuiltInGroup(core.registries.definitions(), group) ? pathNotFound() : noHandler()

  const dispatch = (exchange: Exchange, path: string, knowsAllKinds = false): Promise<void> | void => {
    const { request, query } = exchange
    const route = routeOf(request.method ?? 'GET', path, () => asksToWatch(query))
    if (route.kind === 'path') {
      core.authorize(exchange.user, route)
      const [, group = '', version = ''] = /^\/(?:openapi\/v3\/)?apis\/([^/]+)\/([^/]+)/.exec(path) ?? []
      if (core.aggregator.isRemote(group, version)) {
        return handleRemote(context, exchange, { group, version, isLong: false })
      }
      // Discovery must show kinds that an acknowledged write has defined.
      const settled = isHealthPath(path) ? undefined : core.kindsSettled()
      return settled === undefined ? paths(exchange, path) : settled.then(() => paths(exchange, path))
    }
    if (isCausesRoute(route)) return answerCauses(exchange, route)
    if (core.aggregator.isRemote(route.group, route.version)) {
      core.authorize(
        exchange.user,
        attributesOf(route, undefined, () => query.get('fieldSelector') ?? ''),
      )
      const isLong = route.verb === 'watch' || isLongSubresource(route)
      return handleRemote(context, exchange, { ...route, isLong })
    }
    const registry = core.registries.served(route.group, route.version, route.plural)
    core.authorize(
      exchange.user,
      attributesOf(route, registry?.definition, () => query.get('fieldSelector') ?? ''),
    )
    if (registry === undefined && !knowsAllKinds) {
      const settled = core.kindsSettled()
      // The client may have gone meanwhile: handlers would not be told of that any more.
      const goOn = () => (exchange.response.destroyed ? undefined : dispatch(exchange, path, true))
      if (settled !== undefined) return settled.then(goOn)
    }
    if (registry === undefined || isUnservedPath(route, registry.definition)) throw notFoundAt(route)
    requests?.follow(exchange, route, registry.definition)
    if (isProxied(route, registry.definition)) return handleProxy(context, exchange, route, registry)
    if (route.verb === '') throw methodRefused(registry.definition, route.verb)
    if (lacksNamespace(route, registry.definition.namespaced)) {
      // Upstream's handler of custom resources has no such path, that of built-in ones has it without the method.
      throw registry.definition.schema.dialect === 'structural' ? noHandler() : pathMethodNotAllowed()
    }
    if (route.subresource !== '') return handleSubresource(context, exchange, route, registry)
    return handleResource(context, exchange, route, registry)
  }

  /** Loaded with the first request for causes. */
  const answerCauses = async (exchange: Exchange, route: ResourceRoute): Promise<void> => {
    const { handleCauses } = await import('./causes-handler.ts')
    return handleCauses(context, exchange, route)
  }
  return dispatch
}

/**
 * Whether a kind is not served at a path of this form: a namespaced object without its namespace, a cluster-scoped one in a namespace,
 * an object of a kind that stores none, or anything below a subresource.
 */
function isUnservedPath(route: ResourceRoute, definition: ResourceDefinition): boolean {
  const { namespaced } = definition
  if (route.deeper && !isProxied(route, definition)) return true
  if (isOnlyPosted(definition)) return route.name !== '' || (route.namespace !== '') !== namespaced
  if (!namespaced) return route.namespace !== '' && route.plural !== 'namespaces'
  return route.namespace === '' && route.name !== ''
}

/** Kinds whose objects are only created and never stored, such as reviews and bindings. */
const isOnlyPosted = ({ verbs }: ResourceDefinition): boolean => verbs.every((verb) => verb === 'create')

/** Only reads may be across all namespaces. */
const lacksNamespace = (route: ResourceRoute, namespaced: boolean): boolean =>
  namespaced && route.namespace === '' && route.verb !== 'list' && route.verb !== 'watch'
