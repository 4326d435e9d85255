import { ApiError, badRequest, type Resource } from '@coracle/api'
import type { RequestAttributes } from '../request.ts'

/** What a method and a path ask for, read as upstream reads them (apiserver's RequestInfo). */
export type Route = ResourceRoute | PathRoute

export interface ResourceRoute {
  readonly kind: 'resource'
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly plural: string
  /** '' for reads across all namespaces and for cluster-scoped kinds; a namespace's own name for itself. */
  readonly namespace: string
  readonly name: string
  readonly subresource: string
  /** More follows the subresource: nothing here has that. */
  readonly deeper: boolean
}

export interface PathRoute {
  readonly kind: 'path'
  /** The method in lower case. */
  readonly verb: string
  readonly path: string
}

/** Whether `watch` is asked for is in the query, so the caller says. */
export function routeOf(method: string, path: string, watches: () => boolean): Route {
  const parts = segmentsOf(path)
  const [prefix] = parts
  const resourceAt = prefix === 'api' ? 2 : prefix === 'apis' ? 3 : parts.length
  if (parts.length <= resourceAt) return { kind: 'path', verb: method.toLowerCase(), path }

  const group = prefix === 'api' ? '' : (parts[1] ?? '')
  const version = parts[resourceAt - 1] ?? ''
  let at = resourceAt
  let namespace = ''
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1] ?? ''
    const next = parts[at + 2]
    if (next !== undefined && next !== 'status' && next !== 'finalize') at += 2
  }
  const name = parts[at + 1] ?? ''
  return {
    kind: 'resource',
    verb: verbOf(method, name, watches),
    group,
    version,
    plural: parts[at] ?? '',
    namespace,
    name,
    subresource: parts[at + 2] ?? '',
    deeper: parts.length > at + 3,
  }
}

function segmentsOf(path: string): readonly string[] {
  let start = 0
  let end = path.length
  while (path.charCodeAt(start) === 0x2f) start++
  while (end > start && path.charCodeAt(end - 1) === 0x2f) end--
  if (start === end) return []
  const segments = path.slice(start, end).split('/')
  return path.includes('%') ? segments.map(decodeSegment) : segments
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw badRequest(`invalid URL escape ${JSON.stringify(segment)}`)
  }
}

function verbOf(method: string, name: string, watches: () => boolean): string {
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (name !== '') return 'get'
      return watches() ? 'watch' : 'list'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      return ''
  }
}

/** What authorization judges. `resource` is the kind where there is one of that name. */
export function attributesOf(route: ResourceRoute, resource: Resource | undefined): RequestAttributes {
  const { group, version, plural, verb, subresource, namespace, name } = route
  return {
    kind: 'resource',
    verb,
    resource: resource ?? { group, version, kind: '', plural, namespaced: namespace !== '' },
    subresource,
    namespace,
    name,
  }
}

/** The answer to a path that leads nowhere. */
export const pathNotFound = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})

/** The answer to a method a path does not have. */
export const pathMethodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})
