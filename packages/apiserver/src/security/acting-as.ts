import { ApiError, checkDomainPrefixedPath, checkFormat, describeFieldError, FieldPath } from '@coracle/api'
import type { RequestAttributes, User } from '../request.ts'
import { refusalOf } from './authorize.ts'
import type { AskedUser } from './impersonation.ts'

/** Throws Forbidden where a user may not do something. */
export type Authorize = (user: User, attributes: RequestAttributes) => void

/** A request that is to count as made by someone else. */
export interface Impersonation {
  readonly requester: User
  readonly asked: AskedUser
  /** What the request wants. */
  readonly request: RequestAttributes
}

/**
 * As whom a request counts. The constrained modes are tried first (KEP-5284): `impersonate:<mode>` lets one be somebody of a kind, and
 * `impersonate-on:<mode>:<verb>` do so for some requests alone. `impersonate`, the last, lets one do whatever that somebody may. Throws
 * the Forbidden of the first mode that is about such a user where none allows it.
 */
export function actAs(authorize: Authorize, { requester, asked, request }: Impersonation): User {
  let refusal: ApiError | undefined
  for (const mode of modes) {
    if (!mode.isFor(asked, requester)) continue
    const user = mode.name === 'associated-node' ? withoutNode(requester) : requester
    try {
      authorize(user, { ...request, verb: `impersonate-on:${mode.name}:${request.verb}` })
      return authorized({ authorize, requester: user, mode: mode.name, verb: `impersonate:${mode.name}` }, asked)
    } catch (error) {
      refusal ??= refusedBy(error)
    }
  }
  try {
    return authorized({ authorize, requester, mode: undefined, verb: 'impersonate' }, asked)
  } catch (error) {
    throw refusal ?? refusedBy(error)
  }
}

type ModeName = 'associated-node' | 'arbitrary-node' | 'serviceaccount' | 'user-info'

interface Mode {
  readonly name: ModeName
  isFor(asked: AskedUser, requester: User): boolean
}

const modes: readonly Mode[] = [
  { name: 'associated-node', isFor: (asked, requester) => hasNameAlone(asked) && isOnNode(requester, asked.name) },
  { name: 'arbitrary-node', isFor: (asked) => hasNameAlone(asked) && nodeNameOf(asked.name) !== undefined },
  { name: 'serviceaccount', isFor: (asked) => hasNameAlone(asked) && accountOf(asked.name) !== undefined },
  {
    name: 'user-info',
    isFor: ({ name }) => nodeNameOf(name) === undefined && accountOf(name) === undefined,
  },
]

/** An error of authorization; throws what is none. */
function refusedBy(error: unknown): ApiError {
  if (error instanceof ApiError && error.code === 403) return error
  throw error
}

interface Attempt {
  readonly authorize: Authorize
  readonly requester: User
  /** Undefined where one may do whatever the user may. */
  readonly mode: ModeName | undefined
  readonly verb: string
}

/** The user that was asked for, whom the requester may be in every part. */
function authorized(attempt: Attempt, asked: AskedUser): User {
  authorizeName(attempt, asked.name)
  if (asked.uid !== '') authorizePart(attempt, authenticationGroup, 'uids', asked.uid)
  authorizeGroups(attempt, asked.groups)
  authorizeExtra(attempt, asked.extra)
  return {
    name: asked.name,
    groups: allGroups(attempt, asked),
    ...(asked.uid === '' ? {} : { uid: asked.uid }),
    ...(asked.extra.size === 0 ? {} : { extra: Object.fromEntries(asked.extra) }),
  }
}

/** The groups a user is in: those asked for, and those that come with a name. */
function allGroups({ mode }: Attempt, { name, groups: asked }: AskedUser): readonly string[] {
  const namespace = asked.length === 0 ? accountOf(name)?.namespace : undefined
  const isNode = mode !== undefined && nodeNameOf(name) !== undefined
  const groups = isNode
    ? ['system:nodes']
    : namespace === undefined
      ? [...new Set(asked)]
      : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
  if (groups.includes('system:unauthenticated')) return groups
  if (name === 'system:anonymous') return [...groups, 'system:unauthenticated']
  return groups.includes('system:authenticated') ? groups : [...groups, 'system:authenticated']
}

function authorizeName(attempt: Attempt, name: string): void {
  const account = accountOf(name)
  const node = attempt.mode === undefined ? undefined : nodeNameOf(name)
  const group = groupOfNames(attempt)
  if (account !== undefined) authorizePart(attempt, group, 'serviceaccounts', account.name, account)
  else if (node === undefined) authorizePart(attempt, group, 'users', name)
  // Whoever may be the node that it is on may be so wherever it is.
  else authorizePart(attempt, group, 'nodes', attempt.mode === 'associated-node' ? '*' : node)
}

