import { endpointSlices, services } from '@coracle/api'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CachedCluster, cachedCluster } from '../testing/cached-cluster.ts'
import { headless, makeNamespace, makeService, makeSlice } from '../testing/objects.ts'
import { types } from '../wire/numbers.ts'
import type { DnsRecord } from '../wire/records.ts'
import { type ZoneAnswer, zoneAnswer } from './cluster-zone.ts'

/** A record as `dig` shows it, without what is the same of all. */
function text(record: DnsRecord): string {
  switch (record.type) {
    case 'A':
    case 'AAAA':
      return `${record.type} ${record.address}`
    case 'SRV':
      return `SRV ${record.priority} ${record.weight} ${record.port} ${record.target}`
    case 'TXT':
      return `TXT ${record.text}`
    case 'SOA':
      return `SOA ${record.primary}`
    case 'other':
      return `TYPE${record.typeNumber}`
    default:
      return `${record.type} ${record.target}`
  }
}

function shown(answer: ZoneAnswer | undefined): string {
  if (answer === undefined) return 'not ours'
  const { rcode, answers, continuesAt } = answer
  const records = answers.map(text).join(', ')
  if (rcode === 3) return records === '' ? 'NXDOMAIN' : `NXDOMAIN ${records}`
  return `${records === '' ? 'NODATA' : records}${continuesAt === undefined ? '' : ` → ${continuesAt}`}`
}

const bothFamilies = {
  clusterIPs: ['10.96.0.8', 'fd00:96::8'],
  clusterIP: '10.96.0.8',
  ipFamilies: ['IPv4', 'IPv6'],
} as const

