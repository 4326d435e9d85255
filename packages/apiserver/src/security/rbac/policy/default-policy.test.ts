import { builtinKinds, compile, type KubernetesObject } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { defaultPolicy } from './default-policy.ts'
import { rulesOf } from './rule-lines.ts'

const { clusterRoles, clusterRoleBindings, roles, roleBindings } = defaultPolicy()
const role = (name: string) => clusterRoles.find(({ metadata }) => metadata.name === name)
const isOwn = ({ metadata: { name = '' } }: KubernetesObject) => name.startsWith('coracle:')

describe('the default roles', () => {
  it('are those of upstream, and a few of this program', () => {
    const ofUpstream = (objects: readonly KubernetesObject[]) => objects.filter((object) => !isOwn(object)).length
    const counts = [
      ofUpstream(clusterRoles),
      ofUpstream(clusterRoleBindings),
      ofUpstream(roles),
      ofUpstream(roleBindings),
    ]
    expect(counts).toEqual([69, 50, 7, 7])
    expect(clusterRoles.filter(isOwn).map(({ metadata }) => metadata.name)).toEqual(
      clusterRoleBindings
        .filter(isOwn)
        .flatMap(({ roleRef }) => (roleRef.name.startsWith('coracle:') ? roleRef.name : [])),
    )
  })

  it('let those lead that want to, by leases and as candidates', () => {
    const leader = roles.find(({ metadata }) => metadata.name === 'system::leader-locking-kube-scheduler')
    expect(leader?.rules?.map(({ resources, verbs }) => [resources, verbs])).toEqual([
      [['leases'], ['create', 'get', 'list', 'update', 'watch']],
      [['leasecandidates'], ['create', 'get', 'list', 'update', 'watch']],
    ])
  })

  it('say that they are', () => {
    for (const { metadata } of [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings]) {
      expect(metadata.labels).toMatchObject({ 'kubernetes.io/bootstrapping': 'rbac-defaults' })
      expect(metadata.annotations).toEqual({ 'rbac.authorization.kubernetes.io/autoupdate': 'true' })
    }
  })

  it.each(['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'] as const)(
    'are valid, and as a request would have them stored: %s',
    (plural) => {
      const kind = builtinKinds.find((each) => each.plural === plural)
      if (kind === undefined) throw new Error(`no ${plural}`)
      const objects = {
        clusterroles: clusterRoles,
        clusterrolebindings: clusterRoleBindings,
        roles,
        rolebindings: roleBindings,
      }
      for (const object of objects[plural]) {
        const compiled = compile(kind.schema)
        const { value, warnings } = compiled.decode(object, { fieldValidation: 'Warn' })
        const defaulted = compiled.applyDefaults(value)
        expect(kind.applyDefaults?.(defaulted as never) ?? defaulted).toEqual(object)
        expect(warnings).toEqual([])
        expect(kind.strategy.validate?.(object as never, kind.version)).toEqual([])
      }
    },
  )

  it('have each a role that is there', () => {
    for (const { roleRef } of clusterRoleBindings) expect(role(roleRef.name)).toBeDefined()
    for (const { metadata, roleRef } of roleBindings) {
      const isMeant = (each: (typeof roles)[number]) =>
        each.metadata.name === roleRef.name && each.metadata.namespace === metadata.namespace
      expect(roles.some(isMeant)).toBe(true)
    }
  })

  it('are written as upstream writes them', () => {
    expect(role('system:node-problem-detector')?.rules).toEqual([
      { verbs: ['get'], apiGroups: [''], resources: ['nodes'] },
      { verbs: ['patch'], apiGroups: [''], resources: ['nodes/status'] },
      { verbs: ['create', 'patch', 'update'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
    ])
    expect(role('cluster-admin')?.rules).toEqual([
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      { verbs: ['*'], nonResourceURLs: ['*'] },
    ])
    expect(role('system:controller:legacy-service-account-token-cleaner')?.rules?.[0]).toEqual({
      verbs: ['get'],
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['kube-apiserver-legacy-service-account-token-tracking'],
    })
  })

  it('of people are put together from others, and begin complete', () => {
    const count = (name: string) => role(name)?.rules?.length ?? 0
    expect(role('edit')?.aggregationRule).toEqual({
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' } }],
    })
    expect(role('edit')?.metadata.labels).toMatchObject({ 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' })
    expect(count('view')).toBe(count('system:aggregate-to-view'))
    expect(count('edit')).toBe(count('view') + count('system:aggregate-to-edit'))
    expect(count('admin')).toBe(count('edit') + count('system:aggregate-to-admin'))
  })

  it('bind each controller to its service account', () => {
    const binding = clusterRoleBindings.find(({ metadata }) => metadata.name === 'system:controller:job-controller')
    expect(binding).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: 'system:controller:job-controller' },
      subjects: [{ kind: 'ServiceAccount', name: 'job-controller', namespace: 'kube-system' }],
    })
  })
})

describe('a line of rules', () => {
  it.each([
    ['read,delete core pods', [{ verbs: ['delete', 'get', 'list', 'watch'], apiGroups: [''], resources: ['pods'] }]],
    [
      'change core,apps a,b/c n',
      [{ verbs: ['patch', 'update'], apiGroups: ['', 'apps'], resources: ['a', 'b/c'], resourceNames: ['n'] }],
    ],
    ['get url /a,/b/*', [{ verbs: ['get'], nonResourceURLs: ['/a', '/b/*'] }]],
  ])('%s', (line, rules) => {
    expect(rulesOf([line])).toEqual(rules)
  })
})
