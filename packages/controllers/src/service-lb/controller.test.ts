import { endpointSlices, events, type Node, nodes, type Pod, pods, type Service, services } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type AtWork, atWork } from '../testing/at-work.ts'
import { pod } from '../testing/objects.ts'
import { addressesCondition, cleanupFinalizer } from './balanced.ts'
import { createServiceLbController } from './controller.ts'

const key = (name: string) => ({ namespace: 'default', name })

const node = (name: string, address: string, ready = 'True'): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    spec: {},
    status: { addresses: [{ type: 'InternalIP', address }], conditions: [{ type: 'Ready', status: ready }] },
  }) as Node

const service = (name: string, spec: object = {}, more: object = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: key(name),
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], ...spec },
    status: { loadBalancer: {} },
    ...more,
  }) as Service

/** A controller that gives addresses, and a node. */
async function giving() {
  const work = await atWork(() => [createServiceLbController('nodes')])
  await work.client.create(nodes, node('one', '192.0.2.1'))
  return { ...work, ...helpers(work) }
}

function helpers({ client, environment }: Pick<AtWork, 'client' | 'environment'>) {
  const settled = () => environment.clock.settle()
  const create = async (made: Service): Promise<void> => {
    // Services of one moment are as old as each other.
    await environment.clock.advance('1s')
    await client.create(services, made)
    await settled()
  }
  const found = async (name: string): Promise<Service> => {
    await settled()
    return client.get(services, key(name))
  }
  const addresses = async (name: string): Promise<readonly string[]> => {
    const { status } = await found(name)
    return (status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip)
  }
  const reasons = async (): Promise<readonly string[]> => {
    await environment.clock.advance('1m')
    return client.stored(events).map(({ reason = '' }) => reason)
  }
  return { settled, create, found, addresses, reasons }
}

