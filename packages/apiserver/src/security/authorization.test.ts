import { configMaps, type Role, roles } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Authorizer, RequestAttributes, User } from '../request.ts'
import { refusal, startTestCore } from '../testing/test-core.ts'
import { takesAnonymous } from './authorization.ts'

const authenticated = 'system:authenticated'

/** Who may do what in a cluster as it begins. */
async function cluster(options: Parameters<typeof startTestCore>[0] = {}) {
  const { core } = await startTestCore({ authorizer: 'default', ...options })
  const isAllowed = (user: User, attributes: RequestAttributes): boolean => {
    try {
      core.authorize(user, attributes)
      return true
    } catch {
      return false
    }
  }
  const may = (user: string, groups: readonly string[], verb: string, what: string, name = ''): boolean => {
    const [resource = '', subresource = ''] = what.split('/')
    const [plural = '', ...group] = resource.split('.')
    return isAllowed(
      { name: user, groups },
      {
        kind: 'resource',
        verb,
        resource: { group: group.join('.'), version: 'v1', kind: '', plural, namespaced: true },
        subresource,
        namespace: 'default',
        name,
      },
    )
  }
  return {
    may,
    mayRead: (user: string, groups: readonly string[], path: string, verb = 'get') =>
      isAllowed({ name: user, groups }, { kind: 'path', verb, path }),
    controller: (name: string, verb: string, what: string, object = '') => {
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', authenticated]
      return may(`system:serviceaccount:kube-system:${name}`, groups, verb, what, object)
    },
  }
}

describe('a cluster as it begins', () => {
  it('lets system:masters do everything', async () => {
    const { may, mayRead } = await cluster()
    expect(may('root', ['system:masters'], 'deletecollection', 'secrets')).toBe(true)
    expect(mayRead('root', ['system:masters'], '/anything', 'post')).toBe(true)
  })

  it('lets nobody else do what no role allows', async () => {
    const { may } = await cluster()
    expect(may('eve', [authenticated], 'get', 'pods')).toBe(false)
    expect(may('system:anonymous', ['system:unauthenticated'], 'list', 'pods')).toBe(false)
    const account = ['system:serviceaccounts', 'system:serviceaccounts:default', authenticated]
    expect(may('system:serviceaccount:default:default', account, 'list', 'pods')).toBe(false)
    expect(may('system:serviceaccount:kube-system:unheard-of', [authenticated], 'list', 'pods')).toBe(false)
  })

  it('shows health and version to everyone, discovery to those who are known', async () => {
    const { may, mayRead } = await cluster()
    const anonymous = ['system:unauthenticated']
    for (const path of ['/healthz', '/livez', '/readyz', '/version']) {
      expect(mayRead('system:anonymous', anonymous, path)).toBe(true)
    }
    // Single checks are for those who watch over the cluster, and the list of paths for its administrators.
    for (const path of ['/livez/ping', '/readyz/informer-sync']) {
      expect(mayRead('eve', [authenticated], path)).toBe(false)
      expect(mayRead('prometheus', ['system:monitoring', authenticated], path)).toBe(true)
    }
    expect(mayRead('eve', [authenticated], '/')).toBe(false)
    for (const path of ['/api', '/apis/apps/v1', '/openapi/v3']) {
      expect(mayRead('system:anonymous', anonymous, path)).toBe(false)
      expect(mayRead('eve', [authenticated], path)).toBe(true)
    }
    expect(mayRead('eve', [authenticated], '/version', 'post')).toBe(false)
    expect(mayRead('eve', [authenticated], '/openid/v1/jwks')).toBe(false)
    expect(mayRead('a', ['system:serviceaccounts', authenticated], '/openid/v1/jwks')).toBe(true)
    expect(may('eve', [authenticated], 'create', 'selfsubjectaccessreviews.authorization.k8s.io')).toBe(true)
    expect(may('eve', [authenticated], 'create', 'subjectaccessreviews.authorization.k8s.io')).toBe(false)
  })

  it('gives controllers what they need and no more', async () => {
    const { controller } = await cluster()
    expect(controller('replication-controller', 'create', 'pods')).toBe(true)
    expect(controller('replication-controller', 'update', 'replicationcontrollers/status')).toBe(true)
    expect(controller('replication-controller', 'create', 'events')).toBe(true)
    expect(controller('replication-controller', 'get', 'secrets')).toBe(false)
    expect(controller('replication-controller', 'delete', 'replicationcontrollers')).toBe(false)
    expect(controller('deployment-controller', 'create', 'replicasets.apps')).toBe(true)
    expect(controller('deployment-controller', 'create', 'replicasets')).toBe(false)
    expect(controller('generic-garbage-collector', 'delete', 'widgets.example.com')).toBe(true)
    expect(controller('generic-garbage-collector', 'create', 'pods')).toBe(false)
    expect(controller('certificate-controller', 'sign', 'signers.certificates.k8s.io', 'example.com/own')).toBe(false)
    expect(
      controller(
        'certificate-controller',
        'sign',
        'signers.certificates.k8s.io',
        'kubernetes.io/kube-apiserver-client',
      ),
    ).toBe(true)
  })

  it('lets the scheduler bind pods and not change them', async () => {
    const { may } = await cluster()
    const user = 'system:kube-scheduler'
    expect(may(user, [authenticated], 'create', 'pods/binding')).toBe(true)
    expect(may(user, [authenticated], 'patch', 'pods/status')).toBe(true)
    expect(may(user, [authenticated], 'update', 'pods')).toBe(false)
  })

  it('gives the group of node agents nothing: what they may do hangs on their pods', async () => {
    const { may } = await cluster()
    const groups = ['system:nodes', authenticated]
    expect(may('system:node:n1', groups, 'get', 'secrets', 'any')).toBe(false)
    expect(may('somebody', groups, 'get', 'nodes', 'n1')).toBe(false)
  })

  it('grants a group as a whole, and a subresource of every kind', async () => {
    const { controller } = await cluster()
    expect(controller('horizontal-pod-autoscaler', 'get', 'services.custom.metrics.k8s.io/qps')).toBe(true)
    expect(controller('horizontal-pod-autoscaler', 'list', 'queue.external.metrics.k8s.io')).toBe(true)
    expect(controller('horizontal-pod-autoscaler', 'create', 'queue.external.metrics.k8s.io')).toBe(false)
    expect(controller('horizontal-pod-autoscaler', 'update', 'widgets.example.com/scale')).toBe(true)
    expect(controller('horizontal-pod-autoscaler', 'update', 'widgets.example.com')).toBe(false)
  })
})

