import { describe, expect, it } from 'vitest'
import type { RequestAttributes, User } from '../request.ts'
import { type Authorize, actAs } from './acting-as.ts'
import { refusalOf } from './authorize.ts'
import type { AskedUser } from './impersonation.ts'

const bob: User = { name: 'bob', groups: ['system:authenticated'] }
const pods = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true }
const listPods: RequestAttributes = {
  kind: 'resource',
  verb: 'list',
  resource: pods,
  subresource: '',
  namespace: '',
  name: '',
}
const nodeKey = 'authentication.kubernetes.io/node-name'
const agent: User = { name: 'system:serviceaccount:team:agent', groups: [], extra: { [nodeKey]: ['n1'], more: ['x'] } }

const asking = (name: string, rest: Partial<AskedUser> = {}): AskedUser => ({
  name,
  groups: [],
  uid: '',
  extra: new Map(),
  ...rest,
})

function textOf(attributes: RequestAttributes): string {
  if (attributes.kind === 'path') return `${attributes.verb} ${attributes.path}`
  const { verb, resource, subresource, namespace, name } = attributes
  const what = [resource.plural, subresource].filter(Boolean).join('/')
  return [verb, resource.group, what, namespace, name].filter(Boolean).join(' ')
}

/** Allows what begins with one of some texts, and notes whatever it is asked. */
function judge(...allowed: readonly string[]) {
  const questions: string[] = []
  const users: User[] = []
  const authorize: Authorize = (user, attributes) => {
    const text = textOf(attributes)
    questions.push(text)
    users.push(user)
    if (!allowed.some((each) => text.startsWith(each))) throw refusalOf(user, attributes, '')
  }
  const act = (asked: AskedUser, requester = bob, request = listPods) => actAs(authorize, { requester, asked, request })
  const why = (asked: AskedUser, requester = bob, request = listPods) => {
    try {
      act(asked, requester, request)
    } catch (error) {
      return (error as Error).message
    }
    throw new Error('was allowed')
  }
  return { act, why, questions, users }
}

describe('acting as a user', () => {
  it('needs a right to be that user, and one to be so for the request', () => {
    const all = judge('impersonate:user-info authentication.k8s.io users eve', 'impersonate-on:user-info:list pods')
    expect(all.act(asking('eve'))).toEqual({ name: 'eve', groups: ['system:authenticated'] })
    expect(all.questions).toEqual([
      'impersonate-on:user-info:list pods',
      'impersonate:user-info authentication.k8s.io users eve',
    ])
    expect(judge().why(asking('eve'))).toBe(
      'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope',
    )
    expect(judge('impersonate-on:').why(asking('eve'))).toBe(
      'users.authentication.k8s.io "eve" is forbidden: User "bob" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
    )
  })

  it('needs a right for a path', () => {
    const one = judge('impersonate:user-info')
    expect(one.why(asking('eve'), bob, { kind: 'path', verb: 'get', path: '/version' })).toBe(
      'forbidden: User "bob" cannot impersonate-on:user-info:get path "/version"',
    )
  })

  it('needs a right for each thing it asks for', () => {
    const extra = new Map([['acme.com/scopes', ['view', 'edit']]])
    const asked = asking('eve', { groups: ['a'], uid: '42', extra })
    const constrained = judge('impersonate-on:user-info:list pods', 'impersonate:user-info')
    const group = 'authentication.k8s.io'
    expect(constrained.act(asked)).toEqual({
      name: 'eve',
      groups: ['a', 'system:authenticated'],
      uid: '42',
      extra: { 'acme.com/scopes': ['view', 'edit'] },
    })
    expect(constrained.questions.slice(1)).toEqual(
      ['users eve', 'uids 42', 'groups a', 'userextras/acme.com/scopes view', 'userextras/acme.com/scopes edit'].map(
        (each) => `impersonate:user-info ${group} ${each}`,
      ),
    )
    const old = judge('impersonate ')
    old.act(asked)
    expect(old.questions.slice(1)).toEqual([
      'impersonate users eve',
      `impersonate ${group} uids 42`,
      'impersonate groups a',
      `impersonate ${group} userextras/acme.com/scopes view`,
      `impersonate ${group} userextras/acme.com/scopes edit`,
    ])
  })

  it('asks once for many groups or extra fields, and one by one where that is refused', () => {
    const groups = ['a', 'b', 'c', 'd']
    const extra = new Map([['acme.com/scopes', groups]])
    const once = judge('impersonate-on:', 'impersonate:user-info')
    once.act(asking('eve', { groups, extra }))
    expect(once.questions.slice(2)).toEqual([
      'impersonate:user-info authentication.k8s.io groups *',
      'impersonate:user-info authentication.k8s.io userextras/* *',
    ])
    const each = judge(
      'impersonate-on:',
      'impersonate:user-info authentication.k8s.io users',
      ...groups.map((name) => `impersonate:user-info authentication.k8s.io groups ${name}`),
    )
    expect(each.act(asking('eve', { groups })).groups).toEqual([...groups, 'system:authenticated'])
  })

  it.each<[rest: Partial<AskedUser>, why: string]>([
    [{ groups: ['system:masters'] }, 'impersonating the system:masters group is not allowed'],
    [{ groups: ['a', ''] }, 'impersonating the empty string group is not allowed'],
    [{ extra: new Map([['', ['x']]]) }, 'impersonating the empty string key in extra is not allowed'],
    [
      { extra: new Map([['scopes', ['x']]]) },
      'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "scopes": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
    [
      { extra: new Map([['acme.com/A', ['x']]]) },
      'impersonating a non-lowercase key in extra is not allowed: "acme.com/A"',
    ],
    [{ extra: new Map([['acme.com/a', ['x', '']]]) }, 'impersonating the empty string value in extra is not allowed'],
  ])('takes the right that is not constrained for %j', (rest, why) => {
    expect(judge('impersonate-on:', 'impersonate:').why(asking('eve', rest))).toContain(`at the cluster scope: ${why}`)
    expect(judge('impersonate').act(asking('eve', rest)).name).toBe('eve')
  })
})

describe('acting as a service account', () => {
  const account = asking('system:serviceaccount:team:bot')

  it('has rights of its own, and comes with its groups', () => {
    const one = judge('impersonate-on:serviceaccount:list pods', 'impersonate:serviceaccount')
    expect(one.act(account).groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:team',
      'system:authenticated',
    ])
    expect(one.questions).toEqual([
      'impersonate-on:serviceaccount:list pods',
      'impersonate:serviceaccount authentication.k8s.io serviceaccounts team bot',
    ])
    expect(() => judge('impersonate-on:user-info', 'impersonate:user-info').act(account)).toThrow('serviceaccount:list')
  })

  it('with more than its name is not constrained', () => {
    const one = judge('impersonate')
    expect(one.act({ ...account, groups: ['a'] }).groups).toEqual(['a', 'system:authenticated'])
    expect(one.questions).toEqual(['impersonate serviceaccounts team bot', 'impersonate groups a'])
  })

  it('is a user like others where its name could be none of an account', () => {
    const one = judge('impersonate-on:user-info', 'impersonate:user-info')
    expect(one.act(asking('system:serviceaccount:team:No_Account')).groups).toEqual(['system:authenticated'])
  })
})

