/**
 * What upstream's tests ask of services (test/e2e/network), as far as it is about their addresses, their ports and what is behind them;
 * each named after the one it stands for. What stands elsewhere, and what is about traffic, is listed in `docs/upstream-scenarios.md`.
 */
import {
  ApiError,
  type EndpointSlice,
  type Endpoints,
  endpointSlices,
  endpoints,
  type Ingress,
  ingressClasses,
  ingresses,
  ipAddresses,
  type KubernetesObject,
  nodes,
  pods,
  type Resource,
  replicaSets,
  type Service,
  serviceCidrs,
  services,
} from '@coracle/api'
import { type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Cluster, startCluster } from '../src/index.ts'

const namespace = 'default'

let environment: VirtualEnvironment
let cluster: Cluster

beforeEach(async () => {
  environment = virtualEnvironment({ seed: 21 })
  cluster = await startCluster({ environment, nodes: 3 })
})

afterEach(() => cluster.stop())

const advance = (time = '5s') => environment.clock.advance(time)
const keyOf = (name: string) => ({ namespace, name })
const create = (resource: Resource, object: object) => {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  return cluster.client.create(resource, { apiVersion, kind: resource.kind, ...object } as KubernetesObject)
}
const createService = async (name: string, spec: object, metadata: object = {}): Promise<Service> =>
  (await create(services, { metadata: { ...metadata, ...keyOf(name) }, spec })) as Service
const createPod = (name: string, labels: object, ports: readonly object[] = [], spec: object = {}) =>
  create(pods, {
    metadata: { ...keyOf(name), labels },
    spec: { containers: [{ name: 'main', image: 'example/agnhost', ports }], ...spec },
  })
const deletePod = async (name: string) => {
  await cluster.client.delete(pods, keyOf(name), { gracePeriodSeconds: 0 })
  await advance()
}
const patchService = (name: string, spec: object): Promise<Service> =>
  cluster.client.patch(services, keyOf(name), { type: 'merge', body: { spec } })
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => '',
    (error: unknown) => (error instanceof ApiError ? error.message : 'no API error'),
  )
const find = (name: string): Promise<Endpoints> => cluster.client.get(endpoints, keyOf(name))
const slicesOf = async (name: string): Promise<readonly EndpointSlice[]> =>
  (await cluster.client.list(endpointSlices, { namespace, labelSelector: `kubernetes.io/service-name=${name}` })).items
const ipOf = async (name: string) => (await cluster.client.get(pods, keyOf(name))).status?.podIP ?? ''
const namesByIp = async () =>
  new Map(
    (await cluster.client.list(pods, { namespace })).items.map((pod) => [pod.status?.podIP ?? '', pod.metadata.name]),
  )

/** Which ports lead to which pods, by Endpoints; slices have to say the same. */
const portsOfPods = async (service: string): Promise<Readonly<Record<string, readonly number[]>>> => {
  const names = await namesByIp()
  const collect = (rows: readonly (readonly [ip: string, port: number])[]) => {
    const result: Record<string, number[]> = {}
    for (const [ip, port] of rows) {
      const name = names.get(ip) ?? ip
      result[name] = [...(result[name] ?? []), port].sort((a, b) => a - b)
    }
    return result
  }
  const byEndpoints = collect(
    ((await find(service)).subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
      addresses.flatMap(({ ip }) => ports.map(({ port }) => [ip, port] as const)),
    ),
  )
  const bySlices = collect(
    (await slicesOf(service)).flatMap(({ endpoints: all = [], ports = [] }) =>
      (all ?? [])
        .filter(({ conditions }) => conditions?.ready === true)
        .flatMap(({ addresses }) => ports.map(({ port }) => [addresses[0] ?? '', port ?? 0] as const)),
    ),
  )
  expect(bySlices).toEqual(byEndpoints)
  return byEndpoints
}

