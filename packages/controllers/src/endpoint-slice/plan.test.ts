import type { Endpoint, EndpointSlice, Pod, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { endpointsPerSliceMax, headlessLabel, planEndpointSlices } from './plan.ts'

const service = (spec: object = {}, labels: Readonly<Record<string, string>> = {}): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: 'default', name: 'web', uid: 'service', labels },
    spec: {
      selector: { app: 'web' },
      ipFamilies: ['IPv4'],
      clusterIP: '10.96.0.1',
      ports: [{ name: 'http', port: 80, targetPort: 8080 }],
      ...spec,
    },
  }) as Service

interface Traits {
  readonly ready?: boolean
  readonly isGoing?: boolean
  readonly phase?: string
  readonly ip?: string | null
  readonly spec?: object
}

const pod = (name: string, { ready = true, isGoing = false, phase = 'Running', ip, spec = {} }: Traits = {}): Pod =>
  ({
    metadata: {
      namespace: 'default',
      name,
      uid: name,
      ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { nodeName: 'n1', containers: [{ name: 'c', ports: [{ name: 'web', containerPort: 3000 }] }], ...spec },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      podIPs: ip === null ? [] : [{ ip: ip ?? addressOf(name) }],
    },
  }) as unknown as Pod

const addressOf = (name: string): string => `10.0.${Number(name.slice(1)) >> 8}.${Number(name.slice(1)) & 255}`

const endpointOf = (name: string): Endpoint => ({
  addresses: [addressOf(name)],
  conditions: { ready: true, serving: true, terminating: false },
  targetRef: { kind: 'Pod', namespace: 'default', name, uid: name },
  nodeName: 'n1',
  zone: 'z',
})

const labels = {
  'kubernetes.io/service-name': 'web',
  'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
}
const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'Service', name: 'web', uid })
const slice = (name: string, pods: readonly string[], ports = [{ name: 'http', protocol: 'TCP', port: 8080 }]) =>
  ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { namespace: 'default', name, uid: name, labels, ownerReferences: [owner('service')] },
    addressType: 'IPv4',
    endpoints: pods.map(endpointOf),
    ports,
  }) as EndpointSlice

const plan = (given: Service, pods: readonly Pod[], slices: readonly EndpointSlice[] = []) =>
  planEndpointSlices({ service: given, pods, slices, zoneOf: () => 'z' }).actions.map((action) => {
    if (action.type === 'delete') return `delete ${action.key.name}`
    if (action.type === 'event') return `event ${action.reason}: ${action.message}`
    if (action.type === 'patch') throw new Error('not planned')
    const { metadata, endpoints = [] } = action.object as EndpointSlice
    return `${action.type} ${metadata.name ?? metadata.generateName}: ${endpoints.length}`
  })

const made = (given: Service, pods: readonly Pod[]): readonly EndpointSlice[] =>
  planEndpointSlices({ service: given, pods, slices: [], zoneOf: () => 'z' }).actions.map(
    (action) => (action as unknown as { readonly object: EndpointSlice }).object,
  )

const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `p${from + index}`)

