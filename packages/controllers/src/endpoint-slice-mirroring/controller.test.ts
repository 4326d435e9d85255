import { type Endpoints, endpointSlices, endpoints, events, type Service, services } from '@coracle/api'
import { createFakeClient, type FakeClient } from '@coracle/client/testing'
import { createManager, type Manager } from '@coracle/controller-runtime'
import {
  createMetricsRegistry,
  type MetricsRegistry,
  type VirtualEnvironment,
  virtualEnvironment,
} from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reconcileCount } from '../testing/reconcile-count.ts'
import { createEndpointSliceMirroringController } from './controller.ts'
import { mirroredPerSubsetMax } from './plan.ts'

let environment: VirtualEnvironment
let client: FakeClient
let metrics: MetricsRegistry
let manager: Manager

beforeEach(async () => {
  environment = virtualEnvironment()
  client = createFakeClient(environment)
  metrics = createMetricsRegistry()
  manager = createManager({ client, environment, metrics })
  manager.add(createEndpointSliceMirroringController())
  await manager.start()
})

afterEach(() => manager.stop())

const key = { namespace: 'default', name: 'db' }

const createService = (spec: object = {}) =>
  client.create<Service>(services, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: key,
    spec: { ports: [{ port: 5432 }], ...spec },
  } as Service)

const createEndpoints = (subsets: unknown, metadata: Endpoints['metadata'] = {}) =>
  client.create<Endpoints>(endpoints, {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...key, ...metadata },
    subsets,
  } as Endpoints)

const postgres = { name: 'sql', port: 5432, protocol: 'TCP' }

async function mirrored() {
  await environment.clock.settle()
  return client.stored(endpointSlices)
}

/** `IPv4 5432: 10.0.0.1 true`. */
async function lines() {
  return (await mirrored()).map(({ addressType, ports = [], endpoints: all = [] }) => {
    const texts = all.map(({ addresses, conditions }) => `${addresses[0]} ${conditions?.ready}`)
    return `${addressType} ${ports.map(({ port }) => port).join()}: ${texts.join(', ')}`
  })
}

describe('the Endpoints of a service without a selector', () => {
  it('have slices, one for each subset and family of addresses', async () => {
    await createService()
    await createEndpoints([
      { addresses: [{ ip: '10.0.0.1', hostname: 'a', nodeName: 'n1' }, { ip: 'fd00::1' }], ports: [postgres] },
      { notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [{ ...postgres, port: 5433 }] },
    ])
    expect((await lines()).sort()).toEqual([
      'IPv4 5432: 10.0.0.1 true',
      'IPv4 5433: 10.0.0.2 false',
      'IPv6 5432: fd00::1 true',
    ])
    const [first] = await mirrored()
    expect(first?.endpoints).toEqual([
      { addresses: ['10.0.0.1'], conditions: { ready: true }, hostname: 'a', nodeName: 'n1' },
    ])
    expect(first?.ports).toEqual([postgres])
    expect(first?.metadata.ownerReferences).toMatchObject([{ kind: 'Endpoints', name: 'db', controller: true }])
  })

  it('say of the slices what they say of themselves, but what kubectl and others note for them alone', async () => {
    await createService()
    await createEndpoints([{ addresses: [{ ip: '10.0.0.1' }], ports: [postgres] }], {
      labels: { tier: 'data' },
      annotations: {
        note: 'x',
        'kubectl.kubernetes.io/last-applied-configuration': '{}',
        'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
      },
    })
    const [{ metadata } = {}] = await mirrored()
    expect(metadata?.generateName ?? metadata?.name).toMatch(/^db-/)
    expect(metadata?.annotations).toEqual({ note: 'x' })
    expect(metadata?.labels).toEqual({
      tier: 'data',
      'kubernetes.io/service-name': 'db',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    })
  })

  it('are followed: slices change with them and are used again, and those of no subset go', async () => {
    await createService()
    await createEndpoints([{ addresses: [{ ip: '10.0.0.1' }], ports: [postgres] }])
    const [before] = await mirrored()
    const change = async (subsets: unknown) => {
      await client.patch(endpoints, key, { type: 'merge', body: { subsets } })
      return lines()
    }
    expect(await change([{ addresses: [{ ip: '10.0.0.9' }], ports: [{ ...postgres, port: 5433 }] }])).toEqual([
      'IPv4 5433: 10.0.0.9 true',
    ])
    expect((await mirrored())[0]?.metadata.uid).toBe(before?.metadata.uid)
    expect(await change(null)).toEqual([])
  })

  it('are left alone where they have not changed', async () => {
    await createService()
    await createEndpoints([
      { addresses: [{ ip: '10.0.0.1', targetRef: { kind: 'Pod', name: 'a' } }], ports: [postgres] },
    ])
    const [before] = await mirrored()
    await client.patch(services, key, { type: 'merge', body: { metadata: { labels: { x: 'y' } } } })
    expect((await mirrored())[0]?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion)
  })

  it('are mirrored up to a limit, which an event tells of', async () => {
    await createService()
    const addresses = Array.from({ length: mirroredPerSubsetMax + 2 }, (_, index) => ({
      ip: `10.0.${index >> 8}.${index & 255}`,
    }))
    await createEndpoints([{ addresses, ports: [postgres] }])
    expect((await mirrored())[0]?.endpoints).toHaveLength(mirroredPerSubsetMax)
    await environment.clock.advance('1s')
    expect(client.stored(events).map(({ reason, message }) => [reason, message])).toEqual([
      [
        'TooManyAddressesToMirror',
        'A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped',
      ],
    ])
  })
})