describe('acting as a node', () => {
  it('has rights of its own, and comes with the group of nodes', () => {
    const one = judge('impersonate-on:arbitrary-node:list pods', 'impersonate:arbitrary-node')
    expect(one.act(asking('system:node:n1'))).toEqual({
      name: 'system:node:n1',
      groups: ['system:nodes', 'system:authenticated'],
    })
    expect(one.questions[1]).toBe('impersonate:arbitrary-node authentication.k8s.io nodes n1')
    const old = judge('impersonate ')
    expect(old.act(asking('system:node:n1')).groups).toEqual(['system:authenticated'])
    expect(old.questions.at(-1)).toBe('impersonate users system:node:n1')
  })

  it('is for accounts of pods of that node by one right for whatever node it is', () => {
    const one = judge('impersonate-on:associated-node:list pods', 'impersonate:associated-node')
    expect(one.act(asking('system:node:n1'), agent).groups).toEqual(['system:nodes', 'system:authenticated'])
    expect(one.questions).toEqual([
      'impersonate-on:associated-node:list pods',
      'impersonate:associated-node authentication.k8s.io nodes *',
    ])
    const keys = { 'authentication.kubernetes.io/associated-node-keys': [nodeKey, 'more'] }
    expect(one.users.map(({ extra }) => extra)).toEqual([keys, keys])
  })

  it.each<[who: string, requester: User]>([
    ['who is no account', { ...agent, name: 'agent' }],
    ['an account on another node', { ...agent, extra: { [nodeKey]: ['n2'] } }],
    ['an account that is not on a node', { ...agent, extra: {} }],
  ])('is not for %s', (_, requester) => {
    expect(
      judge('impersonate-on:associated', 'impersonate:associated').why(asking('system:node:n1'), requester),
    ).toContain('cannot impersonate-on:arbitrary-node:list')
  })
})

describe('the groups of who is acted as', () => {
  it.each<[name: string, groups: string[], all: string[]]>([
    ['eve', ['system:unauthenticated'], ['system:unauthenticated']],
    ['eve', ['system:authenticated', 'a'], ['system:authenticated', 'a']],
    ['system:anonymous', ['a'], ['a', 'system:unauthenticated']],
    ['system:anonymous', [], ['system:unauthenticated']],
  ])('%s with %j', (name, groups, all) => {
    expect(judge('impersonate').act(asking(name, { groups })).groups).toEqual(all)
  })
})

it('tells of errors that are no refusals', () => {
  const broken: Authorize = () => {
    throw new Error('broken')
  }
  expect(() => actAs(broken, { requester: bob, asked: asking('eve'), request: listPods })).toThrow('broken')
})