describe('what a slice says of a pod', () => {
  it('is its address, where it is, and the port that the service leads to', () => {
    expect(made(service({}, { tier: 'front' }), [pod('p1')])).toEqual([
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: 'default',
          generateName: 'web-',
          labels: { tier: 'front', ...labels },
          ownerReferences: [
            {
              apiVersion: 'v1',
              kind: 'Service',
              name: 'web',
              uid: 'service',
              controller: true,
              blockOwnerDeletion: true,
            },
          ],
        },
        addressType: 'IPv4',
        endpoints: [endpointOf('p1')],
        ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
      },
    ])
  })

  it.each<readonly [string, Traits, object, Endpoint['conditions']]>([
    ['that is ready', {}, {}, { ready: true, serving: true, terminating: false }],
    ['that is not ready', { ready: false }, {}, { ready: false, serving: false, terminating: false }],
    ['that is going', { isGoing: true }, {}, { ready: false, serving: true, terminating: true }],
    [
      'that is not ready, where that does not matter',
      { ready: false },
      { publishNotReadyAddresses: true },
      { ready: true, serving: false, terminating: false },
    ],
  ])('%s is whether it takes traffic', (_, traits, spec, conditions) => {
    expect(made(service(spec), [pod('p1', traits)])[0]?.endpoints?.[0]?.conditions).toEqual(conditions)
  })

  it('is its host name below the service', () => {
    const named = (subdomain: string) => pod('p1', { spec: { hostname: 'a', subdomain } })
    expect(made(service(), [named('web')])[0]?.endpoints?.[0]?.hostname).toBe('a')
    expect(made(service(), [named('other')])[0]?.endpoints?.[0]?.hostname).toBeUndefined()
  })

  it.each<readonly [string, Traits]>([
    ['has ended', { phase: 'Succeeded' }],
    ['has no address', { ip: null }],
    ['has one of the other family', { ip: 'fd00::1' }],
  ])('is nothing where it %s', (_, traits) => {
    expect(made(service(), [pod('p1', traits)])[0]?.endpoints).toEqual([])
  })
})

describe('who should use an endpoint first', () => {
  it.each<readonly [string | undefined, Traits, Endpoint['hints']]>([
    [undefined, {}, undefined],
    ['PreferClose', {}, { forZones: [{ name: 'z' }] }],
    ['PreferSameZone', {}, { forZones: [{ name: 'z' }] }],
    ['PreferSameNode', {}, { forZones: [{ name: 'z' }], forNodes: [{ name: 'n1' }] }],
    ['PreferSameZone', { ready: false }, undefined],
  ])('with %s and %j it is %j', (trafficDistribution, traits, hints) => {
    expect(made(service({ trafficDistribution }), [pod('p1', traits)])[0]?.endpoints?.[0]?.hints).toEqual(hints)
  })

  it('is nobody where the zone is not known', () => {
    const { actions } = planEndpointSlices({
      service: service({ trafficDistribution: 'PreferSameZone' }),
      pods: [pod('p1')],
      slices: [],
      zoneOf: () => '',
    })
    expect((actions[0] as unknown as { object: EndpointSlice }).object.endpoints?.[0]?.hints).toBeUndefined()
  })
})