/** From so many on the constrained modes first ask whether all are allowed. */
const manyMin = 4

function authorizeGroups(attempt: Attempt, groups: readonly string[]): void {
  const group = groupOfNames(attempt)
  if (attempt.mode !== undefined) {
    if (groups.includes(''))
      throw refused(attempt, group, 'groups', '', 'impersonating the empty string group is not allowed')
    if (groups.includes(masters)) {
      throw refused(attempt, group, 'groups', masters, `impersonating the ${masters} group is not allowed`)
    }
    if (groups.length >= manyMin && isAllowed(() => authorizePart(attempt, group, 'groups', '*'))) return
  }
  for (const each of groups) authorizePart(attempt, group, 'groups', each)
}

const masters = 'system:masters'

function authorizeExtra(attempt: Attempt, extra: AskedUser['extra']): void {
  if (attempt.mode !== undefined) {
    const problem = extraProblem(extra)
    if (problem !== undefined) throw refused(attempt, authenticationGroup, 'userextras', '', problem)
    const count = [...extra.values()].reduce((sum, values) => sum + values.length, 0)
    const everything = { subresource: '*' }
    if (count >= manyMin && isAllowed(() => authorizePart(attempt, authenticationGroup, 'userextras', '*', everything)))
      return
  }
  for (const [key, values] of extra) {
    for (const value of values) authorizePart(attempt, authenticationGroup, 'userextras', value, { subresource: key })
  }
}

/** Why the constrained modes let nobody have such fields. */
function extraProblem(extra: AskedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed'
    const [error] = checkDomainPrefixedPath(key, FieldPath.of('extra', 'key'))
    if (error !== undefined) return `impersonating an invalid key in extra is not allowed: ${describeFieldError(error)}`
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`
    }
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed'
  }
  return undefined
}

function isAllowed(judge: () => void): boolean {
  try {
    judge()
    return true
  } catch (error) {
    refusedBy(error)
    return false
  }
}

const authenticationGroup = 'authentication.k8s.io'

/** The API group of names and of groups, which are older in the mode that is not constrained. */
const groupOfNames = ({ mode }: Attempt): string => (mode === undefined ? '' : authenticationGroup)

interface Place {
  readonly namespace?: string
  readonly subresource?: string
}

function authorizePart(attempt: Attempt, group: string, plural: string, name: string, place: Place = {}): void {
  attempt.authorize(attempt.requester, partAttributes(attempt, group, plural, name, place))
}

const refused = (attempt: Attempt, group: string, plural: string, name: string, why: string): ApiError =>
  refusalOf(attempt.requester, partAttributes(attempt, group, plural, name, {}), why)

const partAttributes = (
  { verb }: Attempt,
  group: string,
  plural: string,
  name: string,
  { namespace = '', subresource = '' }: Place,
): RequestAttributes => ({
  kind: 'resource',
  verb,
  resource: { group, version: 'v1', kind: '', plural, namespaced: namespace !== '' },
  subresource,
  namespace,
  name,
})

const hasNameAlone = ({ groups, uid, extra }: AskedUser): boolean =>
  groups.length === 0 && uid === '' && extra.size === 0

/** The account that a user is; undefined for others. */
function accountOf(user: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? []
  if (namespace === undefined || name === undefined) return undefined
  const isOne =
    checkFormat('dns1123-label', namespace).length === 0 && checkFormat('dns1123-subdomain', name).length === 0
  return isOne ? { namespace, name } : undefined
}

const nodePrefix = 'system:node:'

/** The node whose agent a user is; undefined for others. */
function nodeNameOf(user: string): string | undefined {
  if (!user.startsWith(nodePrefix)) return undefined
  const name = user.slice(nodePrefix.length)
  return checkFormat('dns1123-subdomain', name).length === 0 ? name : undefined
}

/** Whether a user is the account of a pod on the node whose agent another is. */
function isOnNode(requester: User, agent: string): boolean {
  const node = nodeNameOf(agent)
  if (node === undefined || accountOf(requester.name) === undefined) return false
  const [name, ...others] = requester.extra?.['authentication.kubernetes.io/node-name'] ?? []
  return others.length === 0 && name === node
}

/** An account as it is on any node: what else is known of it are the names of that. */
const withoutNode = (requester: User): User => ({
  ...requester,
  extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(requester.extra ?? {}).sort() },
})