describe('Services', () => {
  it('should provide secure master service', async () => {
    const { spec } = await cluster.client.get(services, keyOf('kubernetes'))
    expect(spec.ports).toMatchObject([{ name: 'https', port: 443, protocol: 'TCP' }])
  })

  it('should serve a basic endpoint from pods', async () => {
    const selector = { app: 'basic' }
    await createService('basic', { selector, ports: [{ port: 80, targetPort: 8080 }] })
    await advance()
    expect(await portsOfPods('basic')).toEqual({})
    await createPod('pod1', selector, [{ containerPort: 8080 }])
    await advance()
    expect(await portsOfPods('basic')).toEqual({ pod1: [8080] })
    await createPod('pod2', selector, [{ containerPort: 8080 }])
    await advance()
    expect(await portsOfPods('basic')).toEqual({ pod1: [8080], pod2: [8080] })
    await deletePod('pod1')
    expect(await portsOfPods('basic')).toEqual({ pod2: [8080] })
    await deletePod('pod2')
    expect(await portsOfPods('basic')).toEqual({})
  })

  it('should serve multiport endpoints from pods', async () => {
    const selector = { app: 'multi' }
    await createService('multi', {
      selector,
      ports: [
        { name: 'portname1', port: 80, targetPort: 'one' },
        { name: 'portname2', port: 81, targetPort: 'two' },
      ],
    })
    await createPod('pod1', selector, [{ name: 'one', containerPort: 100 }])
    await createPod('pod2', selector, [{ name: 'two', containerPort: 101 }])
    await advance()
    expect(await portsOfPods('multi')).toEqual({ pod1: [100], pod2: [101] })
    await deletePod('pod1')
    expect(await portsOfPods('multi')).toEqual({ pod2: [101] })
    await deletePod('pod2')
    expect(await portsOfPods('multi')).toEqual({})
  })

  it('should be updated after adding or deleting ports', async () => {
    const selector = { app: 'edit' }
    const first = { name: 'portname1', port: 80, targetPort: 100 }
    await createService('edit', { selector, ports: [first] })
    await createPod('pod1', selector, [{ containerPort: 100 }, { containerPort: 101 }])
    await advance()
    expect(await portsOfPods('edit')).toEqual({ pod1: [100] })
    const second = { name: 'portname2', port: 81, targetPort: 101 }
    await patchService('edit', { ports: [first, second] })
    await advance()
    expect(await portsOfPods('edit')).toEqual({ pod1: [100, 101] })
    await patchService('edit', { ports: [second] })
    await advance()
    expect(await portsOfPods('edit')).toEqual({ pod1: [101] })
  })

  it('should work after the service has been recreated', async () => {
    const selector = { app: 'again' }
    const spec = { selector, ports: [{ port: 80, targetPort: 9376 }] }
    const { clusterIP } = (await createService('again', spec)).spec
    await createPod('pod1', selector, [{ containerPort: 9376 }])
    await advance()
    await cluster.client.delete(services, keyOf('again'))
    await createService('again', { ...spec, clusterIP })
    await advance()
    expect(await portsOfPods('again')).toEqual({ pod1: [9376] })
    expect((await cluster.client.get(services, keyOf('again'))).spec.clusterIP).toBe(clusterIP)
  })

  it('should be rejected for evicted pods (no endpoints exist)', async () => {
    const selector = { app: 'evicted' }
    await createService('evicted', { selector, ports: [{ port: 80 }] })
    await createPod('pod1', selector)
    await advance()
    expect(await portsOfPods('evicted')).toEqual({ pod1: [80] })
    const body = { status: { phase: 'Failed', reason: 'Evicted' } }
    await cluster.client.patch(pods, keyOf('pod1'), { type: 'merge', body }, { subresource: 'status' })
    await advance()
    expect(await portsOfPods('evicted')).toEqual({})
    expect((await slicesOf('evicted')).flatMap((each) => each.endpoints ?? [])).toEqual([])
  })

  const unready = { readinessGates: [{ conditionType: 'example.dev/never' }] }

  it('should create endpoints for unready pods', async () => {
    const selector = { name: 'slow' }
    await createService('tolerant', { selector, ports: [{ port: 80 }], publishNotReadyAddresses: true })
    await createService('strict', { selector, ports: [{ port: 80 }] })
    await createPod('slow', selector, [], unready)
    await advance()
    expect(await portsOfPods('tolerant')).toEqual({ slow: [80] })
    expect(await portsOfPods('strict')).toEqual({})
    expect((await find('strict')).subsets?.[0]?.notReadyAddresses).toMatchObject([{ ip: await ipOf('slow') }])
  })

  it.each([
    ['should be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is true', true],
    ['should not be able to connect to terminating and unready endpoints if PublishNotReadyAddresses is false', false],
  ])('%s', async (_, publishNotReadyAddresses) => {
    const selector = { name: 'leaving' }
    await createService('web', { selector, ports: [{ port: 80 }], publishNotReadyAddresses })
    const lifecycle = { preStop: { sleep: { seconds: 300 } } }
    await createPod('leaving', selector, [], {
      ...unready,
      terminationGracePeriodSeconds: 600,
      containers: [{ name: 'main', image: 'example/agnhost', lifecycle }],
    })
    await advance()
    const first = await slicesOf('web')
    await cluster.client.delete(pods, keyOf('leaving'))
    await environment.clock.settle()
    const conditions = (slices: readonly EndpointSlice[]) =>
      slices.flatMap((each) => each.endpoints ?? []).map((each) => each.conditions)
    expect(conditions(first)).toMatchObject([{ ready: publishNotReadyAddresses, terminating: false }])
    expect(conditions(await slicesOf('web'))).toMatchObject([{ ready: publishNotReadyAddresses, terminating: true }])
  })

  it('should be able to create a functioning NodePort service', async () => {
    const selector = { app: 'np' }
    const { spec } = await createService('np', { type: 'NodePort', selector, ports: [{ port: 80, targetPort: 9376 }] })
    expect(spec.clusterIP).toMatch(/^10\./)
    expect(spec.ports?.[0]?.nodePort).toBeGreaterThanOrEqual(30000)
    await createPod('pod1', selector)
    await advance()
    expect(await portsOfPods('np')).toEqual({ pod1: [9376] })
  })

  const named = { type: 'ExternalName', externalName: 'foo.example.com' }
  const ports = [{ name: 'http', port: 80, targetPort: 9376, protocol: 'TCP' }]

  it.each([
    ['should be able to change the type from ExternalName to ClusterIP', 'ClusterIP'],
    ['should be able to change the type from ExternalName to NodePort', 'NodePort'],
  ])('%s', async (_, type) => {
    expect((await createService('web', named)).spec.clusterIP).toBeUndefined()
    const { spec } = await patchService('web', { type, externalName: null, ports })
    expect(spec.clusterIP).toMatch(/^10\./)
    expect(spec.externalName).toBeUndefined()
    expect(spec.ports?.[0]?.nodePort !== undefined).toBe(type === 'NodePort')
  })

  it.each([
    ['should be able to change the type from ClusterIP to ExternalName', 'ClusterIP'],
    ['should be able to change the type from NodePort to ExternalName', 'NodePort'],
  ])('%s', async (_, type) => {
    const { spec: before } = await createService('web', { type, ports })
    const { spec } = await patchService('web', { ...named, clusterIP: null, clusterIPs: null })
    expect(spec.clusterIP ?? '').toBe('')
    expect(spec.ports?.[0]?.nodePort).toBeUndefined()
    // What it had is free for another.
    const nodePort = before.ports?.[0]?.nodePort
    const other = { type, clusterIP: before.clusterIP, ports: [{ ...ports[0], ...(nodePort ? { nodePort } : {}) }] }
    expect((await createService('other', other)).spec.clusterIP).toBe(before.clusterIP)
  })

  it('should be able to update service type to NodePort listening on same port number but different protocols', async () => {
    const both = ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 80, protocol }))
    await createService('web', { ports: both.slice(0, 1) })
    const { spec } = await patchService('web', { type: 'NodePort', ports: both })
    expect(spec.ports).toMatchObject(both)
    for (const { nodePort } of spec.ports ?? []) expect(nodePort).toBeGreaterThanOrEqual(30000)
  })

  it('should prevent NodePort collisions', async () => {
    const { spec } = await createService('one', { type: 'NodePort', ports })
    const nodePort = spec.ports?.[0]?.nodePort
    const again = { type: 'NodePort', ports: [{ ...ports[0], nodePort }] }
    expect(await refusal(createService('two', again))).toContain('provided port is already allocated')
    await cluster.client.delete(services, keyOf('one'))
    expect((await createService('two', again)).spec.ports?.[0]?.nodePort).toBe(nodePort)
  })

  it('should check NodePort out-of-range', async () => {
    const outside = { type: 'NodePort', ports: [{ ...ports[0], nodePort: 1000 }] }
    const message = 'provided port is not in the valid range. The range of valid ports is 30000-32767'
    expect(await refusal(createService('web', outside))).toContain(message)
    await createService('web', { type: 'NodePort', ports })
    expect(await refusal(patchService('web', { ports: outside.ports }))).toContain(message)
  })

  it('should release NodePorts on delete', async () => {
    const { spec } = await createService('one', { type: 'NodePort', ports })
    const nodePort = spec.ports?.[0]?.nodePort
    await cluster.client.delete(services, keyOf('one'))
    const again = await createService('two', { type: 'NodePort', ports: [{ ...ports[0], nodePort }] })
    expect(again.spec.ports?.[0]?.nodePort).toBe(nodePort)
  })

  it('should serve endpoints on same port and different protocols', async () => {
    const selector = { app: 'protocols' }
    const both = ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port: 80, protocol }))
    await createService('web', { selector, ports: both })
    await createPod('pod1', selector, [{ containerPort: 80 }, { containerPort: 80, protocol: 'UDP' }])
    const protocols = async () => {
      await advance()
      return (await slicesOf('web')).flatMap(({ ports: all = [] }) => all.map(({ protocol }) => protocol)).sort()
    }
    expect(await protocols()).toEqual(['TCP', 'UDP'])
    await patchService('web', { ports: both.slice(0, 1) })
    expect(await protocols()).toEqual(['TCP'])
    await patchService('web', { ports: both.slice(1) })
    expect(await protocols()).toEqual(['UDP'])
  })

  it('should allow creating a basic SCTP service with pod and endpoints', async () => {
    const selector = { app: 'sctp' }
    await createService('sctp', { selector, ports: [{ port: 5060, targetPort: 5060, protocol: 'SCTP' }] })
    await createPod('pod1', selector, [{ containerPort: 5060, protocol: 'SCTP' }])
    await advance()
    expect(await portsOfPods('sctp')).toEqual({ pod1: [5060] })
    expect((await slicesOf('sctp')).flatMap((each) => each.ports ?? [])).toMatchObject([{ protocol: 'SCTP' }])
  })

  it('should allow creating a Pod with an SCTP HostPort', async () => {
    await createPod('hostport', {}, [{ containerPort: 5060, hostPort: 5061, protocol: 'SCTP' }])
    await advance()
    const { spec, status } = await cluster.client.get(pods, keyOf('hostport'))
    expect(spec.containers[0]?.ports).toEqual([{ containerPort: 5060, hostPort: 5061, protocol: 'SCTP' }])
    expect(status?.phase).toBe('Running')
  })

  it('should find a service from listing all namespaces', async () => {
    const { items } = await cluster.client.list(services)
    expect(items.filter(({ metadata }) => metadata.name === 'kubernetes')).toMatchObject([{ metadata: { namespace } }])
  })
})