describe('a service whose endpoints are allocated to zones', () => {
  const shares = new Map([
    ['z', 0.5],
    ['y', 0.5],
  ])
  const pods = ['p1', 'p2', 'p3', 'p4'].map((name) => pod(name))
  const allocate = (given: Partial<Parameters<typeof planEndpointSlices>[0]>) => {
    const input = { service: service({ trafficDistribution: 'PreferSameNode' }), pods, slices: [], zoneOf: () => 'z' }
    return planEndpointSlices({ ...input, topology: { shares }, ...given })
  }
  const eventsOf = ({ actions }: ReturnType<typeof planEndpointSlices>) =>
    actions.flatMap((action) => (action.type === 'event' ? [`${action.reason}: ${action.message}`] : []))
  const enabled = 'TopologyAwareHintsEnabled: Topology Aware Hints has been enabled, addressType: IPv4'

  it('has them shared out, whatever its traffic distribution is, and says so once', () => {
    const plan = allocate({})
    const [created] = plan.actions
    const object = (created as unknown as { readonly object: EndpointSlice }).object
    expect(object.endpoints?.map(({ hints }) => hints)).toEqual(
      ['y', 'y', 'z', 'z'].map((name) => ({ forZones: [{ name }] })),
    )
    expect(eventsOf(plan)).toEqual([enabled])
    expect(eventsOf(allocate({ saidOfHints: plan.saidOfHints }))).toEqual([])
  })

  it('changes nothing while what is there is fair', () => {
    const [created] = allocate({}).actions
    const { object } = created as unknown as { readonly object: EndpointSlice }
    const present = { ...object, metadata: { ...object.metadata, name: 's' } }
    const plan = allocate({ slices: [present], pods: pods.toReversed() })
    expect(plan.actions.filter(({ type }) => type !== 'event')).toEqual([])
  })

  it('has no hints where they cannot be shared out, and says why once', () => {
    const plan = allocate({ pods: pods.slice(0, 1) })
    const [created] = plan.actions
    const { object } = created as unknown as { readonly object: EndpointSlice }
    expect(object.endpoints?.map(({ hints }) => hints)).toEqual([undefined])
    const why = 'TopologyAwareHintsDisabled: Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv4'
    expect(eventsOf(plan)).toEqual([why])
    expect(eventsOf(allocate({ pods: pods.slice(0, 1), saidOfHints: plan.saidOfHints }))).toEqual([])
  })

  it('has those of each family shared out by themselves', () => {
    const both = pods.map((each, index) => ({
      ...each,
      status: { ...each.status, podIPs: [{ ip: `10.0.0.${index}` }, ...(index === 0 ? [{ ip: 'fd00::1' }] : [])] },
    })) as unknown as readonly Pod[]
    const plan = allocate({ service: service({ ipFamilies: ['IPv4', 'IPv6'] }), pods: both })
    expect(eventsOf(plan)).toEqual([
      enabled,
      'TopologyAwareHintsDisabled: Insufficient number of endpoints (1 endpoints, 2 zones), addressType: IPv6',
    ])
    expect(plan.actions.flatMap((each) => (each.type === 'event' ? [each.eventType] : []))).toEqual([
      'Normal',
      'Warning',
    ])
    const after = allocate({ topology: undefined, pods: both, saidOfHints: plan.saidOfHints })
    expect(eventsOf(after)).toEqual([
      'TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4',
    ])
  })

  it('says when it no longer is', () => {
    const before = allocate({}).saidOfHints
    const after = planEndpointSlices({ service: service(), pods, slices: [], zoneOf: () => 'z', saidOfHints: before })
    expect(eventsOf(after)).toEqual([
      'TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4',
    ])
    expect(after.saidOfHints.size).toBe(0)
  })
})

describe('ports by name', () => {
  const byName = service({ ports: [{ port: 80, targetPort: 'web' }] })

  it('are those of each pod: pods with others are in another slice', () => {
    const other = pod('p2', { spec: { containers: [{ ports: [{ name: 'web', containerPort: 4000 }] }] } })
    expect(made(byName, [pod('p1'), other]).map(({ ports }) => ports?.map(({ port }) => port))).toEqual([
      [3000],
      [4000],
    ])
  })

  it('may be those of a sidecar, and not of another container that runs first', () => {
    const first = (restartPolicy?: string) =>
      pod('p1', {
        spec: {
          containers: [{}],
          initContainers: [
            { ports: [{ name: 'web', containerPort: 5000 }], ...(restartPolicy ? { restartPolicy } : {}) },
          ],
        },
      })
    expect(made(byName, [first('Always')])[0]?.ports).toMatchObject([{ port: 5000 }])
    expect(made(byName, [first()])[0]?.ports).toEqual([])
  })

  it('that a pod does not have leave it without ports', () => {
    const without = pod('p1', { spec: { containers: [{}] } })
    expect(made(byName, [without])[0]?.ports).toEqual([])
  })
})

