import type { IncomingHttpHeaders } from 'node:http'
import { badRequest } from '@coracle/api'
import type { RequestAttributes, User } from '../request.ts'

export interface Impersonation {
  /** Who the request is to count as made by. */
  readonly user: User
  /** What the one who makes it must be allowed to do for that. */
  readonly needed: readonly RequestAttributes[]
}

/**
 * Acting as someone else (`kubectl --as`, `--as-group`): the `Impersonate-User` and `Impersonate-Group` headers.
 * Undefined where there are none.
 */
export function impersonatedUser(headers: IncomingHttpHeaders): Impersonation | undefined {
  const name = textOf(headers['impersonate-user'])
  const asked = headers['impersonate-group']
  if (name === '') {
    if (asked === undefined) return undefined
    throw badRequest('requested groups without impersonating a user')
  }
  // Node joins repeated headers; names of groups hold no commas.
  const groups = textOf(asked)
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '')
  const needed = [impersonating('users', name), ...groups.map((group) => impersonating('groups', group))]
  return { user: { name, groups: [...new Set([...impliedGroups(name, groups), ...groups])] }, needed }
}

const textOf = (header: string | readonly string[] | undefined): string =>
  header === undefined ? '' : typeof header === 'string' ? header : header.join(',')

/** Groups that come with a name, as upstream adds them. */
function impliedGroups(name: string, groups: readonly string[]): readonly string[] {
  if (name === 'system:anonymous') return groups.length > 0 ? [] : ['system:unauthenticated']
  const namespace = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name)?.[1]
  const own =
    namespace === undefined || groups.length > 0
      ? []
      : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  return [...own, 'system:authenticated']
}

const impersonating = (plural: string, name: string): RequestAttributes => ({
  kind: 'resource',
  verb: 'impersonate',
  resource: { group: '', version: 'v1', kind: '', plural, namespaced: false },
  subresource: '',
  namespace: '',
  name,
})
