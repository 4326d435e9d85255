import {
  type ClusterRole,
  type ClusterRoleBinding,
  clusterRoleBindings,
  clusterRoles,
  type KubernetesObject,
  type Resource,
  roleBindings,
  roles,
} from '@coracle/api'
import type { Store } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { startTestCore } from '../../testing/test-core.ts'
import { defaultPolicy } from './policy/default-policy.ts'

const started = (store: Store) => startTestCore({ authorizer: 'default', store })

/** A store that a cluster has used, after `change`. */
async function used(change: (client: Awaited<ReturnType<typeof started>>['client']) => Promise<unknown>) {
  const store = createMemoryStore()
  const { core, client } = await started(store)
  await change(client)
  await core.close()
  return started(store)
}

const view = { name: 'view' }
const publicInfo = { name: 'system:public-info-viewer' }

describe('the default roles and bindings', () => {
  it('are there when the server is ready, made in a few transactions, and why is on record', async () => {
    const store = createMemoryStore()
    const { client, core } = await started(store)
    const names = async (resource: Resource) =>
      (await client.list(resource)).items.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`)
    const policy = defaultPolicy()
    const wanted = (objects: readonly KubernetesObject[]) =>
      objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`).sort()
    expect((await names(clusterRoles)).sort()).toEqual(wanted(policy.clusterRoles))
    expect((await names(clusterRoleBindings)).sort()).toEqual(wanted(policy.clusterRoleBindings))
    expect((await names(roles)).sort()).toEqual(wanted(policy.roles))
    expect((await names(roleBindings)).sort()).toEqual(wanted(policy.roleBindings))
    const { items } = await client.list(clusterRoles)
    expect(new Set(items.map(({ metadata }) => metadata.resourceVersion)).size).toBeLessThanOrEqual(2)
    expect(new Set(items.map(({ metadata }) => metadata.uid)).size).toBe(items.length)
    const { causes } = await (await core.causes()).list({ name: 'root', groups: ['system:masters'] }, {})
    expect(causes.some(({ because }) => because === 'every cluster has these roles and bindings')).toBe(true)
  })

  it('are owned by the server, as whatever it writes', async () => {
    const { registry } = await started(createMemoryStore())
    const { withManagedFields } = await registry(clusterRoleBindings).get('', 'cluster-admin')
    expect(withManagedFields.metadata.managedFields).toEqual([
      {
        manager: 'coracle',
        operation: 'Update',
        apiVersion: 'rbac.authorization.k8s.io/v1',
        time: '2026-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: {
          'f:metadata': {
            'f:annotations': { '.': {}, 'f:rbac.authorization.kubernetes.io/autoupdate': {} },
            'f:labels': { '.': {}, 'f:kubernetes.io/bootstrapping': {} },
          },
          'f:roleRef': {},
          'f:subjects': {},
        },
      },
    ])
  })

  it('have the rules of roles that are put together from others owned by the controller that does so', async () => {
    const { registry } = await started(createMemoryStore())
    const { withManagedFields } = await registry(clusterRoles).get('', 'view')
    const common = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      time: '2026-01-01T00:00:00Z',
      fieldsType: 'FieldsV1',
    }
    const labels = ['kubernetes.io/bootstrapping', 'rbac.authorization.k8s.io/aggregate-to-edit']
    expect(withManagedFields.metadata.managedFields).toEqual([
      {
        ...common,
        manager: 'clusterrole-aggregation-controller',
        operation: 'Apply',
        fieldsV1: { 'f:rules': {} },
      },
      {
        ...common,
        manager: 'coracle',
        operation: 'Update',
        fieldsV1: {
          'f:aggregationRule': { '.': {}, 'f:clusterRoleSelectors': {} },
          'f:metadata': {
            'f:annotations': { '.': {}, 'f:rbac.authorization.kubernetes.io/autoupdate': {} },
            'f:labels': { '.': {}, ...Object.fromEntries(labels.map((label) => [`f:${label}`, {}])) },
          },
        },
      },
    ])
  })

  it('are left as they are by a later start: nothing is written', async () => {
    const store = createMemoryStore()
    const { core } = await started(store)
    await core.close()
    const before = await store.latest()
    await started(store)
    expect(await store.latest()).toBe(before)
  })

  it('get back what they lack, and keep what somebody has added', async () => {
    const extra = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
    const { client } = await used(async (first) => {
      const role: ClusterRole = await first.get(clusterRoles, { name: 'system:node-bootstrapper' })
      await first.update(clusterRoles, {
        ...role,
        metadata: { ...role.metadata, labels: { team: 'a' } },
        rules: [extra],
      })
      const binding: ClusterRoleBinding = await first.get(clusterRoleBindings, publicInfo)
      const eve = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }
      await first.update(clusterRoleBindings, { ...binding, subjects: [eve] })
      await first.delete(clusterRoles, { name: 'system:discovery' })
    })
    const role = await client.get(clusterRoles, { name: 'system:node-bootstrapper' })
    expect(role.rules?.[0]).toEqual(extra)
    expect(role.rules?.length).toBeGreaterThan(1)
    expect(role.metadata.labels).toEqual({ team: 'a', 'kubernetes.io/bootstrapping': 'rbac-defaults' })
    const { subjects } = await client.get(clusterRoleBindings, publicInfo)
    expect(subjects?.map(({ name }) => name)).toEqual(['eve', 'system:authenticated', 'system:unauthenticated'])
    expect((await client.get(clusterRoles, { name: 'system:discovery' })).rules).toHaveLength(1)
  })

  it('stay as somebody wants them who says so', async () => {
    const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
    const { client } = await used(async (first) => {
      const binding: ClusterRoleBinding = await first.get(clusterRoleBindings, publicInfo)
      const { subjects: _subjects, ...rest } = binding
      await first.update(clusterRoleBindings, { ...rest, metadata: { ...rest.metadata, annotations } })
    })
    expect((await client.get(clusterRoleBindings, publicInfo)).subjects).toBeUndefined()
  })

  it('are made anew where a binding gives another role', async () => {
    const { client } = await used(async (first) => {
      const { metadata, ...binding } = await first.get(clusterRoleBindings, publicInfo)
      await first.delete(clusterRoleBindings, publicInfo)
      const roleRef = { ...binding.roleRef, name: 'cluster-admin' }
      await first.create(clusterRoleBindings, { ...binding, metadata: publicInfo, roleRef })
      return metadata
    })
    expect((await client.get(clusterRoleBindings, publicInfo)).roleRef.name).toBe('system:public-info-viewer')
  })

  it('have the rules of a role that is put together from others left to its controller', async () => {
    const { client } = await used(async (first) => {
      const role: ClusterRole = await first.get(clusterRoles, view)
      await first.update(clusterRoles, { ...role, rules: [] })
    })
    expect((await client.get(clusterRoles, view)).rules ?? []).toEqual([])
  })

  it('are made once by two servers that start on one store', async () => {
    const store = createMemoryStore()
    const [first, second] = await Promise.all([started(store), started(store)])
    const count = defaultPolicy().clusterRoles.length
    for (const { client } of [first, second]) expect((await client.list(clusterRoles)).items).toHaveLength(count)
  })
})
