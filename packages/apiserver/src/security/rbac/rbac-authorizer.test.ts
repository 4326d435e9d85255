import {
  type ClusterRole,
  clusterRoleBindings,
  clusterRoles,
  type PolicyRule,
  type Role,
  type RoleBinding,
  roleBindings,
  roles,
  ruleAllowsResource,
  type Subject,
} from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestAttributes, User } from '../../request.ts'
import { startTestCore } from '../../testing/test-core.ts'
import { createRbacAuthorizer } from './rbac-authorizer.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'

const reading: PolicyRule = { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }

const role = (name: string, rules: readonly PolicyRule[] = [reading], namespace = 'default'): Role => ({
  apiVersion,
  kind: 'Role',
  metadata: { name, namespace },
  rules,
})
const clusterRole = (name: string, rules: readonly PolicyRule[] = [reading]): ClusterRole => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
})
const user = (name: string): Subject => ({ kind: 'User', apiGroup, name })
const group = (name: string): Subject => ({ kind: 'Group', apiGroup, name })
const account = (name: string, namespace = ''): Subject => ({
  kind: 'ServiceAccount',
  name,
  ...(namespace === '' ? {} : { namespace }),
})
/** `ref` is `Role/name` or `ClusterRole/name`. */
function binding(name: string, ref: string, subjects: readonly Subject[], namespace = 'default'): RoleBinding {
  const [kind = '', roleName = ''] = ref.split('/')
  return {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup, kind, name: roleName },
    subjects,
  }
}
const clusterBinding = (name: string, roleName: string, subjects: readonly Subject[]) => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup, kind: 'ClusterRole', name: roleName },
  subjects,
})

const accessTo = (verb: string, namespace: string, name = '', plural = 'pods'): RequestAttributes => ({
  kind: 'resource',
  verb,
  resource: { group: '', version: 'v1', kind: 'Pod', plural, namespaced: true },
  subresource: '',
  namespace,
  name,
})

const eve: User = { name: 'eve', groups: ['system:authenticated'] }

async function started() {
  const { core, client } = await startTestCore()
  return { client, authorizer: createRbacAuthorizer(core.registries) }
}

