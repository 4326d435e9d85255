import {
  clusterRoleBindings,
  clusterRoles,
  type KubernetesObject,
  type PolicyRule,
  type Resource,
  roleBindings,
  roles,
} from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { User } from '../../request.ts'
import { refusal, startTestCore } from '../../testing/test-core.ts'
import { type RuleLine, rulesOf } from './policy/rule-lines.ts'

const apiVersion = 'rbac.authorization.k8s.io/v1'
const apiGroup = 'rbac.authorization.k8s.io'
const eve: User = { name: 'eve', groups: ['dev', 'system:authenticated'] }
const namespace = 'default'

/** To write roles and bindings, but not to give away more by them than one has. */
const writing: RuleLine = 'read,write rbac.authorization.k8s.io roles,clusterroles,rolebindings,clusterrolebindings'
const reading: RuleLine = 'read core pods'

/** A cluster in which eve may do this everywhere. */
async function cluster(...allowed: readonly RuleLine[]) {
  const { core, client: admin } = await startTestCore({ authorizer: 'default' })
  const own: KubernetesObject = { apiVersion, kind: 'ClusterRole', metadata: { name: 'eves' } }
  await admin.create(clusterRoles, { ...own, rules: rulesOf([writing, ...allowed]) } as never)
  await admin.create(clusterRoleBindings, clusterBinding('eves', 'eves', 'eve') as never)
  return { admin, client: core.client(eve) }
}

const role = (lines: readonly RuleLine[] | readonly PolicyRule[], metadata: object = {}) => ({
  apiVersion,
  kind: 'Role',
  metadata: { name: 'r', namespace, ...metadata },
  rules: lines.map((line) => (typeof line === 'string' ? rulesOf([line])[0] : line)),
})
const clusterRole = (lines: readonly RuleLine[], more: object = {}) => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name: 'r' },
  rules: rulesOf(lines),
  ...more,
})
const binding = (name: string, kind: string, roleName: string, metadata: object = {}) => ({
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name, namespace, ...metadata },
  roleRef: { apiGroup, kind, name: roleName },
  subjects: [{ kind: 'User', apiGroup, name: 'adam' }],
})
const clusterBinding = (name: string, roleName: string, user = 'adam') => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup, kind: 'ClusterRole', name: roleName },
  subjects: [{ kind: 'User', apiGroup, name: user }],
})

const notHeld = (kind: string, name: string, ...lines: readonly string[]) =>
  `${kind}.rbac.authorization.k8s.io "${name}" is forbidden: user "eve" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`

const created = (client: Awaited<ReturnType<typeof cluster>>['client'], resource: Resource, object: object) =>
  client.create(resource as Resource<KubernetesObject>, object as KubernetesObject)

describe('who writes a role', () => {
  it('has what it grants', async () => {
    const { client } = await cluster(reading)
    await created(client, roles, role([reading]))
    await created(client, clusterRoles, clusterRole(['list core pods one']))
  })

  it('or is told what is missing, each resource with all verbs', async () => {
    const { client } = await cluster('get core pods')
    const wanted = role(['get,list,delete core pods', 'create core,apps deployments', 'get core secrets one'])
    expect(await refusal(created(client, roles, wanted))).toEqual({
      code: 403,
      reason: 'Forbidden',
      message: notHeld(
        'roles',
        'r',
        '{APIGroups:[""], Resources:["deployments"], Verbs:["create"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "list"]}',
        '{APIGroups:[""], Resources:["secrets"], ResourceNames:["one"], Verbs:["get"]}',
        '{APIGroups:["apps"], Resources:["deployments"], Verbs:["create"]}',
      ),
    })
    expect((await refusal(created(client, clusterRoles, clusterRole(['get,post url /metrics'])))).message).toBe(
      notHeld(
        'clusterroles',
        'r',
        '{NonResourceURLs:["/metrics"], Verbs:["get"]}',
        '{NonResourceURLs:["/metrics"], Verbs:["post"]}',
      ),
    )
  })

  it('is told of roles that are bound and not there, which may have had it', async () => {
    const { admin, client } = await cluster()
    await created(admin, clusterRoleBindings, clusterBinding('gone', 'gone', 'eve'))
    expect((await refusal(created(client, roles, role([reading])))).message).toMatch(
      /; resolution errors: \[clusterroles\.rbac\.authorization\.k8s\.io "gone" not found\]$/,
    )
  })

  it('may have it in the namespace of the role alone, but not for a ClusterRole', async () => {
    const { admin, client } = await cluster()
    await created(admin, roleBindings, {
      ...binding('in', 'ClusterRole', 'view'),
      subjects: [{ kind: 'Group', apiGroup, name: 'dev' }],
    })
    await created(client, roles, role([reading]))
    expect(await refusal(created(client, clusterRoles, clusterRole([reading])))).toMatchObject({ code: 403 })
    expect(await refusal(created(client, roles, role([reading], { namespace: 'kube-public' })))).toMatchObject({
      code: 403,
    })
  })

  it('or may escalate, or is of system:masters', async () => {
    const { admin, client } = await cluster('escalate rbac.authorization.k8s.io roles')
    await created(client, roles, role(['* * *']))
    expect(await refusal(created(client, clusterRoles, clusterRole(['* * *'])))).toMatchObject({ code: 403 })
    await created(admin, clusterRoles, clusterRole(['* * *']))
  })

  it('needs it for each change, by whatever request, but not to let go of owners and finalizers', async () => {
    const { admin, client } = await cluster()
    await created(admin, roles, role([reading], { finalizers: ['example.com/hold'] }))
    const key = { namespace, name: 'r' }
    const body = { metadata: { labels: { a: 'b' } } }
    expect((await refusal(client.patch(roles, key, { type: 'merge', body }))).message).toBe(
      notHeld('roles', 'r', '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "watch"]}'),
    )
    const applied = { ...role(['delete core pods']), metadata: key }
    expect(await refusal(client.apply(roles, applied as never, { fieldManager: 'eve', force: true }))).toMatchObject({
      code: 403,
    })
    const freed = { metadata: { finalizers: null } }
    expect((await client.patch(roles, key, { type: 'merge', body: freed })).metadata.finalizers).toBeUndefined()
    const less = await client.update(roles, { ...role([]), metadata: key } as never)
    expect(less.rules ?? []).toEqual([])
  })

  it('needs everything for a role that is put together from others', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] }
    const { client } = await cluster(reading)
    expect((await refusal(created(client, clusterRoles, clusterRole([], { aggregationRule })))).message).toBe(
      'clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    )
    const { client: almighty } = await cluster('* * *', '* url *')
    await created(almighty, clusterRoles, clusterRole([], { aggregationRule }))
  })
})

