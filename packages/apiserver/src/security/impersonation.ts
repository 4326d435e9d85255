import { badRequest } from '@coracle/api'
import type { RequestAttributes, User } from '../request.ts'

export interface Impersonation {
  /** Who the request is to count as made by. */
  readonly user: User
  /** What the one who makes it must be allowed to do for that. */
  readonly needed: readonly RequestAttributes[]
}

/**
 * Acting as someone else (`kubectl --as`, `--as-group`, `--as-uid`, `--as-user-extra`): the `Impersonate-User`, `-Group`,
 * `-Uid` and `-Extra-<key>` headers, as upstream's endpoints/filters/impersonation. `rawHeaders` are names and values in turn.
 * Undefined where there are none. Throws a BadRequest where they name no user.
 */
export function impersonatedUser(rawHeaders: readonly string[]): Impersonation | undefined {
  let asked: Asked | undefined
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    // Every request passes here, and all but none of them has such a header.
    if ((name.charCodeAt(0) | 0x20) !== letterI || name.length <= prefix.length) continue
    const lower = name.toLowerCase()
    if (!lower.startsWith(prefix)) continue
    asked ??= { user: '', groups: [], uid: '', extra: new Map() }
    take(asked, lower.slice(prefix.length), rawHeaders[at + 1] ?? '')
  }
  if (asked === undefined) return undefined
  const { user, groups, uid, extra } = asked
  if (user === '') {
    if (groups.length === 0 && uid === '' && extra.size === 0) return undefined
    throw badRequest(`requested ${goSyntaxOf(asked)} without impersonating a user name`)
  }
  return {
    user: {
      name: user,
      groups: allGroups(user, groups),
      ...(uid === '' ? {} : { uid }),
      ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
    },
    needed: neededFor(asked),
  }
}

/** The user that was asked for as Go would write it. */
function goSyntaxOf({ user, uid, groups, extra }: Asked): string {
  const list = (values: readonly string[]) => `[]string{${values.map((each) => JSON.stringify(each)).join(', ')}}`
  const members = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`)
  const groupText = groups.length === 0 ? '[]string(nil)' : list(groups)
  const extraText = extra.size === 0 ? '(nil)' : `{${members.join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(user)}, UID:${JSON.stringify(uid)}, Groups:${groupText}, Extra:map[string][]string${extraText}}`
}

const prefix = 'impersonate-'
const extraPrefix = 'extra-'
const letterI = 0x69

interface Asked {
  user: string
  readonly groups: string[]
  uid: string
  readonly extra: Map<string, string[]>
}

/** Of headers that can have one value the first counts. */
function take(asked: Asked, what: string, value: string): void {
  if (what === 'user') asked.user ||= value
  else if (what === 'uid') asked.uid ||= value
  else if (what === 'group') asked.groups.push(value)
  else if (what.startsWith(extraPrefix)) {
    const key = unescaped(what.slice(extraPrefix.length))
    const values = asked.extra.get(key)
    if (values === undefined) asked.extra.set(key, [value])
    else values.push(value)
  }
}

/** Keys have characters that header names have not, which are percent-encoded. What is wrongly encoded is taken as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

const serviceAccountUser = /^system:serviceaccount:([^:]+):([^:]+)$/

/** The groups a user is in: those asked for, and those that come with a name, as upstream adds them. */
function allGroups(name: string, asked: readonly string[]): readonly string[] {
  const namespace = serviceAccountUser.exec(name)?.[1]
  const isFixed = namespace !== undefined && asked.length === 0
  const groups = isFixed ? ['system:serviceaccounts', `system:serviceaccounts:${namespace}`] : [...new Set(asked)]
  if (name === 'system:anonymous') {
    return groups.includes('system:unauthenticated') ? groups : [...groups, 'system:unauthenticated']
  }
  const isSaid = groups.includes('system:authenticated') || groups.includes('system:unauthenticated')
  return isSaid ? groups : [...groups, 'system:authenticated']
}

function neededFor({ user, groups, uid, extra }: Asked): readonly RequestAttributes[] {
  const account = serviceAccountUser.exec(user)
  const needed = [
    account === null
      ? impersonating('', 'users', user)
      : impersonating('', 'serviceaccounts', account[2] ?? '', { namespace: account[1] ?? '' }),
    ...groups.map((group) => impersonating('', 'groups', group)),
  ]
  for (const [key, values] of extra) {
    for (const value of values)
      needed.push(impersonating(authenticationGroup, 'userextras', value, { subresource: key }))
  }
  if (uid !== '') needed.push(impersonating(authenticationGroup, 'uids', uid))
  return needed
}

const authenticationGroup = 'authentication.k8s.io'

const impersonating = (
  group: string,
  plural: string,
  name: string,
  { namespace = '', subresource = '' }: { readonly namespace?: string; readonly subresource?: string } = {},
): RequestAttributes => ({
  kind: 'resource',
  verb: 'impersonate',
  resource: { group, version: 'v1', kind: '', plural, namespaced: namespace !== '' },
  subresource,
  namespace,
  name,
})