describe('who is bound to a role', () => {
  it('may do what its rules say, where the binding is, from the moment that it is there until it is gone', async () => {
    const { client, authorizer } = await started()
    expect(authorizer.refuse(eve, accessTo('get', 'default'))).toBe('')
    await client.create(roles, role('reader'))
    await client.create(roleBindings, binding('readers', 'Role/reader', [user('eve')]))
    expect(authorizer.refuse(eve, accessTo('get', 'default'))).toBeUndefined()
    expect(authorizer.refuse(eve, accessTo('delete', 'default'))).toBe('')
    expect(authorizer.refuse(eve, accessTo('get', 'other'))).toBe('')
    expect(authorizer.refuse(eve, accessTo('list', ''))).toBe('')
    await client.delete(roleBindings, { namespace: 'default', name: 'readers' })
    expect(authorizer.refuse(eve, accessTo('get', 'default'))).toBe('')
  })

  it('may do what a changed role or binding says', async () => {
    const { client, authorizer } = await started()
    await client.create(clusterRoles, clusterRole('reader'))
    await client.create(clusterRoleBindings, clusterBinding('readers', 'reader', [user('eve')]))
    expect(authorizer.refuse(eve, accessTo('get', ''))).toBeUndefined()
    await client.update(clusterRoles, clusterRole('reader', [{ ...reading, verbs: ['list'] }]))
    expect(authorizer.refuse(eve, accessTo('get', ''))).toBe('')
    expect(authorizer.refuse(eve, accessTo('list', ''))).toBeUndefined()
    await client.update(clusterRoleBindings, clusterBinding('readers', 'reader', [user('adam')]))
    expect(authorizer.refuse(eve, accessTo('list', ''))).toBe('')
    expect(authorizer.refuse({ ...eve, name: 'adam' }, accessTo('list', 'any'))).toBeUndefined()
  })

  it('is a user, a member of a group, or a service account, whose namespace may be that of the binding', async () => {
    const { client, authorizer } = await started()
    await client.create(clusterRoles, clusterRole('reader'))
    const subjects = [user('eve'), group('auditors'), account('local'), account('remote', 'other')]
    await client.create(roleBindings, binding('readers', 'ClusterRole/reader', subjects))
    const may = (name: string, groups: readonly string[] = []) =>
      authorizer.refuse({ name, groups }, accessTo('get', 'default')) === undefined
    expect(
      ['eve', 'system:serviceaccount:default:local', 'system:serviceaccount:other:remote'].map((each) => may(each)),
    ).toEqual([true, true, true])
    expect(may('anybody', ['others', 'auditors'])).toBe(true)
    expect(['auditors', 'local', 'system:serviceaccount:other:local'].map((each) => may(each))).toEqual([
      false,
      false,
      false,
    ])
    expect(may('anybody', ['eve'])).toBe(false)
  })

  it('may list, watch or delete of a collection only what the names of a rule allow', async () => {
    const { client, authorizer } = await started()
    const named: PolicyRule = { ...reading, verbs: ['*'], resourceNames: ['web'] }
    await client.create(clusterRoles, clusterRole('of-web', [named]))
    await client.create(clusterRoleBindings, clusterBinding('of-web', 'of-web', [user('eve')]))
    expect(authorizer.refuse(eve, accessTo('get', 'default', 'web'))).toBeUndefined()
    expect(authorizer.refuse(eve, accessTo('list', 'default', 'web'))).toBeUndefined()
    for (const verb of ['list', 'watch', 'deletecollection', 'create']) {
      expect(authorizer.refuse(eve, accessTo(verb, 'default'))).toBe('')
    }
  })

  it('reads paths where a ClusterRoleBinding says so, and by no RoleBinding', async () => {
    const { client, authorizer } = await started()
    const health: RequestAttributes = { kind: 'path', verb: 'get', path: '/metrics' }
    await client.create(clusterRoles, clusterRole('metrics', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]))
    await client.create(roleBindings, binding('metrics', 'ClusterRole/metrics', [user('eve')]))
    expect(authorizer.refuse(eve, health)).toBe('')
    await client.create(clusterRoleBindings, clusterBinding('metrics', 'metrics', [user('eve')]))
    expect(authorizer.refuse(eve, health)).toBeUndefined()
    expect(authorizer.refuse(eve, { ...health, verb: 'post' })).toBe('')
  })
})