describe('pods whose node is not there', () => {
  const given = [pod('p1'), pod('p2', { spec: { nodeName: 'gone' } }), pod('p3', { spec: { nodeName: undefined } })]
  const zoneOf = (name: string) => (name === 'n1' ? 'z' : undefined)
  const addresses = (spec: object) => {
    const { actions, missingNodes } = planEndpointSlices({ service: service(spec), pods: given, slices: [], zoneOf })
    const [made] = actions.map((action) => (action as unknown as { readonly object: EndpointSlice }).object)
    return { missing: [...missingNodes], addresses: made?.endpoints?.flatMap((each) => each.addresses).sort() }
  }

  it('are left out until it is', () => {
    expect(addresses({})).toEqual({ missing: ['gone', ''], addresses: ['10.0.0.1'] })
  })

  it('are told of, by name', () => {
    const skipped = 'Error updating Endpoint Slices for Service default/web:'
    const events = (pods: readonly Pod[]) =>
      planEndpointSlices({ service: service(), pods, slices: [], zoneOf }).actions.flatMap((action) =>
        action.type === 'event' ? [`${action.eventType} ${action.reason} ${action.message}`] : [],
      )
    const [second, third] = ['skipping Pod p2 for Service default/web: Node gone Not Found', 'Node  Not Found']
    expect(events(given.slice(0, 2))).toEqual([`Warning FailedToUpdateEndpointSlices ${skipped} ${second}`])
    expect(events(given)).toEqual([
      `Warning FailedToUpdateEndpointSlices ${skipped} [${second}, skipping Pod p3 for Service default/web: ${third}]`,
    ])
  })

  it('are there where the service wants all addresses', () => {
    const wanted = ['10.0.0.1', '10.0.0.2', '10.0.0.3']
    expect(addresses({ publishNotReadyAddresses: true })).toEqual({ missing: [], addresses: wanted })
  })
})

it('a service of two families has slices of both', () => {
  const dual = service({ ipFamilies: ['IPv4', 'IPv6'] })
  const both = { ...pod('p1'), status: { phase: 'Running', podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } } as Pod
  const slices = made(dual, [both])
  expect(slices.map(({ addressType, endpoints }) => [addressType, endpoints?.[0]?.addresses])).toEqual([
    ['IPv4', ['10.0.0.1']],
    ['IPv6', ['fd00::1']],
  ])
})

it.each<readonly [string | undefined, readonly string[]]>([
  ['10.0.0.1', ['IPv4']],
  ['fd00::1', ['IPv6']],
  ['None', ['IPv4', 'IPv6']],
  [undefined, ['IPv4', 'IPv6']],
])('a service with the address %s that does not say its families has slices of %j', (clusterIP, families) => {
  const slices = made(service({ ipFamilies: undefined, clusterIP }), [])
  expect(slices.map(({ addressType }) => addressType)).toEqual(families)
})

it('a service without an address of its own has slices that say so', () => {
  const [headless] = made(service({ clusterIP: 'None', clusterIPs: ['None'] }), [pod('p1')])
  expect(headless?.metadata.labels).toHaveProperty(['service.kubernetes.io/headless'], '')
})