const objects = [
  makeNamespace('shop'),
  makeNamespace('empty'),
  makeService('web', {
    ports: [
      { name: 'http', port: 80, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
      { port: 9000, protocol: 'TCP' },
    ],
  }),
  makeService('both', { ...bothFamilies, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }),
  makeService('db', headless),
  makeSlice('db', [
    { addresses: ['10.1.0.1'], hostname: 'db-0' },
    { addresses: ['10.1.0.2'], hostname: 'db-1', conditions: { ready: true } },
    { addresses: ['10.1.0.3'], hostname: 'db-2', conditions: { ready: false } },
    { addresses: ['10.1.0.4'] },
  ]),
  makeSlice('db', [{ addresses: ['fd00::5'], hostname: 'db-0' }, { addresses: ['fd00:0::'] }], {
    name: 'db-2',
    addressType: 'IPv6',
  }),
  makeService('idle', headless),
  makeService('portless', { ...headless, ports: [] }),
  makeSlice('portless', [{ addresses: ['10.1.0.9'], hostname: 'one' }], { ports: [] }),
  makeService('odd', { ...headless, ports: [] }),
  makeSlice('odd', [{ addresses: ['10.1.0.10'], hostname: 'one' }], {
    ports: [70_000, -1, 8080].map((port, index) => ({ name: `p${index}`, port, protocol: 'TCP' })),
  }),
  makeSlice('web', [{ addresses: ['10.1.0.20'], hostname: 'web-0' }, { addresses: ['10.1.0.21'] }]),
  makeService('outside', { type: 'ExternalName', externalName: 'Example.COM.', clusterIP: '', clusterIPs: [] }),
  makeService('address', { type: 'ExternalName', externalName: '192.0.2.1', clusterIP: '', clusterIPs: [] }),
  makeService('endless', {
    type: 'ExternalName',
    externalName: `${'x'.repeat(64)}.example`,
    clusterIP: '',
    clusterIPs: [],
  }),
  makeService('alias', { type: 'ExternalName', externalName: 'web.shop.svc.cluster.local', clusterIP: '' }),
  makeService('dangling', { type: 'ExternalName', externalName: 'gone.shop.svc.cluster.local', clusterIP: '' }),
  makeService('round', { type: 'ExternalName', externalName: 'around.shop.svc.cluster.local', clusterIP: '' }),
  makeService('around', { type: 'ExternalName', externalName: 'round.shop.svc.cluster.local', clusterIP: '' }),
]

let cluster: CachedCluster
beforeAll(async () => {
  cluster = await cachedCluster(objects)
})

const ask = (name: string, type: keyof typeof types): string => shown(zoneAnswer(cluster.zone, name, types[type]))

describe('what names of a cluster stand for', () => {
  it.each([
    // Services with addresses.
    ['web.shop.svc.cluster.local', 'A', 'A 10.96.0.7'],
    ['web.shop.svc.cluster.local', 'AAAA', 'NODATA'],
    ['web.shop.svc.cluster.local', 'MX', 'NODATA'],
    ['web.shop.svc.cluster.local', 'TXT', 'NODATA'],
    ['both.shop.svc.cluster.local', 'A', 'A 10.96.0.8'],
    ['both.shop.svc.cluster.local', 'AAAA', 'AAAA fd00:96::8'],
    ['_http._tcp.web.shop.svc.cluster.local', 'SRV', 'SRV 0 100 80 web.shop.svc.cluster.local'],
    ['_dns._udp.web.shop.svc.cluster.local', 'SRV', 'SRV 0 100 53 web.shop.svc.cluster.local'],
    ['_http._tcp.both.shop.svc.cluster.local', 'SRV', 'SRV 0 100 80 both.shop.svc.cluster.local'],
    ['_http._udp.web.shop.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    ['_https._tcp.web.shop.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    ['_http._tcp.web.shop.svc.cluster.local', 'A', 'A 10.96.0.7'],
    ['_tcp.web.shop.svc.cluster.local', 'A', 'NODATA'],
    ['_sctp.web.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    [
      'web.shop.svc.cluster.local',
      'SRV',
      [80, 53, 9000].map((port) => `SRV 0 33 ${port} web.shop.svc.cluster.local`).join(', '),
    ],
    // Endpoints of theirs have names as well.
    ['web-0.web.shop.svc.cluster.local', 'A', 'A 10.1.0.20'],
    ['10-1-0-21.web.shop.svc.cluster.local', 'A', 'A 10.1.0.21'],
    // Headless services.
    ['db.shop.svc.cluster.local', 'A', 'A 10.1.0.1, A 10.1.0.2, A 10.1.0.4'],
    ['db.shop.svc.cluster.local', 'AAAA', 'AAAA fd00::5, AAAA fd00:0::'],
    ['db-0.db.shop.svc.cluster.local', 'A', 'A 10.1.0.1'],
    ['db-0.db.shop.svc.cluster.local', 'AAAA', 'AAAA fd00::5'],
    ['db-1.db.shop.svc.cluster.local', 'AAAA', 'NODATA'],
    ['db-2.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['db-9.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['10-1-0-4.db.shop.svc.cluster.local', 'A', 'A 10.1.0.4'],
    ['10-1-0-1.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['fd00-0--0.db.shop.svc.cluster.local', 'AAAA', 'AAAA fd00:0::'],
    ['idle.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['portless.shop.svc.cluster.local', 'A', 'A 10.1.0.9'],
    ['portless.shop.svc.cluster.local', 'SRV', 'NODATA'],
    // The API takes any number for a port.
    ['odd.shop.svc.cluster.local', 'SRV', 'SRV 0 100 8080 one.odd.shop.svc.cluster.local'],
    ['odd.shop.svc.cluster.local', 'A', 'A 10.1.0.10'],
    [
      '_http._tcp.db.shop.svc.cluster.local',
      'SRV',
      ['db-0', 'db-1', '10-1-0-4', 'fd00-0--0']
        .map((host) => `SRV 0 25 8080 ${host}.db.shop.svc.cluster.local`)
        .join(', '),
    ],
    ['too.many._http._tcp.db.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    // Services that are names of others.
    ['outside.shop.svc.cluster.local', 'A', 'CNAME example.com → example.com'],
    ['outside.shop.svc.cluster.local', 'CNAME', 'CNAME example.com'],
    ['_http._tcp.outside.shop.svc.cluster.local', 'SRV', 'NXDOMAIN'],
    ['address.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['endless.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['alias.shop.svc.cluster.local', 'A', 'CNAME web.shop.svc.cluster.local, A 10.96.0.7'],
    ['dangling.shop.svc.cluster.local', 'A', 'NXDOMAIN CNAME gone.shop.svc.cluster.local'],
    ['round.shop.svc.cluster.local', 'A', 'CNAME around.shop.svc.cluster.local, CNAME round.shop.svc.cluster.local'],
    // Pods, whether there are such or not.
    ['10-1-2-3.shop.pod.cluster.local', 'A', 'A 10.1.2.3'],
    ['10-1-2-3.shop.pod.cluster.local', 'AAAA', 'NODATA'],
    ['fd00--1.shop.pod.cluster.local', 'AAAA', 'AAAA fd00::1'],
    ['10-1-2-300.shop.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['web.shop.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['x.10-1-2-3.shop.pod.cluster.local', 'A', 'NXDOMAIN'],
    ['10-1-2-3.nowhere.pod.cluster.local', 'A', 'NXDOMAIN'],
    // Names that only have others below them.
    ['cluster.local', 'A', 'NODATA'],
    ['cluster.local', 'NS', 'NS ns.dns.cluster.local'],
    ['svc.cluster.local', 'A', 'NODATA'],
    ['pod.cluster.local', 'A', 'NODATA'],
    ['empty.svc.cluster.local', 'A', 'NODATA'],
    ['empty.pod.cluster.local', 'A', 'NODATA'],
    ['nowhere.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['web.nowhere.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['gone.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['svc.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['other.cluster.local', 'A', 'NXDOMAIN'],
    ['dns-version.cluster.local', 'TXT', 'TXT 1.1.0'],
    ['dns-version.cluster.local', 'A', 'NODATA'],
    ['x.dns-version.cluster.local', 'TXT', 'NXDOMAIN'],
    ['ns.dns.cluster.local', 'A', 'A 10.96.0.10'],
    ['dns.cluster.local', 'A', 'NODATA'],
    ['other.dns.cluster.local', 'A', 'NXDOMAIN'],
    // Addresses.
    ['7.0.96.10.in-addr.arpa', 'PTR', 'PTR web.shop.svc.cluster.local'],
    ['7.0.96.10.in-addr.arpa', 'A', 'NODATA'],
    ['1.0.1.10.in-addr.arpa', 'PTR', 'PTR db-0.db.shop.svc.cluster.local'],
    ['20.0.1.10.in-addr.arpa', 'PTR', 'PTR web-0.web.shop.svc.cluster.local'],
    ['3.0.1.10.in-addr.arpa', 'PTR', 'not ours'],
    ['4.0.1.10.in-addr.arpa', 'PTR', 'not ours'],
    ['0.1.10.in-addr.arpa', 'PTR', 'not ours'],
    [`5.${'0.'.repeat(27)}0.0.d.f.ip6.arpa`, 'PTR', 'PTR db-0.db.shop.svc.cluster.local'],
    [`8.${'0.'.repeat(19)}6.9.0.0.0.0.d.f.ip6.arpa`, 'PTR', 'not ours'],
    // Names of others.
    ['example.com', 'A', 'not ours'],
    ['notcluster.local', 'A', 'not ours'],
    ['', 'NS', 'not ours'],
  ] as const)('%s %s: %s', (name, type, expected) => {
    expect(ask(name, type)).toBe(expected)
  })

  it('gives the addresses of endpoints along with their ports', () => {
    const answer = zoneAnswer(cluster.zone, '_http._tcp.db.shop.svc.cluster.local', types.SRV)
    expect(answer?.additional.map((record) => `${record.name} ${text(record)}`)).toEqual([
      'db-0.db.shop.svc.cluster.local A 10.1.0.1',
      'db-1.db.shop.svc.cluster.local A 10.1.0.2',
      '10-1-0-4.db.shop.svc.cluster.local A 10.1.0.4',
      'db-0.db.shop.svc.cluster.local AAAA fd00::5',
      'fd00-0--0.db.shop.svc.cluster.local AAAA fd00:0::',
    ])
  })

  it('says for how long it is good: half a minute', () => {
    const answer = zoneAnswer(cluster.zone, 'web.shop.svc.cluster.local', types.A)
    expect(answer?.answers.map(({ ttl }) => ttl)).toEqual([30])
  })
})

describe('names of a cluster that changes', () => {
  it('follows services and endpoints', async () => {
    const { client, environment, zone } = await cachedCluster([makeNamespace('shop'), makeService('db', headless)])
    const now = (name: string) => shown(zoneAnswer(zone, `${name}.shop.svc.cluster.local`, types.A))
    expect([now('db'), now('db-0.db'), now('web')]).toEqual(['NXDOMAIN', 'NXDOMAIN', 'NXDOMAIN'])
    await client.create(endpointSlices, makeSlice('db', [{ addresses: ['10.1.0.1'], hostname: 'db-0' }]))
    await client.create(services, makeService())
    await environment.clock.settle()
    expect([now('db'), now('db-0.db'), now('web')]).toEqual(['A 10.1.0.1', 'A 10.1.0.1', 'A 10.96.0.7'])
    const slice = await client.get(endpointSlices, { namespace: 'shop', name: 'db-1' })
    await client.update(endpointSlices, { ...slice, endpoints: [{ addresses: ['10.1.0.2'], hostname: 'db-1' }] })
    await client.delete(services, { namespace: 'shop', name: 'web' })
    await environment.clock.settle()
    expect([now('db'), now('db-0.db'), now('db-1.db'), now('web')]).toEqual([
      'A 10.1.0.2',
      'NXDOMAIN',
      'A 10.1.0.2',
      'NXDOMAIN',
    ])
  })

  it('knows namespaces by their services where it may not see them', async () => {
    const { zone } = await cachedCluster([makeService()])
    const now = (name: string) => shown(zoneAnswer(zone, name, types.A))
    expect(now('web.shop.svc.cluster.local')).toBe('A 10.96.0.7')
    expect(now('shop.svc.cluster.local')).toBe('NODATA')
    expect(now('empty.svc.cluster.local')).toBe('NXDOMAIN')
  })
})
