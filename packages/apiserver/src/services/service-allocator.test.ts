import { ipAddresses, type Service, serviceCidrs, services } from '@coracle/api'
import { createMemoryStore } from '@coracle/store/memory'
import { describe, expect, it, vi } from 'vitest'
import { refusal, startTestCore, type TestCore } from '../testing/test-core.ts'
import { chooseFree, keptBackOf } from './choose.ts'
import { portOfRecord, portRecordsPrefix } from './node-port-records.ts'
import { nodePortsPerServiceMax } from './node-ports.ts'

const service = (name: string, spec: object = {}, namespace = 'default'): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { ports: [{ port: 80 }], selector: { app: 'web' }, ...spec },
  }) as Service

const cidr = (name: string, ...cidrs: readonly string[]) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs },
})

describe('the address of a service', () => {
  it('comes from the range of services, and is its own', async () => {
    const { client } = await startTestCore()
    const created = await Promise.all(
      Array.from({ length: 50 }, (_, index) => client.create(services, service(`s${index}`))),
    )
    const addresses = created.map(({ spec }) => spec.clusterIP ?? '')
    expect(new Set(addresses).size).toBe(50)
    for (const address of addresses) expect(address).toMatch(/^10\.(9[6-9]|10\d|11[01])\./)
    expect(created[0]?.spec).toMatchObject({
      clusterIPs: [addresses[0]],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    })
  })

  it.each(['10.96.0.0', '10.111.255.255'])(
    'is none that names the range, or reaches all of it: %s',
    async (clusterIP) => {
      const { client } = await startTestCore()
      expect(await refusal(client.create(services, service('a', { clusterIP })))).toMatchObject({
        code: 422,
        message: expect.stringContaining(`the provided IP (${clusterIP}) is not in the valid range`),
      })
    },
  )

  it('may be asked for once', async () => {
    const { client } = await startTestCore()
    await client.create(services, service('a', { clusterIP: '10.96.0.10' }))
    expect(await refusal(client.create(services, service('b', { clusterIP: '10.96.0.10' })))).toMatchObject({
      code: 422,
      message:
        'Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated',
    })
    expect((await refusal(client.create(services, service('c', { clusterIP: '10.0.0.1' })))).message).toBe(
      'Service "c" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.1"]: failed to allocate IP 10.0.0.1: the provided IP (10.0.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/12',
    )
  })

  it.each<readonly [object, string]>([
    [
      { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.2'] },
      'spec.clusterIPs: Invalid value: ["10.0.0.2"]: first value must match `clusterIP`',
    ],
    [{ ipFamilies: ['IPv5'] }, 'spec.ipFamilies[0]: Unsupported value: "IPv5": supported values: "IPv4", "IPv6"'],
  ])('is looked at before it is asked for: %j', async (spec, message) => {
    const { client } = await startTestCore()
    expect((await refusal(client.create(services, service('a', spec)))).message).toBe(
      `Service "a" is invalid: ${message}`,
    )
  })

  it('cannot be exchanged for another, in the range or not', async () => {
    const { client } = await startTestCore()
    const created = await client.create(services, service('a', { clusterIP: 'None' }))
    const clusterIPs = ['192.0.2.1']
    const update = client.update(services, {
      ...created,
      spec: { ...created.spec, clusterIP: '192.0.2.1', clusterIPs },
    })
    expect((await refusal(update)).message).toBe(
      'Service "a" is invalid: spec.clusterIPs[0]: Invalid value: ["192.0.2.1"]: may not change once set',
    )
  })

  it('cannot be exchanged by naming another alone', async () => {
    const { client } = await startTestCore()
    const { metadata } = await client.create(services, service('a', { clusterIP: '10.96.0.9' }))
    const update = client.update(services, { ...service('a', { clusterIP: '10.96.0.7' }), metadata })
    expect((await refusal(update)).message).toBe(
      'Service "a" is invalid: spec.clusterIPs[0]: Invalid value: ["10.96.0.7"]: may not change once set',
    )
  })

  it('goes to one of two who ask at the same time', async () => {
    const { client } = await startTestCore()
    const both = ['a', 'b'].map((name) => client.create(services, service(name, { clusterIP: '10.96.0.10' })))
    const outcomes = await Promise.allSettled(both)
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('is free again when the service is gone, is refused, or was only tried', async () => {
    const { client } = await startTestCore()
    const ip = { clusterIP: '10.96.0.10' }
    await client.create(services, service('tried', ip), { dryRun: true })
    await refusal(client.create(services, service('wrong', { ...ip, ports: [{ port: 0 }] })))
    await client.create(services, service('a', ip))
    await client.delete(services, { namespace: 'default', name: 'a' })
    expect((await client.create(services, service('b', ip))).spec.clusterIP).toBe('10.96.0.10')
  })

  it('stays when the service changes, goes with a type that has none, and comes back with one that has', async () => {
    const { client } = await startTestCore()
    const created = await client.create(services, service('a'))
    const changed = await client.update(services, { ...created, spec: { ...created.spec, selector: { app: 'api' } } })
    expect(changed.spec.clusterIP).toBe(created.spec.clusterIP)
    const named = await client.update(services, {
      ...changed,
      spec: { ...changed.spec, type: 'ExternalName', externalName: 'example.com' },
    })
    expect(named.spec.clusterIP).toBeUndefined()
    const { externalName: _, ...spec } = named.spec
    const back = await client.update(services, { ...named, spec: { ...spec, type: 'ClusterIP' } })
    expect(back.spec.clusterIP).toMatch(/^10\./)
  })

  it('is none where the service says so, which still has families', async () => {
    const { client } = await startTestCore()
    const headless = await client.create(services, service('a', { clusterIP: 'None' }))
    expect(headless.spec).toMatchObject({ clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' })
    const open = await client.create(services, service('b', { clusterIP: 'None', selector: {} }))
    expect(open.spec).toMatchObject({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' })
  })

  it('is there for both families where the cluster has both', async () => {
    const { client } = await startTestCore()
    expect((await refusal(client.create(services, service('a', { ipFamilyPolicy: 'RequireDualStack' })))).message).toBe(
      'Service "a" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    )
    await client.create(serviceCidrs, cidr('six', 'fd00:96::/112'))
    const { spec } = await client.create(services, service('a', { ipFamilyPolicy: 'RequireDualStack' }))
    expect(spec.ipFamilies).toEqual(['IPv4', 'IPv6'])
    expect(spec.clusterIPs?.[1]).toMatch(/^fd00:96::/)
    expect((await client.create(services, service('b'))).spec.clusterIPs).toHaveLength(1)
  })

  it('is given back with the second family, when the policy says so', async () => {
    const { client } = await startTestCore()
    await client.create(serviceCidrs, cidr('six', 'fd00:96::/112'))
    const created = await client.create(services, service('a', { ipFamilyPolicy: 'PreferDualStack' }))
    const [first, second = ''] = created.spec.clusterIPs ?? []
    expect(await client.get(ipAddresses, { name: second })).toBeDefined()
    const spec = { ...created.spec, ipFamilyPolicy: 'SingleStack' }
    const single = await client.update(services, { ...created, spec } as Service)
    expect(single.spec).toMatchObject({ clusterIP: first, clusterIPs: [first], ipFamilies: ['IPv4'] })
    await expect(client.get(ipAddresses, { name: second })).rejects.toThrow('not found')
    const again = await client.update(services, {
      ...single,
      spec: { ...single.spec, ipFamilyPolicy: 'PreferDualStack' },
    })
    expect(again.spec.clusterIPs?.[1]).toMatch(/^fd00:96::/)
  })

  it('is not there when the range is full', async () => {
    const { client } = await startTestCore()
    await client.create(serviceCidrs, cidr('small', '10.0.0.0/29'))
    await client.delete(serviceCidrs, { name: 'kubernetes' })
    const create = (name: string) => client.create(services, service(name))
    const addresses = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(create))
    const all = [1, 2, 3, 4, 5, 6].map((last) => `10.0.0.${last}`)
    expect(addresses.map(({ spec }) => spec.clusterIP).sort()).toEqual(all)
    const message = 'Internal error occurred: failed to allocate a serviceIP for Service "g": range is full'
    expect(await refusal(create('g'))).toMatchObject({ code: 500, message })
  })

  it('is not there while there is no range, unless there needs to be none', async () => {
    const { client } = await startTestCore()
    await client.delete(serviceCidrs, { name: 'kubernetes' })
    const message = 'Internal error occurred: failed to allocate a serviceIP for Service "a": range is full'
    expect(await refusal(client.create(services, service('a')))).toMatchObject({ code: 500, message })
    const headless = await client.create(services, service('b', { clusterIP: 'None' }))
    expect(headless.spec).toMatchObject({ clusterIPs: ['None'], ipFamilies: ['IPv4'] })
  })
})

describe('the ports of a service on the nodes', () => {
  const onNodes = (ports: readonly object[], more: object = {}) => ({ type: 'NodePort', ports, ...more })

  it('are there with the type, and free again without it', async () => {
    const { client } = await startTestCore()
    const created = await client.create(services, service('a', onNodes([{ port: 80 }])))
    const nodePort = created.spec.ports?.[0]?.nodePort ?? 0
    expect(nodePort).toBeGreaterThanOrEqual(30_000)
    expect(nodePort).toBeLessThanOrEqual(32_767)
    await client.update(services, { ...created, spec: { ...created.spec, type: 'ClusterIP' } })
    const again = await client.create(services, service('b', onNodes([{ port: 80, nodePort }])))
    expect(again.spec.ports?.[0]?.nodePort).toBe(nodePort)
  })

  it('are one for several protocols', async () => {
    const { client } = await startTestCore()
    const ports = [
      { name: 'udp', port: 53, protocol: 'UDP' },
      { name: 'tcp', port: 53, protocol: 'TCP' },
      { name: 'web', port: 80 },
    ]
    const { spec } = await client.create(services, service('dns', onNodes(ports)))
    const [udp, tcp, web] = (spec.ports ?? []).map(({ nodePort }) => nodePort)
    expect(udp).toBe(tcp)
    expect(web).not.toBe(tcp)
  })

  it('may be asked for by several protocols, each once', async () => {
    const { client } = await startTestCore()
    const at = (protocol: string, name: string) => ({ name, port: 53, protocol, nodePort: 30_053 })
    const { spec } = await client.create(services, service('dns', onNodes([at('UDP', 'udp'), at('TCP', 'tcp')])))
    expect(spec.ports?.map(({ nodePort }) => nodePort)).toEqual([30_053, 30_053])
    const other = service('other', onNodes([{ ...at('SCTP', 'sctp'), port: 54 }]))
    expect((await refusal(client.create(services, other))).message).toContain('provided port is already allocated')
  })

  it('may be asked for once, within the range', async () => {
    const { client } = await startTestCore()
    await client.create(services, service('a', onNodes([{ port: 80, nodePort: 30_080 }])))
    const refused = async (nodePort: number) =>
      (await refusal(client.create(services, service('b', onNodes([{ port: 80, nodePort }]))))).message
    expect(await refused(30_080)).toBe(
      'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    )
    expect(await refused(80)).toBe(
      'Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    )
  })

  it('tell load balancers where pods are', async () => {
    const { client } = await startTestCore()
    const { spec } = await client.create(
      services,
      service('a', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ port: 80 }] }),
    )
    expect(spec.healthCheckNodePort).toBeGreaterThanOrEqual(30_000)
    expect(spec.healthCheckNodePort).not.toBe(spec.ports?.[0]?.nodePort)
  })
})

describe('the records of what services have', () => {
  const recorded = async ({ client, store }: TestCore) => ({
    addresses: (await client.list(ipAddresses)).items.map(({ metadata, spec }) => [metadata.name, spec.parentRef.name]),
    ports: (await store.list(portRecordsPrefix)).entries.map(({ key }) => portOfRecord(key)),
  })

  it('come, change and go with the services', async () => {
    const core = await startTestCore()
    const { client } = core
    const before = await recorded(core)
    const ports = [{ port: 80, nodePort: 30_080 }]
    const created = await client.create(services, service('a', { type: 'NodePort', clusterIP: '10.96.0.10', ports }))
    expect(await recorded(core)).toEqual({
      addresses: [...before.addresses, ['10.96.0.10', 'a']],
      ports: [30_080],
    })
    const { metadata, spec } = await client.get(ipAddresses, { name: '10.96.0.10' })
    expect(metadata.labels).toEqual({
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    })
    expect(spec.parentRef).toEqual({ resource: 'services', namespace: 'default', name: 'a' })
    const moved = { ...created, spec: { ...created.spec, ports: [{ port: 80, nodePort: 30_081 }] } }
    const updated = await client.update(services, moved)
    expect((await recorded(core)).ports).toEqual([30_081])
    const named = { ...updated.spec, type: 'ExternalName' as const, externalName: 'example.com' }
    await client.update(services, { ...updated, spec: named })
    expect(await recorded(core)).toEqual(before)
  })

  it('count the port for health checks, which is free again without the service', async () => {
    const core = await startTestCore()
    const { client } = core
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [{ port: 80 }] }
    const { spec } = await client.create(services, service('a', local))
    const own = [spec.ports?.[0]?.nodePort, spec.healthCheckNodePort]
    expect((await recorded(core)).ports.toSorted()).toEqual(own.toSorted())
    const greedy = service('b', { type: 'NodePort', ports: [{ port: 80, nodePort: spec.healthCheckNodePort }] })
    expect((await refusal(client.create(services, greedy))).message).toContain('provided port is already allocated')
    await client.delete(services, { namespace: 'default', name: 'a' })
    await client.create(services, greedy)
  })

  it('go with the last finalizer', async () => {
    const core = await startTestCore()
    const { client } = core
    const before = await recorded(core)
    const held = service('a', { type: 'NodePort' })
    await client.create(services, { ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } })
    const key = { namespace: 'default', name: 'a' }
    await client.delete(services, key)
    expect((await recorded(core)).ports).toHaveLength(1)
    await client.patch(services, key, { type: 'merge', body: { metadata: { finalizers: null } } })
    expect(await recorded(core)).toEqual(before)
  })

  it('let nobody have an address that somebody else keeps an object of', async () => {
    const { client } = await startTestCore()
    const parentRef = { group: 'example.com', resource: 'gateways', name: 'g' }
    const metadata = { name: '10.96.0.77' }
    await client.create(ipAddresses, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IPAddress',
      metadata,
      spec: { parentRef },
    })
    const { message } = await refusal(client.create(services, service('a', { clusterIP: '10.96.0.77' })))
    expect(message).toContain('provided IP is already allocated')
  })

  it('limit the ports of one service', async () => {
    const { client } = await startTestCore()
    const ports = Array.from({ length: nodePortsPerServiceMax + 1 }, (_, index) => ({
      name: `p${index}`,
      port: index + 1,
    }))
    const wide = (count: number) => service(`s${count}`, { type: 'NodePort', ports: ports.slice(0, count) })
    await client.create(services, wide(nodePortsPerServiceMax))
    await client.delete(services, { namespace: 'default', name: `s${nodePortsPerServiceMax}` })
    expect(await refusal(client.create(services, wide(ports.length)))).toMatchObject({
      code: 422,
      message: expect.stringContaining('spec.ports: Too many: 101: must have at most 100 items'),
    })
  })
})

describe('two servers with one store', () => {
  const twoServers = async () => {
    const store = createMemoryStore()
    return [await startTestCore({ store }), await startTestCore({ store })] as const
  }

  it('give away no address and no port twice', async () => {
    const servers = await twoServers()
    // So few that both are all but certain to choose the same.
    await servers[0].client.create(serviceCidrs, cidr('small', '10.0.0.0/26'))
    await servers[0].client.delete(serviceCidrs, { name: 'kubernetes' })
    const created = await Promise.all(
      servers.flatMap(({ client }, server) =>
        Array.from({ length: 25 }, (_, index) =>
          client.create(services, service(`s${server}-${index}`, { type: 'NodePort' })),
        ),
      ),
    )
    expect(new Set(created.map(({ spec }) => spec.clusterIP)).size).toBe(50)
    expect(new Set(created.map(({ spec }) => spec.ports?.[0]?.nodePort)).size).toBe(50)
  })

  it.each([
    ['an address', { clusterIP: '10.96.0.10' }, 'provided IP is already allocated'],
    ['a port', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }, 'provided port is already allocated'],
  ])('give %s to one of two who ask for it', async (_, asked, refused) => {
    const servers = await twoServers()
    const creations = servers.map(({ client }, server) => client.create(services, service(`s${server}`, asked)))
    const outcomes = await Promise.allSettled(creations)
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []))
    expect(reasons).toEqual([expect.stringContaining(refused)])
  })

  it('give one what the other has freed', async () => {
    const [one, two] = await twoServers()
    const asked = { type: 'NodePort', clusterIP: '10.96.0.10', ports: [{ port: 80, nodePort: 30_080 }] }
    await one.client.create(services, service('a', asked))
    await two.client.delete(services, { namespace: 'default', name: 'a' })
    await one.client.create(services, service('b', asked))
  })
})

