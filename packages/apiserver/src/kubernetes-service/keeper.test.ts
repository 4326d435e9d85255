import {
  apiServiceKey,
  endpointSlices,
  endpoints,
  type Resource,
  type Service,
  serviceCidrs,
  services,
} from '@coracle/api'
import { virtualEnvironment } from '@coracle/environment'
import { faultyStore } from '@coracle/store/faults'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it } from 'vitest'
import { startTestCore, type TestCore } from '../testing/test-core.ts'
import { kubernetesServiceIntervalMs } from './keeper.ts'
import type { ServerAddress } from './plan.ts'
import { serverLeaseMs, serverLeasesPrefix } from './server-leases.ts'

const key = apiServiceKey
const here: ServerAddress = { ip: '192.0.2.1', port: 6443 }

/** Who is behind the service, by Endpoints and by slices. */
async function behind({ client, environment }: TestCore) {
  await environment.clock.settle()
  const { subsets = [] } = await client.get(endpoints, key)
  const { items } = await client.list(endpointSlices, { namespace: 'default' })
  return {
    endpoints: subsets.flatMap(({ addresses = [], ports = [] }) =>
      addresses.map(({ ip }) => `${ip} ${ports[0]?.port}`),
    ),
    slices: items.flatMap(({ metadata, endpoints: all = [], ports = [] }) =>
      all.map(({ addresses }) => `${metadata.name} ${addresses[0]} ${ports[0]?.port}`),
    ),
  }
}

describe('the service kubernetes', () => {
  it('is there from the start, with the first address of services', async () => {
    const { client } = await startTestCore()
    const { metadata, spec } = await client.get(services, key)
    expect(metadata.labels).toEqual({ component: 'apiserver', provider: 'kubernetes' })
    expect(spec).toEqual({
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      internalTrafficPolicy: 'Cluster',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
      sessionAffinity: 'None',
      type: 'ClusterIP',
    })
  })

  it('has another address where somebody else has the first one', async () => {
    const store = createMemoryStore()
    const first = await startTestCore({ store })
    await first.client.delete(services, key)
    await first.client.create(services, {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a', namespace: 'default' },
      spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
    } as Service)
    const second = await startTestCore({ store })
    expect((await second.client.get(services, key)).spec.clusterIP).toMatch(/^10\./)
  })

  it('has the server behind it, and no other slices than its own', async () => {
    const core = await startTestCore()
    const stop = core.core.advertise(here, 'web-1')
    expect(await behind(core)).toEqual({
      endpoints: ['192.0.2.1 6443'],
      slices: ['kubernetes 192.0.2.1 6443'],
    })
    const { metadata } = await core.client.get(endpoints, key)
    expect(metadata.labels).toEqual({ 'endpointslice.kubernetes.io/skip-mirror': 'true' })
    await stop()
  })

  it('may lead to a server that only this host reaches', async () => {
    const core = await startTestCore()
    core.core.advertise({ ip: '127.0.0.1', port: 6443 }, 'web-1')
    expect((await behind(core)).endpoints).toEqual(['127.0.0.1 6443'])
  })

  it('comes back when it is deleted or changed, and costs no write otherwise', async () => {
    const core = await startTestCore()
    core.core.advertise(here, 'web-1')
    const before = await behind(core)
    await core.client.delete(services, key)
    await core.client.delete(endpointSlices, key)
    await core.client.patch(endpoints, key, { type: 'merge', body: { subsets: null } })
    await core.environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    expect(await behind(core)).toEqual(before)
    expect((await core.client.get(services, key)).spec.clusterIP).toBe('10.96.0.1')
    const versions = async () => {
      const resources: readonly Resource[] = [services, endpoints, endpointSlices]
      const objects = await Promise.all(resources.map((each) => core.client.get(each, key)))
      return objects.map(({ metadata }) => metadata.resourceVersion)
    }
    const present = await versions()
    await core.environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    expect(await versions()).toEqual(present)
  })

  it('moves to the range of this server when the one before is deleted', async () => {
    const store = createMemoryStore()
    const earlier = await startTestCore({ store, serviceCidr: '192.168.0.0/24' })
    await earlier.client.patch(
      serviceCidrs,
      { name: 'kubernetes' },
      { type: 'merge', body: { metadata: { finalizers: ['a.example/b'] } } },
    )
    const { client, core, environment } = await startTestCore({ store, serviceCidr: '10.168.0.0/24' })
    core.advertise(here, 'web-1')
    const range = async () => (await client.get(serviceCidrs, { name: 'kubernetes' })).spec?.cidrs
    await environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    expect(await range()).toEqual(['192.168.0.0/24'])
    await client.delete(serviceCidrs, { name: 'kubernetes' })
    await client.delete(services, key)
    await environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    // It goes when nobody holds it up any more, and not before.
    expect(await range()).toEqual(['192.168.0.0/24'])
    await client.patch(
      serviceCidrs,
      { name: 'kubernetes' },
      { type: 'merge', body: { metadata: { finalizers: null } } },
    )
    await environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    expect(await range()).toEqual(['10.168.0.0/24'])
    expect((await client.get(services, key)).spec.clusterIP).toBe('10.168.0.1')
  })

  it('is made in the first range there is', async () => {
    const store = createMemoryStore()
    const first = await startTestCore({ store })
    await first.client.create(serviceCidrs, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'six' },
      spec: { cidrs: ['fd00:96::/112'] },
    })
    await first.client.delete(services, key)
    const second = await startTestCore({ store })
    expect((await second.client.get(services, key)).spec.clusterIPs).toEqual(['10.96.0.1'])
  })
})

