import { ApiError, badRequest, methodNotAllowed, type Resource, type ResourceDefinition } from '@coracle/api'
import { collectionAttributes, type RequestAttributes } from '../request.ts'

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
  /** More is named than any resource has: something below a subresource, or a namespace inside of one. */
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
  // The first form of watches, which clients still may use: `/api/v1/watch/namespaces/a/pods`.
  const isWatchPath = parts[resourceAt] === 'watch' && parts.length > resourceAt + 1
  let at = isWatchPath ? resourceAt + 1 : resourceAt
  let namespace = ''
  let isNested = false
  if (parts[at] === 'namespaces' && parts.length > at + 1) {
    namespace = parts[at + 1] ?? ''
    const next = parts[at + 2]
    if (next !== undefined && next !== 'status' && next !== 'finalize') {
      at += 2
      isNested = group === '' && next === 'namespaces'
    }
  }
  const name = parts[at + 1] ?? ''
  return {
    kind: 'resource',
    verb: isWatchPath ? (method === 'GET' ? 'watch' : '') : verbOf(method, name, watches),
    group,
    version,
    plural: parts[at] ?? '',
    namespace,
    name,
    subresource: parts[at + 2] ?? '',
    deeper: isNested || parts.length > at + (isWatchPath ? 2 : 3),
  }
}

/** Path and query, also of a request that names all of the address, as one to a proxy does. */
export const pathOf = (url: string): string => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*\/?/i, '/'))

/** What a path has below the subresource of an object, decoded: `/a/b/`; '' for the subresource itself. */
export function pathBelowSubresource(path: string, { group, namespace }: ResourceRoute): string {
  const parts = segmentsOf(path)
  const subresourceAt = (group === '' ? 2 : 3) + (namespace === '' ? 0 : 2) + 2
  const below = parts.slice(subresourceAt + 1).map((part) => `/${part}`)
  return `${below.join('')}${path.endsWith('/') ? '/' : ''}`
}

/** The path is decoded before it is split, as Go does it: an escaped slash is a slash. */
function segmentsOf(path: string): readonly string[] {
  let end = path.length
  while (end > 1 && path.charCodeAt(end - 1) === 0x2f) end--
  const trimmed = path.slice(1, end)
  if (trimmed === '') return []
  return (trimmed.includes('%') ? unescaped(trimmed) : trimmed).split('/')
}

/** Bytes that are no UTF-8 become U+FFFD: nothing has such a name. */
function unescaped(path: string): string {
  const wrong = /%(?![0-9a-f]{2}).{0,2}/i.exec(path)
  if (wrong !== null) throw badRequest(`invalid URL escape ${JSON.stringify(wrong[0])}`)
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => Buffer.from(escaped.replaceAll('%', ''), 'hex').toString())
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

/**
 * Throws a BadRequest for a name that could not be part of a path, as upstream's stores do (apimachinery's
 * api/validation/path).
 */
export function checkPathName(name: string): void {
  const why = name === '.' || name === '..' ? `be '${name}'` : name.includes('%') ? `contain '%'` : undefined
  if (why !== undefined) throw badRequest(`Name parameter invalid: ${JSON.stringify(name)}: may not ${why}`)
}

/** What may be done with the objects of a collection that a selector chooses. */
const collectionVerbs: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])

/** What authorization judges. `resource` is the kind where there is one of that name; the field selector is in the query. */
export function attributesOf(
  route: ResourceRoute,
  resource: Resource | undefined,
  fieldSelectorOf: () => string,
): RequestAttributes {
  const { group, version, plural, verb, subresource, namespace, name } = route
  const attributes = {
    kind: 'resource' as const,
    verb,
    resource: resource ?? { group, version, kind: '', plural, namespaced: namespace !== '' },
    subresource,
    namespace,
    name,
  }
  const fieldSelector = collectionVerbs.has(verb) ? fieldSelectorOf() : ''
  return fieldSelector === '' ? attributes : collectionAttributes(attributes, fieldSelector)
}

/** The answer to a path that leads nowhere, below one that is served. */
export const pathNotFound = (): ApiError =>
  new ApiError(404, 'NotFound', 'the server could not find the requested resource', {})

/** Answered in plain text, as by Go's server where no handler is. */
export class NoHandlerError extends ApiError {}

/** The answer to a path that nobody serves, nor any path like it. */
export const noHandler = (): NoHandlerError =>
  new NoHandlerError(404, 'NotFound', 'the server could not find the requested resource', {})

/** Whether the program brings kinds of a group: upstream's router answers whatever is asked of such a group. */
export const isBuiltInGroup = (definitions: readonly ResourceDefinition[], group: string): boolean =>
  group === '' || definitions.some((each) => each.group === group && each.schema.dialect !== 'structural')

/** The answer to a method a path does not have. */
export const pathMethodNotAllowed = (): ApiError =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

/** The answer to a verb that is not served. Custom kinds have one handler for any path, which names the kind. */
export const methodRefused = (definition: ResourceDefinition, verb: string): ApiError =>
  definition.schema.dialect === 'structural' ? methodNotAllowed(definition, verb) : pathMethodNotAllowed()
