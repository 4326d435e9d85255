import { describe, expect, it } from 'vitest'
import type { RequestAttributes } from '../request.ts'
import { createAuthorizer } from './authorization.ts'

const authorizer = createAuthorizer()
const authenticated = 'system:authenticated'

function may(user: string, groups: readonly string[], verb: string, what: string, name = ''): boolean {
  const [resource = '', subresource = ''] = what.split('/')
  const [plural = '', ...group] = resource.split('.')
  const attributes: RequestAttributes = {
    kind: 'resource',
    verb,
    resource: { group: group.join('.'), version: 'v1', kind: '', plural, namespaced: true },
    subresource,
    namespace: 'default',
    name,
  }
  return authorizer.refuse({ name: user, groups }, attributes) === undefined
}

const mayRead = (user: string, groups: readonly string[], path: string, verb = 'get'): boolean =>
  authorizer.refuse({ name: user, groups }, { kind: 'path', verb, path }) === undefined

const controller = (name: string, verb: string, what: string) =>
  may(`system:serviceaccount:kube-system:${name}`, [authenticated], verb, what)

describe('createAuthorizer', () => {
  it('lets system:masters do everything', () => {
    expect(may('root', ['system:masters'], 'deletecollection', 'secrets')).toBe(true)
    expect(mayRead('root', ['system:masters'], '/anything', 'post')).toBe(true)
  })

  it('lets nobody else do what no grant names', () => {
    expect(may('eve', [authenticated], 'get', 'pods')).toBe(false)
    expect(may('system:anonymous', ['system:unauthenticated'], 'list', 'pods')).toBe(false)
    expect(may('system:serviceaccount:kube-system:unheard-of', [authenticated], 'list', 'pods')).toBe(false)
  })

  it('shows health and version to everyone, discovery to those who are known', () => {
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
  })

  it('gives controllers what they need and no more', () => {
    expect(controller('replication-controller', 'create', 'pods')).toBe(true)
    expect(controller('replication-controller', 'update', 'replicationcontrollers/status')).toBe(true)
    expect(controller('replication-controller', 'create', 'events')).toBe(true)
    expect(controller('replication-controller', 'get', 'secrets')).toBe(false)
    expect(controller('replication-controller', 'delete', 'replicationcontrollers')).toBe(false)
    expect(controller('deployment-controller', 'create', 'replicasets.apps')).toBe(true)
    expect(controller('deployment-controller', 'create', 'replicasets')).toBe(false)
    expect(controller('generic-garbage-collector', 'delete', 'widgets.example.com')).toBe(true)
    expect(controller('generic-garbage-collector', 'create', 'pods')).toBe(false)
  })

  it('lets the scheduler bind pods and not change them', () => {
    const user = 'system:kube-scheduler'
    expect(may(user, [authenticated], 'create', 'pods/binding')).toBe(true)
    expect(may(user, [authenticated], 'patch', 'pods/status')).toBe(true)
    expect(may(user, [authenticated], 'update', 'pods')).toBe(false)
  })

  it('gives the group of node agents nothing: what they may do hangs on their pods', () => {
    const groups = ['system:nodes', authenticated]
    expect(may('system:node:n1', groups, 'get', 'nodes', 'n1')).toBe(false)
    expect(may('system:node:n1', groups, 'get', 'secrets', 'any')).toBe(false)
  })

  it('grants a group as a whole, and a subresource of every kind', () => {
    expect(controller('horizontal-pod-autoscaler', 'get', 'services.custom.metrics.k8s.io/qps')).toBe(true)
    expect(controller('horizontal-pod-autoscaler', 'list', 'queue.external.metrics.k8s.io')).toBe(true)
    expect(controller('horizontal-pod-autoscaler', 'create', 'queue.external.metrics.k8s.io')).toBe(false)
    expect(controller('horizontal-pod-autoscaler', 'update', 'widgets.example.com/scale')).toBe(true)
    expect(controller('horizontal-pod-autoscaler', 'update', 'widgets.example.com')).toBe(false)
  })
})
