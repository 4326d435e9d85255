import { type EndpointSlice, formatCidr, type Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { frontendsOf, idOf } from './frontends.ts'
import { httpPort, makeEndpoint, makeService, makeSlice } from './testing/objects.ts'

const surroundings = { isOwnNode: (name: string) => name === 'node-0', nodeAddresses: ['127.0.0.1'] }

/** What is listened to and what is behind it, in a line each: `TCP 10.96.0.7:80 → 10.0.0.1:8080 10.0.0.2:8080`. */
function lines(service: Service, ...slices: EndpointSlice[]): readonly string[] {
  return frontendsOf(service, slices, surroundings).map((frontend) =>
    [idOf(frontend), '→', ...frontend.backends.map(({ address, port }) => `${address}:${port}`)].join(' '),
  )
}

const two = makeSlice([makeEndpoint('10.0.0.1'), makeEndpoint('10.0.0.2')])

describe('the frontends of a service', () => {
  it.each<[string, Service, readonly string[]]>([
    ['its address', makeService(), ['TCP 10.96.0.7:80 → 10.0.0.1:8080 10.0.0.2:8080']],
    [
      'its port on the nodes',
      makeService({ type: 'NodePort', ports: [{ ...httpPort, nodePort: 30080 }] }),
      ['TCP 10.96.0.7:80 → 10.0.0.1:8080 10.0.0.2:8080', 'TCP 127.0.0.1:30080 → 10.0.0.1:8080 10.0.0.2:8080'],
    ],
    [
      'addresses that lead here by other means',
      makeService({ externalIPs: ['192.0.2.1'] }),
      ['TCP 10.96.0.7:80 → 10.0.0.1:8080 10.0.0.2:8080', 'TCP 192.0.2.1:80 → 10.0.0.1:8080 10.0.0.2:8080'],
    ],
    [
      'one address of each family, each with endpoints of its own',
      makeService({ clusterIPs: ['10.96.0.7', 'fd00::7'] }),
      ['TCP 10.96.0.7:80 → 10.0.0.1:8080 10.0.0.2:8080', 'TCP [fd00::7]:80 →'],
    ],
    ['none of a service without an address', makeService({ clusterIP: 'None', clusterIPs: ['None'] }), []],
    ['none of a name elsewhere', makeService({ type: 'ExternalName', clusterIP: '', clusterIPs: [] }), []],
    ['none of one that has no address yet', makeService({ clusterIP: '', clusterIPs: [] }), []],
    ['none of one without ports', makeService({ ports: [] }), []],
    [
      'none of what another proxy takes care of',
      makeService({}, { 'service.kubernetes.io/service-proxy-name': 'other' }),
      [],
    ],
    ['none of what is said to have no address', makeService({}, { 'service.kubernetes.io/headless': '' }), []],
    ['none for SCTP', makeService({ ports: [{ ...httpPort, protocol: 'SCTP' }] }), []],
    [
      'nothing behind another protocol on the same port',
      makeService({ ports: [{ ...httpPort, protocol: 'UDP' }] }),
      ['UDP 10.96.0.7:80 →'],
    ],
    [
      'nothing behind a port of another name',
      makeService({ ports: [{ ...httpPort, name: 'metrics' }] }),
      ['TCP 10.96.0.7:80 →'],
    ],
  ])('are %s', (_, service, expected) => {
    expect(lines(service, two)).toEqual(expected)
  })

  describe('at the addresses of a load balancer', () => {
    const balanced = (ingress: readonly object[], spec: Partial<Service['spec']> = {}): Service => ({
      ...makeService({ type: 'LoadBalancer', ...spec }),
      status: { loadBalancer: { ingress } },
    })
    const others = (service: Service) =>
      frontendsOf(service, [two], surroundings)
        .filter(({ address }) => address !== '10.96.0.7')
        .map((frontend) => ({
          id: idOf(frontend),
          isElsewhere: frontend.isElsewhere,
          sources: frontend.sources?.map(formatCidr),
        }))

    it('are those that it sends on as they came', () => {
      const ingress = [
        { ip: '192.0.2.1' },
        { ip: '192.0.2.2', ipMode: 'VIP' },
        { ip: '192.0.2.3', ipMode: 'Proxy' },
        { hostname: 'a.example.com' },
        { ip: 'fd00::9' },
      ]
      expect(others(balanced(ingress)).map(({ id }) => id)).toEqual([
        'TCP 192.0.2.1:80',
        'TCP 192.0.2.2:80',
        'TCP [fd00::9]:80',
      ])
      expect(frontendsOf(balanced(ingress), [two], surroundings)[1]?.backends).toHaveLength(2)
    })

    it('need not be this host’s', () => {
      expect(others(balanced([{ ip: '192.0.2.1' }]))).toEqual([
        { id: 'TCP 192.0.2.1:80', isElsewhere: true, sources: undefined },
      ])
    })

    it('are none of a service of another type, whatever its status still says', () => {
      expect(others(balanced([{ ip: '192.0.2.1' }], { type: 'ClusterIP' }))).toEqual([])
    })

    it('lead only to endpoints here, where outside traffic is to', () => {
      const slice = makeSlice([makeEndpoint('10.0.0.1'), makeEndpoint('10.0.0.2', {}, 'elsewhere')])
      const service = balanced([{ ip: '192.0.2.1' }], { externalTrafficPolicy: 'Local' })
      expect(lines(service, slice)[1]).toBe('TCP 192.0.2.1:80 → 10.0.0.1:8080')
    })

    it('are for clients of the ranges of their family, and for all where there are none of it', () => {
      const loadBalancerSourceRanges = [' 198.51.100.0/24 ', '203.0.113.7/32']
      expect(others(balanced([{ ip: '192.0.2.1' }, { ip: 'fd00::9' }], { loadBalancerSourceRanges }))).toEqual([
        { id: 'TCP 192.0.2.1:80', isElsewhere: true, sources: ['198.51.100.0/24', '203.0.113.7/32'] },
        { id: 'TCP [fd00::9]:80', isElsewhere: true, sources: undefined },
      ])
      const [own] = frontendsOf(balanced([{ ip: '192.0.2.1' }], { loadBalancerSourceRanges }), [two], surroundings)
      expect(own).toMatchObject({ address: '10.96.0.7' })
      expect(own).not.toHaveProperty('sources')
    })
  })

  it('of a load balancer have the last word where a port of nodes is the same', () => {
    const loadBalancerSourceRanges = ['198.51.100.0/24']
    const ports = [{ name: 'http', port: 30080, nodePort: 30080, protocol: 'TCP' } as const]
    const spec = { type: 'LoadBalancer', ports, loadBalancerSourceRanges } as const
    const [address = ''] = surroundings.nodeAddresses
    const service = { ...makeService(spec), status: { loadBalancer: { ingress: [{ ip: address }] } } }
    const same = frontendsOf(service, [two], surroundings).filter((each) => idOf(each) === `TCP ${address}:30080`)
    expect(same).toHaveLength(2)
    expect(same.at(-1)?.sources?.map(formatCidr)).toEqual(loadBalancerSourceRanges)
  })

  it('lead from the only port, which has no name, to the one without a name', () => {
    const slice = makeSlice([makeEndpoint('10.0.0.1')], { ports: [{ name: '', port: 9000, protocol: 'TCP' }] })
    const service = makeService({ ports: [{ port: 80 }] })
    expect(lines(service, slice)).toEqual(['TCP 10.96.0.7:80 → 10.0.0.1:9000'])
  })

  it('lead to endpoints of all slices, each once', () => {
    const other = makeSlice([makeEndpoint('10.0.0.2'), makeEndpoint('10.0.0.3')], { name: 'web-2' })
    expect(lines(makeService(), two, other)).toEqual(['TCP 10.96.0.7:80 → 10.0.0.1:8080 10.0.0.2:8080 10.0.0.3:8080'])
  })

  it.each([
    ['of another family', { addressType: 'IPv6' }],
    ['of names', { addressType: 'FQDN' }],
    ['of another proxy', { labels: { 'service.kubernetes.io/service-proxy-name': 'other' } }],
    ['of services without an address', { labels: { 'service.kubernetes.io/headless': '' } }],
    ['whose port has no number', { ports: [{ name: 'http', protocol: 'TCP' }] }],
    ['whose port is zero', { ports: [{ name: 'http', port: 0, protocol: 'TCP' }] }],
    ['whose port is below zero', { ports: [{ name: 'http', port: -1, protocol: 'TCP' }] }],
    ['whose port is beyond all ports', { ports: [{ name: 'http', port: 65_536, protocol: 'TCP' }] }],
  ] as const)('pass over slices %s', (_, options) => {
    expect(lines(makeService(), makeSlice([makeEndpoint('10.0.0.1')], options as never))).toEqual([
      'TCP 10.96.0.7:80 →',
    ])
  })

  describe('choose among endpoints', () => {
    const [ready, unready] = [{ ready: true }, { ready: false, serving: false, terminating: false }]
    const leaving = { ready: false, serving: true, terminating: true }
    const gone = { ready: false, serving: false, terminating: true }
    const startedButUnready = { ready: false, serving: true, terminating: false }

    it.each([
      ['those that are ready', [ready, unready, leaving], ['1']],
      ['those of which nothing is said', [{}, unready], ['1']],
      ['where none is ready, those that serve on their way out', [unready, leaving, gone, startedButUnready], ['2']],
      ['none where none serves', [unready, gone], []],
    ])('%s', (_, conditions, expected) => {
      const slice = makeSlice(conditions.map((each, index) => makeEndpoint(`10.0.0.${index + 1}`, each)))
      const [frontend] = frontendsOf(makeService(), [slice], surroundings)
      expect(frontend?.backends.map(({ address }) => address.split('.')[3])).toEqual(expected)
    })

    describe('near ones', () => {
      const hints = (nodes: readonly string[], zones: readonly string[]) => ({
        ...(nodes.length === 0 ? {} : { forNodes: nodes.map((name) => ({ name })) }),
        ...(zones.length === 0 ? {} : { forZones: zones.map((name) => ({ name })) }),
      })
      const [here, there, nowhere] = [hints(['node-0'], ['a']), hints(['elsewhere'], ['b']), {}]
      const [inZone, inOther] = [hints([], ['a']), hints([], ['b'])]
      const found = (all: readonly object[], zones: readonly string[] = ['a'], spec: Partial<Service['spec']> = {}) => {
        const slice = makeSlice(
          all.map((each, index) => ({ ...makeEndpoint(`10.0.0.${index + 1}`, {}, 'elsewhere'), hints: each })),
        )
        const around = { ...surroundings, ownZones: () => new Set(zones) }
        const [frontend] = frontendsOf(makeService(spec), [slice], around)
        return frontend?.backends.map(({ address }) => address.split('.')[3])
      }

      it.each<readonly [title: string, all: readonly object[], zones: readonly string[], expected: readonly string[]]>([
        ['that are meant for this node', [here, there, here], ['a'], ['1', '3']],
        ['that are meant for this zone, where none is for this node', [there, hints(['other'], ['a'])], ['a'], ['2']],
        ['that are meant for this zone', [inZone, inOther], ['a'], ['1']],
        ['that are meant for a zone of these nodes', [inZone, inOther, hints([], ['c'])], ['a', 'b'], ['1', '2']],
        ['or all where one is meant for none', [here, there, nowhere], ['a'], ['1', '2', '3']],
        ['or all where none is meant for this zone', [inOther, inOther], ['a'], ['1', '2']],
        ['or all where the zone is not known', [inZone, inOther], [], ['1', '2']],
        ['by zone where one is meant for no node', [here, inOther], ['b'], ['2']],
      ])('%s', (_, all, zones, expected) => {
        expect(found(all, zones)).toEqual(expected)
      })

      it('count those that are ready alone', () => {
        const gone = { ...makeEndpoint('10.0.0.2', { ready: false }, 'elsewhere') }
        const slice = makeSlice([{ ...makeEndpoint('10.0.0.1', {}, 'elsewhere'), hints: there }, gone])
        const own = { ...makeEndpoint('10.0.0.3'), hints: here }
        const [frontend] = frontendsOf(makeService(), [slice, makeSlice([own], { name: 'web-2' })], surroundings)
        expect(frontend?.backends.map(({ address }) => address)).toEqual(['10.0.0.3'])
      })

      it('are nothing to a policy of own nodes', () => {
        const slice = makeSlice([here, there].map((hints, at) => ({ ...makeEndpoint(`10.0.0.${at}`), hints })))
        const backends = (spec: Partial<Service['spec']>) =>
          frontendsOf(makeService(spec), [slice], surroundings)[0]?.backends.length
        expect(backends({ internalTrafficPolicy: 'Local' })).toBe(2)
        expect(backends({ internalTrafficPolicy: 'Cluster' })).toBe(1)
      })
    })

    const spread = makeSlice([
      makeEndpoint('127.1.0.1', {}, 'node-0'),
      makeEndpoint('127.1.0.2', {}, 'elsewhere'),
      makeEndpoint('10.0.0.3', {}, 'elsewhere'),
      { addresses: ['127.0.0.4'] },
    ])

    it('those of other nodes through these, by TCP, and each by its own where addresses are the same', () => {
      const there = makeSlice([
        makeEndpoint('127.1.0.1', {}, 'node-0'),
        makeEndpoint('127.1.0.1', {}, 'elsewhere'),
        makeEndpoint('10.0.0.3', {}, 'elsewhere'),
        { addresses: ['10.0.0.4'] },
      ])
      const around = { ...surroundings, leadsThroughNodes: true }
      const backends = (service: Service) => frontendsOf(service, [there], around)[0]?.backends
      expect(backends(makeService())).toEqual([
        { address: '127.1.0.1', port: 8080 },
        { address: '127.1.0.1', port: 8080, throughNode: 'elsewhere' },
        { address: '10.0.0.3', port: 8080, throughNode: 'elsewhere' },
        { address: '10.0.0.4', port: 8080 },
      ])
      expect(backends(makeService({ internalTrafficPolicy: 'Local' }))).toEqual([{ address: '127.1.0.1', port: 8080 }])
      const datagrams = { ...httpPort, protocol: 'UDP' } as const
      const [frontend] = frontendsOf(
        makeService({ ports: [datagrams] }),
        [{ ...there, ports: [{ ...datagrams, port: 8080 }] }],
        around,
      )
      expect(frontend?.backends).toEqual(
        ['127.1.0.1', '10.0.0.3', '10.0.0.4'].map((address) => ({ address, port: 8080 })),
      )
    })

    it('those that this host reaches: loopback is another one on each', () => {
      expect(lines(makeService(), spread)).toEqual(['TCP 10.96.0.7:80 → 127.1.0.1:8080 10.0.0.3:8080 127.0.0.4:8080'])
    })

    it('those of own nodes alone, where the policy says so', () => {
      const local = makeService({
        type: 'NodePort',
        ports: [{ ...httpPort, nodePort: 30080 }],
        internalTrafficPolicy: 'Local',
      })
      const [all, own] = ['127.1.0.1:8080 10.0.0.3:8080 127.0.0.4:8080', '127.1.0.1:8080']
      expect(lines(local, spread)).toEqual([`TCP 10.96.0.7:80 → ${own}`, `TCP 127.0.0.1:30080 → ${all}`])
      const { internalTrafficPolicy: _, ...spec } = local.spec
      expect(lines(makeService({ ...spec, externalTrafficPolicy: 'Local' }), spread)).toEqual([
        `TCP 10.96.0.7:80 → ${all}`,
        `TCP 127.0.0.1:30080 → ${own}`,
      ])
    })
  })

  it.each([
    [{}, undefined],
    [{ sessionAffinity: 'None' }, undefined],
    [{ sessionAffinity: 'ClientIP' }, 10_800_000],
    [{ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }, 5000],
  ] as const)('keep clients, with %j, for %j ms', (spec, affinityMs) => {
    expect(frontendsOf(makeService(spec), [two], surroundings)[0]?.affinityMs).toBe(affinityMs)
  })

  it('need not be addresses of this host where they lead here by other means', () => {
    const service = makeService({
      externalIPs: ['192.0.2.1'],
      type: 'NodePort',
      ports: [{ ...httpPort, nodePort: 30080 }],
    })
    const found = frontendsOf(service, [two], surroundings).map((each) => `${idOf(each)} ${each.isElsewhere}`)
    expect(found).toEqual(['TCP 10.96.0.7:80 false', 'TCP 127.0.0.1:30080 false', 'TCP 192.0.2.1:80 true'])
  })

  it.each([
    ['0.0.0.0', ['TCP 10.96.0.7:80', 'TCP 0.0.0.0:80']],
    ['::', ['TCP 10.96.0.7:80', 'TCP [::]:80']],
    ['127.0.0.1', ['TCP 10.96.0.7:80', 'TCP 127.0.0.1:80', 'TCP 192.0.2.1:80', 'TCP 192.0.2.2:80']],
  ])('are those at all addresses, with node ports at %s, where load balancers have the same port', (address, ids) => {
    const service = makeService({
      externalIPs: ['192.0.2.2'],
      type: 'LoadBalancer',
      ports: [{ ...httpPort, nodePort: 80 }],
    })
    const balanced = { ...service, status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } }
    const found = frontendsOf(balanced, [two], { ...surroundings, nodeAddresses: [address] })
    expect(found.map(idOf)).toEqual(ids)
  })

  describe('tell load balancers', () => {
    const balanced = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 } as const
    const healthOf = (spec: Partial<Service['spec']>) =>
      frontendsOf(makeService({ ...balanced, ...spec }), [spread], surroundings).filter((each) => each.healthOf)
    const spread = makeSlice([
      makeEndpoint('10.0.0.1', {}, 'node-0'),
      makeEndpoint('10.0.0.2', { ready: false, serving: true, terminating: true }, 'node-0'),
      makeEndpoint('10.0.0.3', {}, 'elsewhere'),
      makeEndpoint('10.0.0.1', {}, 'node-0'),
      { addresses: ['10.0.0.4'] },
    ])

    it('how many endpoints are ready on own nodes', () => {
      expect(healthOf({})).toEqual([
        {
          protocol: 'TCP',
          address: '127.0.0.1',
          port: 32000,
          backends: [{ address: '10.0.0.1', port: 0 }],
          affinityMs: undefined,
          isElsewhere: false,
          healthOf: { namespace: 'default', name: 'web' },
        },
      ])
    })

    it.each([
      [{ type: 'NodePort' }],
      [{ externalTrafficPolicy: 'Cluster' }],
      [{ healthCheckNodePort: 0 }],
      [{ healthCheckNodePort: undefined }],
    ] as const)('nothing where they need not ask: %j', (spec) => {
      expect(healthOf(spec as never)).toEqual([])
    })
  })
})