describe('servers with one store', () => {
  const two: ServerAddress = { ip: '192.0.2.2', port: 6443 }

  const twoServers = async (addresses: readonly [ServerAddress, ServerAddress]) => {
    const environment = virtualEnvironment()
    const real = createMemoryStore()
    const ways = [faultyStore(real), faultyStore(real)] as const
    const cores = [
      await startTestCore({ environment, store: ways[0] }),
      await startTestCore({ environment, store: ways[1] }),
    ] as const
    const stops = [
      cores[0].core.advertise(addresses[0], 'web-1'),
      cores[1].core.advertise(addresses[1], 'web-2'),
    ] as const
    await environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    return { environment, cores, stops, cutSecond: () => ways[1].cut() }
  }

  it('are all behind it, until one is stopped', async () => {
    const { cores, stops } = await twoServers([here, two])
    expect((await behind(cores[0])).endpoints).toEqual(['192.0.2.1 6443', '192.0.2.2 6443'])
    await stops[1]()
    expect((await behind(cores[0])).endpoints).toEqual(['192.0.2.1 6443'])
  })

  it('have a slice for each port', async () => {
    const { cores } = await twoServers([here, { ip: '192.0.2.1', port: 7443 }])
    expect((await behind(cores[0])).slices).toEqual([
      'kubernetes 192.0.2.1 6443',
      'kubernetes-ipv4-7443 192.0.2.1 7443',
    ])
  })

  it('are no longer behind it when nothing is heard of them', async () => {
    const { environment, cores, cutSecond } = await twoServers([here, two])
    cutSecond()
    await environment.clock.advance(`${kubernetesServiceIntervalMs}ms`)
    expect((await behind(cores[0])).endpoints).toHaveLength(2)
    await environment.clock.advance(`${serverLeaseMs + kubernetesServiceIntervalMs}ms`)
    expect((await behind(cores[0])).endpoints).toEqual(['192.0.2.1 6443'])
  })

  it.each(['{', '"a text"', 'null', '{"ip":1}'])(
    'are behind it whatever somebody writes among their records: %s',
    async (value) => {
      const store = faultyStore(createMemoryStore())
      const core = await startTestCore({ store })
      const key = `${serverLeasesPrefix}192.0.2.9:1`
      await store.commit({ conditions: [], operations: [{ type: 'put', key, value: Buffer.from(value) }] })
      core.core.advertise(here, 'web-1')
      expect((await behind(core)).endpoints).toEqual(['192.0.2.1 6443'])
      await core.environment.clock.advance(`${serverLeaseMs + kubernetesServiceIntervalMs}ms`)
      expect((await store.list(serverLeasesPrefix)).entries.map((entry) => entry.key)).not.toContain(key)
    },
  )
})