describe('what becomes a creation because nothing is there', () => {
  const [eve, anna] = ['eve', 'anna'].map((name) => ({ name, groups: [authenticated] }))
  const mayNotCreate: Authorizer = {
    refuse: ({ name }, attributes) => (name === 'eve' && attributes.verb === 'create' ? '' : undefined),
  }
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'default' } } as const
  const role = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r', namespace: 'default' },
  }

  it('takes the right to create, in an apply and in an update', async () => {
    const { core, client } = await startTestCore({ authorizer: mayNotCreate })
    const as = core.client(eve as User)
    expect(await refusal(as.apply(configMaps, applied, { fieldManager: 'eve' }))).toMatchObject({
      code: 403,
      message:
        'configmaps "settings" is forbidden: User "eve" cannot create resource "configmaps" in API group "" in the namespace "default"',
    })
    expect(await refusal(as.update(roles, role as Role))).toMatchObject({ code: 403, reason: 'Forbidden' })
    expect((await client.list(configMaps)).items).toEqual([])
    expect((await client.list(roles)).items.map(({ metadata }) => metadata.name)).not.toContain('r')
  })

  it('takes no more than that, and nothing where the object is there', async () => {
    const { core } = await startTestCore({ authorizer: mayNotCreate })
    await core.client(anna as User).apply(configMaps, applied, { fieldManager: 'anna' })
    await core.client(eve as User).apply(configMaps, { ...applied, data: { a: '1' } }, { fieldManager: 'eve' })
    await core.client(anna as User).update(roles, role as Role)
    await core.client(eve as User).update(roles, { ...role, rules: [] } as Role)
  })
})

describe('authorization modes', () => {
  it('allow everything to everybody', async () => {
    const open = await cluster({ authorizationModes: ['AlwaysAllow'] })
    expect(open.may('eve', [], 'delete', 'nodes')).toBe(true)
    expect(open.may('system:anonymous', ['system:unauthenticated'], 'delete', 'nodes')).toBe(true)
  })

  it('take requests without credentials unless everybody may do everything', () => {
    expect([['Node', 'RBAC'], ['AlwaysAllow'], ['RBAC', 'AlwaysAllow']].map(takesAnonymous)).toEqual([
      true,
      false,
      false,
    ])
  })

  it('are those there are', async () => {
    await expect(cluster({ authorizationModes: ['Node', 'ABAC'] })).rejects.toThrow(
      'authorization mode "ABAC" is unknown: there are AlwaysAllow, Node, RBAC',
    )
  })

  it('decide by what any of them allows', async () => {
    const node = ['system:nodes', authenticated] as const
    const both = await cluster({ authorizationModes: ['Node', 'RBAC'] })
    expect(both.may('system:node:n1', node, 'get', 'nodes', 'n1')).toBe(true)
    const rolesAlone = await cluster({ authorizationModes: ['RBAC'] })
    expect(rolesAlone.may('system:node:n1', node, 'get', 'nodes', 'n1')).toBe(false)
    expect(rolesAlone.mayRead('system:node:n1', node, '/version')).toBe(true)
  })
})
