import { badRequest } from '@coracle/api'

/** What is named by `web`, `web:8080` or `https:web:metrics`. */
export interface ProxiedName {
  readonly scheme: 'http' | 'https'
  readonly name: string
  /** '' where none is named. */
  readonly port: string
}

/** Reads the name in the path of a `proxy` subresource. Throws a BadRequest, in which `what` says of what it is none. */
export function parseProxiedName(id: string, what: 'pod' | 'service' | 'node'): ProxiedName {
  const parts = id.split(':')
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts
  const isKnown = scheme === '' || scheme === 'http' || scheme === 'https'
  if (parts.length > 3 || name === '' || !isKnown) throw badRequest(`invalid ${what} request ${JSON.stringify(id)}`)
  return { scheme: scheme === 'https' ? 'https' : 'http', name, port }
}