describe('Endpoints are not mirrored', () => {
  const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports: [postgres] }]

  it.each<readonly [string, Endpoints['metadata']]>([
    ['that say so', { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }],
    ['that hold the lock of a leader', { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }],
  ])('%s', async (_, metadata) => {
    await createService()
    await createEndpoints(subsets, metadata)
    expect(await mirrored()).toEqual([])
  })

  it('whose service has pods of its own, or is not there', async () => {
    await createEndpoints(subsets)
    expect(await mirrored()).toEqual([])
    await createService({ selector: { app: 'db' } })
    expect(await mirrored()).toEqual([])
    await client.patch(services, key, { type: 'merge', body: { spec: { selector: null } } })
    expect(await mirrored()).toHaveLength(1)
    await client.delete(services, key)
    expect(await mirrored()).toEqual([])
  })

  it('and not looked at either, of a service with a selector, whatever becomes of both', async () => {
    await createService({ selector: { app: 'db' } })
    await createEndpoints(subsets)
    await environment.clock.settle()
    await client.patch(endpoints, key, { type: 'merge', body: { subsets: null } })
    await client.patch(services, key, { type: 'merge', body: { spec: { selector: { app: 'sql' } } } })
    await environment.clock.settle()
    await client.delete(services, key)
    await client.delete(endpoints, key)
    await environment.clock.settle()
    expect(reconcileCount(metrics)).toBe(0)
  })

  it('any more of a service that had no selector when the controller was last at work', async () => {
    await createService()
    await createEndpoints(subsets)
    expect(await mirrored()).toHaveLength(1)
    await manager.stop()
    await client.patch(services, key, { type: 'merge', body: { spec: { selector: { app: 'db' } } } })
    manager = createManager({ client, environment })
    manager.add(createEndpointSliceMirroringController())
    await manager.start()
    expect(await mirrored()).toEqual([])
  })

  it('any more, and their slices go, when they say so', async () => {
    await createService()
    await createEndpoints(subsets)
    expect(await mirrored()).toHaveLength(1)
    const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }
    await client.patch(endpoints, key, { type: 'merge', body: { metadata: { labels } } })
    expect(await mirrored()).toEqual([])
  })
})