describe('slices', () => {
  const pods = (list: readonly string[]) => list.map((name) => pod(name))

  it.each<readonly [string, readonly Pod[], readonly EndpointSlice[], readonly string[]]>([
    ['stay as they are', pods(['p1', 'p2']), [slice('a', ['p1', 'p2'])], []],
    ['take what is new', pods(['p1', 'p2']), [slice('a', ['p1'])], ['update a: 2']],
    ['lose what is gone', pods(['p1']), [slice('a', ['p1', 'p2'])], ['update a: 1']],
    [
      'go when they are empty, if there are others',
      pods(['p1']),
      [slice('a', ['p1']), slice('b', ['p2'])],
      ['delete b'],
    ],
    ['are used again for an empty one where nothing is left', [], [slice('a', ['p1'])], ['update a: 0']],
    ['are there even for nothing', [], [], ['create web-: 0']],
    [
      'that change anyway take what is new',
      pods(['p1', 'p3', 'p4']),
      [slice('a', ['p1']), slice('b', ['p2', 'p3'])],
      ['update b: 2'],
    ],
    [
      'are no larger than allowed',
      pods(names(endpointsPerSliceMax + 1)),
      [slice('a', names(endpointsPerSliceMax))],
      ['create web-: 1'],
    ],
    [
      'are left alone by more than they have room for',
      pods(names(250)),
      [slice('a', names(50))],
      ['create web-: 100', 'create web-: 100'],
    ],
    [
      'take all that is left where they have room, the one that gets fullest',
      pods([...names(50), ...names(70, 100), ...names(20, 200)]),
      [slice('a', names(50)), slice('b', names(70, 100))],
      ['update b: 90'],
    ],
    [
      'take exactly as many as they have room for',
      pods([...names(60), ...names(40, 200)]),
      [slice('a', names(60))],
      ['update a: 100'],
    ],
    [
      'that change anyway are filled, the fullest first, before others are touched',
      pods([...names(9), ...names(89, 101), ...names(50, 200), ...names(20, 300)]),
      [slice('small', names(10)), slice('large', names(90, 100)), slice('whole', names(50, 200))],
      ['update small: 18', 'update large: 100'],
    ],
    [
      'that are full take no more, though they change',
      pods([...names(99, 1), ...names(2, 200)]),
      [slice('a', names(100))],
      ['create web-: 1', 'update a: 100'],
    ],
    [
      'that would go are not filled, but used again for what is left',
      pods(['p9']),
      [slice('a', ['p1'])],
      ['update a: 1'],
    ],
    [
      'are but one where nothing is left',
      [],
      [slice('a', ['p1']), slice('b', ['p2']), slice('c', [])],
      ['update a: 0', 'delete b', 'delete c'],
    ],
    [
      'with ports that nobody has are used again',
      pods(['p1']),
      [slice('a', ['p1'], [{ name: 'http', protocol: 'TCP', port: 9090 }])],
      ['update a: 1'],
    ],
    [
      'with ports that nobody has go where no others are to be made',
      pods(['p1']),
      [slice('a', ['p1']), slice('b', ['p1'], [{ name: 'http', protocol: 'TCP', port: 9090 }])],
      ['delete b'],
    ],
  ])('%s', (_, given, slices, actions) => {
    expect(plan(service(), given, slices)).toEqual(actions)
  })

  it('of a former service of the same name go, and are not used again', () => {
    const old = { ...slice('a', ['p1']), metadata: { ...slice('a', []).metadata, ownerReferences: [owner('old')] } }
    expect(plan(service(), pods(['p1']), [old])).toEqual(['create web-: 1', 'delete a'])
    const nobodys = { ...old, metadata: { ...old.metadata, ownerReferences: undefined } } as unknown as EndpointSlice
    expect(plan(service(), pods(['p1']), [nobodys, slice('b', ['p1'])])).toEqual(['delete a'])
  })

  it.each<readonly [string, readonly Pod[], readonly EndpointSlice[], readonly string[]]>([
    ['are not made', pods(['p1']), [], []],
    ['change', pods(['p1', 'p2']), [slice('a', ['p1'])], ['update a: 2']],
    ['go', pods(['p1']), [slice('a', ['p1']), slice('b', ['p2'])], ['delete b']],
  ])('of a service that is going %s', (_, given, slices, actions) => {
    const going = service()
    const metadata = { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' }
    expect(plan({ ...going, metadata }, given, slices)).toEqual(actions)
  })

  it.each([
    ['of another kind', { kind: 'Endpoints' }],
    ['of another version', { apiVersion: 'example.com/v1' }],
  ])('whose owner is %s are not the service’s', (_, more) => {
    const { metadata, ...rest } = slice('a', ['p1'])
    const strange = { ...rest, metadata: { ...metadata, ownerReferences: [{ ...owner('service'), ...more }] } }
    expect(plan(service(), pods(['p1']), [strange as EndpointSlice])).toEqual(['create web-: 1', 'delete a'])
  })

  it('of one family are not used again for another', () => {
    const six = { ...slice('six', []), addressType: 'IPv6' } as EndpointSlice
    expect(plan(service(), pods(['p1']), [six])).toEqual(['create web-: 1', 'delete six'])
  })

  it('say why they are written, and what is said where that fails', () => {
    const of = (given: readonly Pod[], slices: readonly EndpointSlice[]) =>
      planEndpointSlices({ service: service(), pods: given, slices, zoneOf: () => 'z' }).actions
    const failed = (what: string) => ({
      failed: {
        reason: 'FailedToUpdateEndpointSlices',
        message: `Error updating Endpoint Slices for Service default/web: failed to ${what} for Service default/web: {error}`,
      },
    })
    expect(of([], [])).toMatchObject([
      { type: 'create', because: 'nothing is behind the service', events: failed('create EndpointSlice') },
    ])
    expect(of(pods(['p1', 'p2']), [])).toMatchObject([{ type: 'create', because: '2 pods are in no slice' }])
    expect(of(pods(['p1', 'p2']), [slice('a', ['p1'])])).toMatchObject([
      { because: 'what is behind the service has changed', events: failed('update a EndpointSlice') },
    ])
    expect(of(pods(['p1']), [slice('a', ['p1']), slice('b', ['p2'])])).toMatchObject([
      { because: 'no pod of the service is in it', events: failed('delete b EndpointSlice') },
    ])
    const former = { ...slice('a', ['p1']), metadata: { ...slice('a', []).metadata, ownerReferences: [owner('old')] } }
    expect(of(pods(['p1']), [slice('b', ['p1']), former])).toMatchObject([{ because: 'the service does not own it' }])
  })

  it('have the protocol of the application where the service says one', () => {
    const [{ ports: [port] = [] } = expect.unreachable()] = made(
      service({ ports: [{ port: 80, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' }] }),
      [pod('p1')],
    )
    expect(port).toEqual({ name: '', protocol: 'TCP', port: 8080, appProtocol: 'kubernetes.io/h2c' })
  })

  it('are not written for their own labels alone', () => {
    const headless = service({ clusterIP: '10.0.0.1' }, { 'kubernetes.io/service-name': 'other' })
    const marked = slice('a', ['p1'])
    const given = { ...marked, metadata: { ...marked.metadata, labels: { ...labels, [headlessLabel]: '' } } }
    expect(plan(headless, pods(['p1']), [given])).toEqual([])
  })

  it('are not touched by one pod that changes among many', () => {
    const slices = [0, 1, 2].map((index) => slice(`s${index}`, names(100, index * 100)))
    const all = pods(names(300)).map((each) => (each.metadata.name === 'p150' ? pod('p150', { ready: false }) : each))
    expect(plan(service(), all, slices)).toEqual(['update s1: 100'])
  })

  it('used again have the ports of what is in them now', () => {
    const stale = slice('a', ['p1'], [{ name: 'http', protocol: 'TCP', port: 9090 }])
    const [action] = planEndpointSlices({
      service: service(),
      pods: [pod('p1')],
      slices: [stale],
      zoneOf: () => 'z',
    }).actions
    expect(action).toMatchObject({ type: 'update', object: { ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] } })
  })

  it('say when what they tell happened, and no longer when another change is written', () => {
    const write = (slices: readonly EndpointSlice[], triggerTime?: string) => {
      const { actions } = planEndpointSlices({
        service: service(),
        pods: pods(slices.length === 0 ? ['p1'] : ['p1', 'p2']),
        slices,
        zoneOf: () => 'z',
        triggerTime,
      })
      return (actions[0] as unknown as { readonly object: EndpointSlice }).object.metadata.annotations
    }
    const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z' }
    expect(write([], '2026-01-01T00:00:00Z')).toEqual(annotations)
    const told = slice('a', ['p1'])
    expect(write([{ ...told, metadata: { ...told.metadata, annotations } }])).toEqual({})
  })

  it('follow the labels of their service', () => {
    expect(plan(service({}, { tier: 'front' }), [pod('p1')], [slice('a', ['p1'])])).toEqual(['update a: 1'])
  })
})