describe('EndpointSlice', () => {
  it('should create and delete Endpoints and EndpointSlices for a Service with a selector specified', async () => {
    await createService('empty', { selector: { 'does-not-match': 'anything' }, ports: [{ name: 'example', port: 80 }] })
    await advance()
    expect((await find('empty')).metadata.name).toBe('empty')
    const slices = await slicesOf('empty')
    expect(slices).toMatchObject([
      { metadata: { labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' } } },
    ])
    expect(slices[0]?.endpoints ?? []).toEqual([])
    await cluster.client.delete(services, keyOf('empty'))
    await advance('90s')
    await expect(find('empty')).rejects.toThrow('not found')
    expect(await slicesOf('empty')).toEqual([])
  })

  it('should create Endpoints and EndpointSlices for Pods matching a Service', async () => {
    await createPod('pod1', { pod1: 'on', shared12: 'on' }, [{ name: 'example-name', containerPort: 3000 }])
    await createPod('pod2', { pod2: 'on', shared12: 'on' }, [
      { name: 'example-name', containerPort: 3001 },
      { name: 'other-port', containerPort: 3002 },
    ])
    const publishNotReadyAddresses = true
    const serve = (name: string, label: string, targetPort: number | string) =>
      createService(name, {
        selector: { [label]: 'on' },
        publishNotReadyAddresses,
        ports: [{ name: 'http', port: 80, targetPort }],
      })
    await serve('int-port', 'pod1', 3000)
    await serve('named-port', 'shared12', 'example-name')
    await serve('no-match', 'pod3', 8080)
    await advance('10s')
    expect(await portsOfPods('int-port')).toEqual({ pod1: [3000] })
    expect(await portsOfPods('named-port')).toEqual({ pod1: [3000], pod2: [3001] })
    // Pods whose ports have different numbers are in slices of their own.
    expect(await slicesOf('named-port')).toHaveLength(2)
    expect(await portsOfPods('no-match')).toEqual({})
    expect(await slicesOf('no-match')).toHaveLength(1)
    await cluster.client.deleteCollection(endpointSlices, {
      namespace,
      labelSelector: 'kubernetes.io/service-name=named-port',
    })
    await advance('10s')
    expect(await portsOfPods('named-port')).toEqual({ pod1: [3000], pod2: [3001] })
  })
})

describe('EndpointSliceMirroring', () => {
  const mirrored = async () => {
    await advance()
    const { items } = await cluster.client.list(endpointSlices, {
      namespace,
      labelSelector:
        'kubernetes.io/service-name=custom,endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io',
    })
    return items.map((each) => ({
      addresses: (each.endpoints ?? []).flatMap(({ addresses }) => addresses),
      ports: (each.ports ?? []).map(({ port }) => port),
    }))
  }

  it('should mirror a custom Endpoints resource through create update and delete', async () => {
    await createService('custom', { ports: [{ name: 'example', port: 80 }] })
    const subsets = (ip: string) => [{ ports: [{ port: 80 }], addresses: [{ ip }] }]
    await create(endpoints, { metadata: keyOf('custom'), subsets: subsets('10.1.2.3') })
    expect(await mirrored()).toEqual([{ addresses: ['10.1.2.3'], ports: [80] }])
    await cluster.client.patch(endpoints, keyOf('custom'), { type: 'merge', body: { subsets: subsets('10.2.3.4') } })
    expect(await mirrored()).toEqual([{ addresses: ['10.2.3.4'], ports: [80] }])
    await cluster.client.delete(endpoints, keyOf('custom'))
    expect(await mirrored()).toEqual([])
  })

  it('should mirror a custom Endpoint with multiple subsets and same IP address', async () => {
    await createService('custom', {
      ports: [
        { name: 'one', port: 9090 },
        { name: 'two', port: 9091 },
      ],
    })
    const subsets = [
      { ports: [{ name: 'one', port: 8090 }], addresses: [{ ip: '10.1.2.3' }] },
      { ports: [{ name: 'two', port: 8091 }], addresses: [{ ip: '10.1.2.3' }] },
    ]
    await create(endpoints, { metadata: keyOf('custom'), subsets })
    const found = await mirrored()
    expect(found.map(({ addresses }) => addresses)).toEqual([['10.1.2.3']])
    expect(found.flatMap((each) => each.ports).toSorted()).toEqual([8090, 8091])
  })
})

describe('Service CIDRs', () => {
  it('should create Services and serve on different Service CIDRs', async () => {
    await create(serviceCidrs, { metadata: { name: 'test-svc-cidr' }, spec: { cidrs: ['203.0.113.0/24'] } })
    await advance()
    expect((await cluster.client.get(serviceCidrs, { name: 'test-svc-cidr' })).status?.conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
    ])
    const selector = { app: 'cidr' }
    const spec = { type: 'NodePort', clusterIP: '203.0.113.10', selector, ports: [{ port: 80, targetPort: 9376 }] }
    expect((await createService('cidr1', spec)).spec.clusterIP).toBe('203.0.113.10')
    await createPod('pod1', selector)
    await advance()
    expect(await portsOfPods('cidr1')).toEqual({ pod1: [9376] })
    expect((await cluster.client.get(ipAddresses, { name: '203.0.113.10' })).spec?.parentRef).toMatchObject({
      resource: 'services',
      name: 'cidr1',
    })
  })

  it('should support ServiceCIDR API operations', async () => {
    const key = { name: 'kubernetes' }
    const found = await cluster.client.get(serviceCidrs, key)
    const status = await cluster.client.get(serviceCidrs, key, { subresource: 'status' })
    expect(status).toMatchObject({ kind: 'ServiceCIDR', metadata: { uid: found.metadata.uid } })
    expect((await cluster.client.list(serviceCidrs)).items.length).toBeGreaterThan(0)
  })

  it('should support IPAddress API operations', async () => {
    const parentRef = { group: 'mygroup', resource: 'myresources', namespace: 'foo', name: 'bar' }
    const add = (name: string, type: string) =>
      create(ipAddresses, { metadata: { name, labels: { type } }, spec: { parentRef } })
    const listed = async (type: string) =>
      (await cluster.client.list(ipAddresses, { labelSelector: `type=${type}` })).items.map(
        ({ metadata }) => metadata.name,
      )
    await add('255.255.255.255', 'broadcast')
    await add('fe80::42:1dff:fe84:f9e2', 'link-local')
    const key = { name: '255.255.255.255' }
    const body = { metadata: { annotations: { patched: 'true' } } }
    const patched = await cluster.client.patch(ipAddresses, key, { type: 'merge', body })
    const annotations = { ...patched.metadata.annotations, updated: 'true' }
    await cluster.client.update(ipAddresses, { ...patched, metadata: { ...patched.metadata, annotations } })
    expect((await cluster.client.get(ipAddresses, key)).metadata.annotations).toEqual({
      patched: 'true',
      updated: 'true',
    })
    expect(await listed('broadcast')).toEqual(['255.255.255.255'])
    await cluster.client.delete(ipAddresses, key)
    await cluster.client.deleteCollection(ipAddresses, { labelSelector: 'type=link-local' })
    expect([await listed('broadcast'), await listed('link-local')]).toEqual([[], []])
  })
})

describe('services of two families', () => {
  beforeEach(() => create(serviceCidrs, { metadata: { name: 'six' }, spec: { cidrs: ['fd00:96::/112'] } }))

  it.each([
    ['should create a single stack service with cluster ip from primary service range', {}, ['IPv4']],
    ['should create service with ipv4 cluster ip', { ipFamilies: ['IPv4'] }, ['IPv4']],
    ['should create service with ipv6 cluster ip', { ipFamilies: ['IPv6'] }, ['IPv6']],
    [
      'should create service with ipv4,v6 cluster ip',
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      ['IPv4', 'IPv6'],
    ],
    [
      'should create service with ipv6,v4 cluster ip',
      { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6', 'IPv4'] },
      ['IPv6', 'IPv4'],
    ],
  ])('%s', async (_, families, expected) => {
    const { spec } = await createService('web', { ports: [{ port: 80 }], ...families })
    expect(spec.ipFamilies).toEqual(expected)
    expect(spec.clusterIPs?.map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4'))).toEqual(expected)
  })
})

describe('IngressClass', () => {
  const marked = (name: string, isDefault = true) =>
    create(ingressClasses, {
      metadata: { name, annotations: { 'ingressclass.kubernetes.io/is-default-class': String(isDefault) } },
      spec: { controller: `example.com/${name}` },
    })
  const classOf = async () => {
    const defaultBackend = { service: { name: 'web', port: { number: 80 } } }
    const made = await create(ingresses, { metadata: keyOf('web'), spec: { defaultBackend } })
    return (made as Ingress).spec?.ingressClassName
  }

  it('should set default value on new IngressClass', async () => {
    await marked('one')
    expect(await classOf()).toBe('one')
  })

  it('should not set default value if no default IngressClass', async () => {
    await marked('one', false)
    expect(await classOf()).toBeUndefined()
  })

  it('should choose the one with the later CreationTimestamp, if equal the one with the lower name when two ingressClasses are marked as default', async () => {
    await marked('b')
    await marked('a')
    expect(await classOf()).toBe('a')
    await cluster.client.delete(ingresses, keyOf('web'))
    await advance()
    await marked('c')
    expect(await classOf()).toBe('c')
  })

  it('should allow IngressClass to have Namespace-scoped parameters', async () => {
    const parameters = {
      scope: 'Namespace',
      namespace: 'foo-ns',
      kind: 'fookind',
      name: 'fooname',
      apiGroup: 'example.com',
    }
    const made = await create(ingressClasses, {
      metadata: { name: 'one' },
      spec: { controller: 'example.com/controller', parameters },
    })
    expect(made).toMatchObject({ spec: { parameters } })
  })
})

describe('where traffic should go', () => {
  const zone = 'topology.kubernetes.io/zone'
  const start = async (spec: object, replicas: number, annotations: object = {}) => {
    const { items } = await cluster.client.list(nodes)
    for (const [index, { metadata }] of items.entries()) {
      const body = { metadata: { labels: { [zone]: ['a', 'b', 'c'][index] } } }
      await cluster.client.patch(nodes, { name: metadata.name ?? '' }, { type: 'merge', body })
    }
    await environment.clock.settle()
    const labels = { app: 'hints' }
    const topologySpreadConstraints = [
      { maxSkew: 1, topologyKey: zone, whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } },
    ]
    await create(replicaSets, {
      metadata: keyOf('hints'),
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'main', image: 'example/web' }], topologySpreadConstraints },
        },
      },
    })
    await createService('hints', { selector: labels, ports: [{ port: 80 }], ...spec }, { annotations })
    await advance('30s')
    return (await slicesOf('hints')).flatMap((each) => each.endpoints ?? [])
  }

  it.each(['PreferClose', 'PreferSameZone'])(
    'should route traffic to an endpoint in the same zone when using %s',
    async (trafficDistribution) => {
      const found = await start({ trafficDistribution }, 3)
      expect(found).toHaveLength(3)
      for (const each of found) expect(each.hints?.forZones).toEqual([{ name: each.zone }])
    },
  )

  it('should route traffic to an endpoint on the same node or fall back to same zone when using PreferSameNode', async () => {
    const found = await start({ trafficDistribution: 'PreferSameNode' }, 3)
    expect(found).toHaveLength(3)
    for (const each of found) {
      expect(each.hints).toEqual({ forNodes: [{ name: each.nodeName }], forZones: [{ name: each.zone }] })
    }
  })

  it('should distribute endpoints evenly', async () => {
    const found = await start({}, 9, { 'service.kubernetes.io/topology-mode': 'Auto' })
    const counts: Record<string, number> = {}
    for (const { hints } of found) {
      for (const { name } of hints?.forZones ?? []) counts[name] = (counts[name] ?? 0) + 1
    }
    expect(counts).toEqual({ a: 3, b: 3, c: 3 })
  })
})