describe('who writes a binding', () => {
  it('has what its role grants', async () => {
    const { admin, client } = await cluster(reading)
    await created(admin, roles, role([reading]))
    await created(admin, clusterRoles, clusterRole([reading]))
    await created(client, roleBindings, binding('a', 'Role', 'r'))
    await created(client, roleBindings, binding('b', 'ClusterRole', 'r'))
    await created(client, clusterRoleBindings, clusterBinding('c', 'r'))
  })

  it('or is told what is missing', async () => {
    const { admin, client } = await cluster()
    await created(admin, clusterRoles, clusterRole([reading]))
    const missing = '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list" "watch"]}'
    expect((await refusal(created(client, clusterRoleBindings, clusterBinding('c', 'r')))).message).toBe(
      notHeld('clusterrolebindings', 'c', missing),
    )
    expect((await refusal(created(client, roleBindings, binding('b', 'ClusterRole', 'r')))).message).toBe(
      notHeld('rolebindings', 'b', missing),
    )
  })

  it('or may bind that role, there', async () => {
    const { admin, client } = await cluster('bind rbac.authorization.k8s.io clusterroles r')
    await created(admin, clusterRoles, clusterRole([reading]))
    await created(client, clusterRoleBindings, clusterBinding('c', 'r'))
    expect(await refusal(created(client, clusterRoleBindings, clusterBinding('d', 'cluster-admin')))).toMatchObject({
      code: 403,
    })
    await created(admin, roles, role([reading]))
    expect(await refusal(created(client, roleBindings, binding('a', 'Role', 'r')))).toMatchObject({ code: 403 })
  })

  it('needs it for a change of its subjects too', async () => {
    const { admin, client } = await cluster()
    await created(admin, clusterRoles, clusterRole([reading]))
    await created(admin, clusterRoleBindings, clusterBinding('c', 'r'))
    const more = clusterBinding('c', 'r', 'eve')
    expect(await refusal(client.update(clusterRoleBindings, more as never))).toMatchObject({ code: 403 })
  })

  it('names a role that is there, unless they may bind any', async () => {
    const { client } = await cluster()
    expect(await refusal(created(client, roleBindings, binding('a', 'ClusterRole', 'gone')))).toEqual({
      code: 404,
      reason: 'NotFound',
      message: 'clusterroles.rbac.authorization.k8s.io "gone" not found',
    })
    const { client: binder } = await cluster('bind rbac.authorization.k8s.io clusterroles,roles')
    await created(binder, roleBindings, binding('a', 'ClusterRole', 'gone'))
  })

  it('is told of mistakes whatever they may', async () => {
    const { client } = await cluster()
    expect(await refusal(created(client, roleBindings, binding('a', 'Robot', 'r')))).toMatchObject({ code: 422 })
  })
})