describe('addresses of nodes for services', () => {
  it('follow the nodes', async () => {
    const { client, create, addresses, reasons } = await giving()
    await create(service('web'))
    expect(await addresses('web')).toEqual(['192.0.2.1'])
    await client.create(nodes, node('two', '192.0.2.2'))
    expect(await addresses('web')).toEqual(['192.0.2.1', '192.0.2.2'])
    const { status: one } = node('one', '192.0.2.1', 'Unknown')
    await client.patch(nodes, { name: 'one' }, { type: 'merge', body: { status: one } }, { subresource: 'status' })
    expect(await addresses('web')).toEqual(['192.0.2.2'])
    expect(await reasons()).toEqual(['EnsuringLoadBalancer', 'EnsuredLoadBalancer', 'UpdatedLoadBalancer'])
  })

  it('are looked at no more for a node that only says that it is there', async () => {
    const { client, create, settled, looks } = await giving()
    await create(service('web'))
    const before = looks()
    const body = {
      status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T01:00:00Z' }] },
    }
    await client.patch(nodes, { name: 'one' }, { type: 'merge', body }, { subresource: 'status' })
    await settled()
    expect(looks()).toBe(before)
  })

  it('go to the next service when the one that has the port goes', async () => {
    const { client, create, addresses, found } = await giving()
    await create(service('old'))
    await create(service('young'))
    expect(await addresses('young')).toEqual([])
    expect((await found('young')).status?.conditions?.[0]?.message).toBe('port 80/TCP is taken by service default/old')
    await client.delete(services, key('old'))
    expect(await addresses('young')).toEqual(['192.0.2.1'])
    expect(client.stored(services).map(({ metadata }) => metadata.name)).toEqual(['young'])
  })

  it('go to the next service when the one that has the port takes another', async () => {
    const { client, create, addresses } = await giving()
    await create(service('old'))
    await create(service('young'))
    await client.patch(services, key('old'), { type: 'merge', body: { spec: { ports: [{ port: 81 }] } } })
    expect(await addresses('young')).toEqual(['192.0.2.1'])
  })

  it('follow pods that take the port of their node, and leave it', async () => {
    const { client, create, addresses } = await giving()
    const { spec, ...rest } = pod('ingress', { node: 'one' })
    const ports = [{ containerPort: 80, hostPort: 80 }]
    const ingress: Pod = { ...rest, spec: { ...spec, containers: [{ name: 'web', image: 'web', ports }] } }
    const { resourceVersion: _, ...metadata } = ingress.metadata
    await create(service('web'))
    await client.create(pods, { ...ingress, metadata })
    expect(await addresses('web')).toEqual([])
    const body = { status: { phase: 'Succeeded' } }
    await client.patch(pods, key('ingress'), { type: 'merge', body }, { subresource: 'status' })
    expect(await addresses('web')).toEqual(['192.0.2.1'])
  })

  it('follow the endpoints of a service that lets no node lead to another', async () => {
    const { client, create, addresses } = await giving()
    await create(service('web', { externalTrafficPolicy: 'Local' }))
    expect(await addresses('web')).toEqual([])
    await client.create(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...key('web-1'), labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.0.0.1'], nodeName: 'one', conditions: { ready: true } }],
    })
    expect(await addresses('web')).toEqual(['192.0.2.1'])
  })

  it('leave out the port of an API server', async () => {
    const { client, create, addresses } = await giving()
    await create(service('web'))
    await client.create(endpointSlices, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...key('kubernetes'), labels: { 'kubernetes.io/service-name': 'kubernetes' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'] }],
      ports: [{ name: 'https', port: 80, protocol: 'TCP' }],
    })
    expect(await addresses('web')).toEqual([])
  })

  it('are taken back when the service becomes one of another type', async () => {
    const { client, create, found, reasons } = await giving()
    await create(service('web'))
    await client.patch(services, key('web'), { type: 'merge', body: { spec: { type: 'ClusterIP' } } })
    const { metadata, status } = await found('web')
    expect(metadata.finalizers ?? []).toEqual([])
    expect(status).toEqual({ loadBalancer: {} })
    expect(await reasons()).toEqual([
      'EnsuringLoadBalancer',
      'EnsuredLoadBalancer',
      'DeletingLoadBalancer',
      'DeletedLoadBalancer',
    ])
  })

  it.each<readonly [title: string, made: Service]>([
    [
      'of another class',
      service(
        'web',
        { loadBalancerClass: 'example.com/lb' },
        { status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } },
      ),
    ],
    ['of another type', service('web', { type: 'ClusterIP' })],
    [
      'of another class that somebody cleans up',
      service(
        'web',
        { loadBalancerClass: 'example.com/lb' },
        { metadata: { ...key('web'), finalizers: [cleanupFinalizer] } },
      ),
    ],
  ])('are nothing to a service %s', async (_, made) => {
    const { client, create } = await giving()
    await create(made)
    const writes = client.calls.filter(({ verb, plural }) => plural === 'services' && verb === 'update')
    expect(writes).toEqual([])
  })
})

describe('without addresses for services', () => {
  const marked = {
    metadata: { ...key('web'), finalizers: [cleanupFinalizer] },
    status: {
      loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] },
      conditions: [{ type: addressesCondition, status: 'True', reason: 'AllNodes', message: '' }],
    },
  }

  it('those that were given before are taken back, so that the service can go', async () => {
    const work = await atWork(() => [createServiceLbController(undefined)])
    const { create, found } = helpers(work)
    await create(service('web', {}, marked))
    const { metadata, status } = await found('web')
    expect(metadata.finalizers ?? []).toEqual([])
    expect(status).toEqual({ loadBalancer: {} })
  })

  it('what others have given stays, and no service is touched', async () => {
    const work = await atWork(() => [createServiceLbController(undefined)])
    const { create } = helpers(work)
    await create(service('web', {}, { ...marked, status: { loadBalancer: marked.status.loadBalancer } }))
    await create(service('api'))
    expect(work.client.calls.filter(({ verb }) => verb === 'update')).toEqual([])
    expect(work.looks()).toBe(0)
  })
})
