import { events, type IpAddressObject, ipAddresses, type Service, serviceCidrs, services } from '@coracle/api'
import { expect, it } from 'vitest'
import { startTestCore, type TestCore } from '../testing/test-core.ts'
import { allocatorName } from './ip-address.ts'
import { portOfRecord, portRecordKey, portRecordsPrefix } from './node-port-records.ts'
import { repairDelayMs, repairIntervalMs } from './repair.ts'

const asked = { type: 'NodePort', clusterIP: '10.96.0.10', ports: [{ port: 80, nodePort: 30_080 }] }

const service = (name: string, spec: object): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80 }], ...spec },
  }) as Service

const address = (name: string, parent: string, labels: object = {}): IpAddressObject =>
  ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name, labels },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: parent } },
  }) as IpAddressObject

const ours = { 'ipaddress.kubernetes.io/managed-by': allocatorName, 'ipaddress.kubernetes.io/ip-family': 'IPv4' }

const addresses = async ({ client }: TestCore) =>
  (await client.list(ipAddresses)).items.map(({ metadata, spec }) => `${metadata.name} ${spec.parentRef.name}`)

const ports = async ({ store }: TestCore) =>
  (await store.list(portRecordsPrefix)).entries.map(({ key }) => portOfRecord(key))

const told = async ({ client }: TestCore) =>
  (await client.list(events)).items.map(({ reason, message }) => `${reason}: ${message}`).sort()

const soon = ({ environment }: TestCore) => environment.clock.advance(`${repairDelayMs * 2}ms`)
const nextRound = ({ environment }: TestCore) => environment.clock.advance(`${repairIntervalMs}ms`)

it('makes the address object of a service anew that somebody has deleted', async () => {
  const core = await startTestCore()
  await core.client.create(services, service('a', asked))
  await core.client.delete(ipAddresses, { name: '10.96.0.10' })
  await soon(core)
  expect(await addresses(core)).toContain('10.96.0.10 a')
  expect(await told(core)).toEqual(['ClusterIPNotAllocated: Cluster IP [IPv4]: 10.96.0.10 is not allocated; repairing'])
})

it('gives an address object its labels back, and another name no say', async () => {
  const core = await startTestCore()
  await core.client.create(services, service('a', asked))
  await core.client.patch(ipAddresses, { name: '10.96.0.10' }, { type: 'merge', body: { metadata: { labels: null } } })
  await nextRound(core)
  expect((await core.client.get(ipAddresses, { name: '10.96.0.10' })).metadata.labels).toEqual(ours)
  await core.client.delete(ipAddresses, { name: '10.96.0.10' })
  await core.client.create(ipAddresses, address('10.96.0.10', 'other'))
  await nextRound(core)
  expect(await addresses(core)).toContain('10.96.0.10 a')
  expect(await told(core)).toContain(
    'ClusterIPNotAllocated: the ClusterIP [IPv4]: 10.96.0.10 for Service default/a has a wrong reference; repairing',
  )
})

it('removes address objects of the allocator that no service has, and those alone', async () => {
  const core = await startTestCore()
  await core.client.create(services, service('a', asked))
  await core.client.create(ipAddresses, address('10.96.0.20', 'gone', ours))
  await core.client.create(ipAddresses, address('10.96.0.21', 'a', ours))
  await core.client.create(ipAddresses, address('10.96.0.22', 'gone'))
  await soon(core)
  const left = await addresses(core)
  expect(left).toEqual(expect.arrayContaining(['10.96.0.10 a', '10.96.0.22 gone']))
  expect(left.filter((each) => /\.2[01] /.test(each))).toEqual([])
  expect(await told(core)).toEqual([
    'IPAddressNotAllocated: IPAddress: 10.96.0.20 for Service default/gone appears to have leaked: cleaning up',
    'IPAddressWrongReference: IPAddress: 10.96.0.21 for Service default/a has a wrong reference; cleaning up',
  ])
})

it('makes missing records of ports and removes those that no service has', async () => {
  const core = await startTestCore()
  await core.client.create(services, service('a', asked))
  const key = portRecordKey(30_080)
  const leaked = { type: 'put', key: portRecordKey(31_000), value: Buffer.from('default/gone') } as const
  await core.store.commit({ conditions: [], operations: [{ type: 'delete', key }, leaked] })
  await nextRound(core)
  expect(await ports(core)).toEqual([30_080])
  expect(await told(core)).toEqual(['PortNotAllocated: Port 30080 is not allocated; repairing'])
})

it('tells of two services with the same address and port, and of those out of range', async () => {
  const core = await startTestCore()
  const { client, registry } = core
  const first = await client.create(services, service('a', asked))
  const { writer, cache } = registry(services).storage
  const copy = (name: string, spec: object) =>
    writer.put(
      cache.keyOf('default', name),
      { ...first, metadata: { ...first.metadata, name, uid: name }, spec: { ...first.spec, ...spec } } as Service,
      [],
      0,
      undefined,
    )
  await copy('b', {})
  await copy('c', { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ports: [{ port: 80, nodePort: 80 }] })
  await nextRound(core)
  expect(await told(core)).toEqual([
    'ClusterIPAlreadyAllocated: Cluster IP [IPv4]: 10.96.0.10 was assigned to multiple services; please recreate service',
    'ClusterIPOutOfRange: Cluster IP [IPv4]: 10.0.0.1 is not within any configured Service CIDR; please recreate service',
    'PortAlreadyAllocated: Port 30080 was assigned to multiple services; please recreate service',
    'PortOutOfRange: Port 80 is not within the port range 30000-32767; please recreate service',
  ])
  expect(await addresses(core)).toContain('10.96.0.10 a')
})

it('writes nothing where all is as it should be', async () => {
  const core = await startTestCore()
  await core.client.create(serviceCidrs, {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'six' },
    spec: { cidrs: ['fd00:96::/112'] },
  })
  await core.client.create(
    services,
    service('a', { ...asked, clusterIP: undefined, ipFamilyPolicy: 'RequireDualStack' }),
  )
  await core.client.create(services, service('b', { clusterIP: 'None' }))
  const before = await core.store.latest()
  await nextRound(core)
  expect(await core.store.latest()).toBe(before)
})