describe('a refusal', () => {
  it('names the roles that are bound and not there', async () => {
    const { client, authorizer } = await started()
    await client.create(clusterRoleBindings, clusterBinding('a', 'gone', [user('eve')]))
    expect(authorizer.refuse(eve, accessTo('get', 'default'))).toBe(
      'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    )
    await client.create(roleBindings, binding('b', 'Role/missing', [user('eve')]))
    await client.create(roleBindings, binding('c', 'Role/missing', [user('eve')]))
    expect(authorizer.refuse(eve, accessTo('get', 'default'))).toBe(
      'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "missing" not found]',
    )
    expect(authorizer.rulesFor?.(eve, 'default')).toMatchObject({
      error: expect.stringContaining('"missing" not found'),
    })
  })

  it('does not stand in the way of what another role allows', async () => {
    const { client, authorizer } = await started()
    await client.create(clusterRoleBindings, clusterBinding('a', 'gone', [user('eve')]))
    await client.create(roles, role('reader'))
    await client.create(roleBindings, binding('readers', 'Role/reader', [user('eve')]))
    expect(authorizer.refuse(eve, accessTo('get', 'default'))).toBeUndefined()
  })
})

describe('what is allowed', () => {
  it.each<[string, Subject, User, string]>([
    ['a user', user('eve'), eve, 'RoleBinding "readers/default" of Role "reader" to User "eve"'],
    [
      'a group',
      group('system:authenticated'),
      eve,
      'RoleBinding "readers/default" of Role "reader" to Group "system:authenticated"',
    ],
    [
      'a service account',
      account('robot'),
      { name: 'system:serviceaccount:default:robot', groups: [] },
      'RoleBinding "readers/default" of Role "reader" to ServiceAccount "robot/default"',
    ],
  ])('is allowed by a binding, which says so: %s', async (_, subject, who, by) => {
    const { client, authorizer } = await started()
    await client.create(roles, role('reader'))
    await client.create(roleBindings, binding('readers', 'Role/reader', [subject]))
    expect(authorizer.allowedBy?.(who, accessTo('get', 'default'))).toBe(`RBAC: allowed by ${by}`)
  })

  it('can be listed, each binding once', async () => {
    const { client, authorizer } = await started()
    await client.create(roles, role('reader'))
    const subjects = [user('eve'), group('system:authenticated')]
    await client.create(roleBindings, binding('readers', 'Role/reader', subjects))
    expect(authorizer.rulesFor?.(eve, 'default')).toEqual({ resources: [reading], paths: [] })
    expect(authorizer.rulesFor?.(eve, 'other')).toEqual({ resources: [], paths: [] })
  })
})

describe('the index of bindings', () => {
  const names = ['a', 'b', 'c']
  const namespaces = ['default', 'kube-public']
  const subjects = fc.subarray([user('a'), user('b'), group('g'), account('a'), account('b', 'kube-public')])
  const change = fc.record({
    name: fc.constantFrom(...names),
    namespace: fc.constantFrom('', ...namespaces),
    verb: fc.constantFrom('get', 'list'),
    /** Undefined: the binding goes. */
    subjects: fc.option(subjects, { nil: undefined }),
  })

  it('finds what a look at all bindings finds, whatever has happened to them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        const { client, authorizer } = await started()
        for (const verb of ['get', 'list'])
          await client.create(clusterRoles, clusterRole(verb, [{ ...reading, verbs: [verb] }]))
        const present = new Map<string, RoleBinding>()
        for (const { name, namespace, verb, subjects: wanted } of changes) {
          const resource = namespace === '' ? clusterRoleBindings : roleBindings
          const key = namespace === '' ? { name } : { namespace, name }
          const id = `${namespace}/${name}`
          // A role is given for good.
          if (present.has(id)) await client.delete(resource as typeof roleBindings, key)
          present.delete(id)
          if (wanted === undefined) continue
          const subjectsThere = wanted.filter(
            (each) => namespace !== '' || each.kind !== 'ServiceAccount' || each.namespace !== undefined,
          )
          const { metadata: _metadata, ...rest } = binding(name, `ClusterRole/${verb}`, subjectsThere)
          const kind = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
          const made = { ...rest, kind, metadata: key } as RoleBinding
          present.set(id, await client.create(resource as typeof roleBindings, made))
          // Asked in between, so that the index is there and has to follow.
          authorizer.refuse(eve, accessTo('get', 'default'))
        }
        for (const who of [
          { name: 'a', groups: [] },
          { name: 'b', groups: ['g'] },
          { name: 'system:serviceaccount:default:a', groups: [] },
          { name: 'system:serviceaccount:kube-public:b', groups: ['x'] },
        ]) {
          for (const namespace of ['', ...namespaces]) {
            for (const verb of ['get', 'list']) {
              const allowed = [...present.values()].some((each) => gives(each, who, verb, namespace))
              expect(authorizer.refuse(who, accessTo(verb, namespace)) === undefined).toBe(allowed)
            }
          }
        }
      }),
      { numRuns: 15 },
    )
  })
})

/** By looking at it. */
function gives({ metadata, roleRef, subjects = [] }: RoleBinding, who: User, verb: string, asked: string): boolean {
  const { namespace = '' } = metadata
  if (namespace !== '' && namespace !== asked) return false
  const access = { verb, group: '', plural: 'pods', subresource: '', name: '' }
  if (!ruleAllowsResource({ ...reading, verbs: [roleRef.name] }, access)) return false
  return subjects.some((each) => {
    if (each.kind === 'User') return each.name === who.name
    if (each.kind === 'Group') return who.groups.includes(each.name)
    return who.name === `system:serviceaccount:${each.namespace ?? namespace}:${each.name}`
  })
}