it.each([10, 500])('looks at nothing but what is written where there are %i services', async (count) => {
  const { client, registry, store } = await startTestCore()
  await Promise.all(
    Array.from({ length: count }, (_, index) => client.create(services, service(`s${index}`, { type: 'NodePort' }))),
  )
  const { storage } = registry(services)
  const walks = [storage.cache, registry(ipAddresses).storage.cache].flatMap((cache) => [
    vi.spyOn(cache, 'values'),
    vi.spyOn(cache, 'slice'),
  ])
  const commits = vi.spyOn(store, 'commit')
  await client.create(services, service('another', { type: 'NodePort' }))
  for (const walk of walks) expect(walk).not.toHaveBeenCalled()
  const operations = commits.mock.calls.flatMap(([transaction]) => transaction.operations)
  expect(operations).toHaveLength(3)
})

describe('a free value', () => {
  it.each([1, 5, 16, 40, 300])('is found as long as there is one of %i', (size) => {
    const taken = new Set<number>()
    for (let count = 0; count < size; count += 1) {
      const value = chooseFree(
        size,
        keptBackOf(size, 16),
        (each) => taken.has(each),
        () => 0.5,
      )
      if (value === undefined) throw new Error(`${size - count} are free`)
      expect(taken.has(value)).toBe(false)
      taken.add(value)
    }
    expect(
      chooseFree(
        size,
        keptBackOf(size, 16),
        (each) => taken.has(each),
        () => 0.5,
      ),
    ).toBeUndefined()
    expect([...taken].sort((a, b) => a - b)).toEqual(Array.from({ length: size }, (_, index) => index))
  })

  it('is one that people seldom ask for, while there are others', () => {
    const taken = new Set<number>()
    for (let count = 0; count < 24; count += 1) {
      const value = chooseFree(
        40,
        16,
        (each) => taken.has(each),
        () => 0,
      )
      expect(value).toBeGreaterThanOrEqual(16)
      taken.add(value ?? 0)
    }
    expect(
      chooseFree(
        40,
        16,
        (each) => taken.has(each),
        () => 0,
      ),
    ).toBeLessThan(16)
  })
})
