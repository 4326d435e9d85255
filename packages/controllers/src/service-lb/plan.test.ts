import type { EndpointSlice, Node, Pod, Service } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod, startMs } from '../testing/objects.ts'
import { type Assignment, addressesMax, assign } from './assign.ts'
import { addressesCondition, cleanupFinalizer, nodeAddressesClass } from './balanced.ts'
import { claimsOf } from './claims.ts'
import { planAddresses, planCleanup } from './plan.ts'

interface NodeTraits {
  readonly labels?: Readonly<Record<string, string>>
  readonly ready?: 'True' | 'False' | 'Unknown' | 'unsaid'
  readonly taint?: string
  readonly isGoing?: true
  readonly external?: string
  readonly agentPort?: number
}

function node(name: string, address: string, traits: NodeTraits = {}): Node {
  const { labels, ready = 'True', taint, isGoing, external, agentPort } = traits
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels, ...(isGoing && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: taint === undefined ? {} : { taints: [{ key: taint, effect: 'NoSchedule' }] },
    status: {
      addresses: [
        { type: 'Hostname', address: name },
        { type: 'InternalIP', address },
        ...(external === undefined ? [] : [{ type: 'ExternalIP', address: external }]),
      ],
      conditions: ready === 'unsaid' ? [] : [{ type: 'Ready', status: ready }],
      ...(agentPort === undefined ? {} : { daemonEndpoints: { kubeletEndpoint: { Port: agentPort } } }),
    },
  } as Node
}

/** Made so many minutes after midnight. */
function service(name: string, minute: number, spec: object = {}, more: object = {}): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'default',
      name,
      uid: name,
      creationTimestamp: `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`,
    },
    spec: { type: 'LoadBalancer', ipFamilies: ['IPv4'], ports: [{ port: 80, protocol: 'TCP' }], ...spec },
    status: { loadBalancer: {} },
    ...more,
  } as Service
}

const slice = (...endpoints: readonly (readonly [node: string, ready: boolean])[]): EndpointSlice =>
  ({
    addressType: 'IPv4',
    endpoints: endpoints.map(([nodeName, ready]) => ({ addresses: ['10.0.0.1'], nodeName, conditions: { ready } })),
  }) as unknown as EndpointSlice

function hostPod(nodeName: string, hostPort: number, hostIP?: string): Pod {
  const { spec, ...rest } = pod('ingress', { node: nodeName })
  const ports = [{ containerPort: 80, hostPort, ...(hostIP === undefined ? {} : { hostIP }) }]
  return { ...rest, spec: { ...spec, containers: [{ name: 'web', image: 'web', ports }] } }
}

interface World {
  readonly nodes?: readonly Node[]
  readonly others?: readonly Service[]
  readonly pods?: readonly Pod[]
  readonly slices?: readonly EndpointSlice[]
  readonly apiPorts?: readonly string[]
}

const [one, two] = [node('one', '192.0.2.1'), node('two', '192.0.2.2')]

function assigned(own: Service, { nodes = [two, one], others = [], pods = [], slices = [], apiPorts = [] }: World) {
  const all = [own, ...others]
  return assign(own, {
    nodes,
    servicesAt: (port) => all.filter((each) => claimsOf(each).some((claim) => claim.port === port)),
    podsAt: () => pods,
    slicesOf: () => slices,
    apiPorts: new Set(apiPorts),
  })
}

const web = service('web', 5)

describe('the addresses of a service', () => {
  it.each<readonly [title: string, nodes: readonly Node[], addresses: readonly string[]]>([
    ['are those of all nodes, in order', [two, one], ['192.0.2.1', '192.0.2.2']],
    ['are each there once where nodes share theirs', [one, node('twin', '192.0.2.1')], ['192.0.2.1']],
    [
      'are those for other machines, where a node has some',
      [node('a', '127.0.0.1', { external: '192.0.2.9' })],
      ['192.0.2.9'],
    ],
    ['are none of a node that is not ready', [one, node('a', '192.0.2.9', { ready: 'False' })], ['192.0.2.1']],
    ['are none of a node that is unreachable', [one, node('a', '192.0.2.9', { ready: 'Unknown' })], ['192.0.2.1']],
    ['are none of a node that nobody knows of', [one, node('a', '192.0.2.9', { ready: 'unsaid' })], ['192.0.2.1']],
    ['are none of a node that goes', [one, node('a', '192.0.2.9', { isGoing: true })], ['192.0.2.1']],
    [
      'are none of a node that the autoscaler will remove',
      [one, node('a', '192.0.2.9', { taint: 'ToBeDeletedByClusterAutoscaler' })],
      ['192.0.2.1'],
    ],
    [
      'are none of a node that is left out by its label, whatever value that has',
      [one, node('a', '192.0.2.9', { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'false' } })],
      ['192.0.2.1'],
    ],
    [
      'are also those of nodes that take no new pods',
      [node('a', '192.0.2.9', { taint: 'node.kubernetes.io/unschedulable' })],
      ['192.0.2.9'],
    ],
    ['are of its family', [one, node('six', '2001:db8::1')], ['192.0.2.1']],
  ])('%s', (_, nodes, addresses) => {
    expect(assigned(web, { nodes })).toEqual({ addresses })
  })

  it('are of both families, where it has both', () => {
    const both = service('web', 5, { ipFamilies: ['IPv6', 'IPv4'] })
    expect(assigned(both, { nodes: [one, node('six', '2001:db8::1')] }).addresses).toEqual(['192.0.2.1', '2001:db8::1'])
  })

  it('are so many at most, and each node is looked at a few times for all of them', () => {
    let looks = 0
    const nodes = Array.from({ length: 3000 }, (_, index) => {
      const made = node(`n${index}`, `10.${64 + Math.floor(index / 250)}.0.${index % 250}`)
      const { status } = made
      return Object.defineProperty({ ...made }, 'status', {
        get() {
          looks += 1
          return status
        },
      })
    })
    const others = Array.from({ length: 20 }, (_, index) => service(`old${index}`, 1))
    const { addresses, problem } = assigned(web, { nodes, others })
    expect(addresses).toEqual([])
    expect(problem?.message).toBe('port 80/TCP is taken by service default/old0')
    expect(assigned(web, { nodes }).addresses).toHaveLength(addressesMax)
    expect(looks).toBeLessThan(nodes.length * 20)
    const local = service('web', 5, { externalTrafficPolicy: 'Local' })
    expect(assigned(local, { nodes, slices: [slice(['n2999', true])] })).toEqual({ addresses: ['10.75.0.249'] })
  })

  it('are none without nodes, and that is said', () => {
    const problem = { reason: 'NoNodes', message: 'There are no available nodes for LoadBalancer' }
    expect(assigned(web, { nodes: [] })).toEqual({ addresses: [], problem })
    const six = service('web', 5, { ipFamilies: ['IPv6'] })
    expect(assigned(six, {})).toEqual({ addresses: [], problem })
  })

  it('are those of nodes with ready endpoints, where it takes no other way', () => {
    const local = service('web', 5, { externalTrafficPolicy: 'Local' })
    const slices = [slice(['one', false], ['two', true])]
    expect(assigned(local, { slices })).toEqual({ addresses: ['192.0.2.2'] })
    expect(assigned(local, { slices: [slice(['one', false])] })).toMatchObject({
      addresses: [],
      problem: { reason: 'NoLocalEndpoints' },
    })
  })

  it('are the one that it asks for, or none', () => {
    expect(assigned(service('web', 5, { loadBalancerIP: '192.0.2.2' }), {})).toEqual({ addresses: ['192.0.2.2'] })
    expect(assigned(service('web', 5, { loadBalancerIP: '198.51.100.1' }), {})).toEqual({
      addresses: [],
      problem: {
        reason: 'NotAnAddressOfNodes',
        message: 'spec.loadBalancerIP 198.51.100.1 is no address of a node that is available',
      },
    })
  })
})

describe('a port is taken', () => {
  const taken = (by: string, addresses: readonly string[] = []): Assignment => ({
    addresses,
    problem: { reason: 'PortTaken', message: `port 80/TCP is taken by ${by}` },
  })
  const nodePort = (port: number, ports: object = {}) =>
    service('other', 9, { type: 'NodePort', ports: [{ port: 8080, nodePort: port, ...ports }] })

  it.each<readonly [title: string, world: World, expected: Assignment]>([
    ['by an older service', { others: [service('old', 1)] }, taken('service default/old')],
    ['by one of the same age whose name comes first', { others: [service('app', 5)] }, taken('service default/app')],
    [
      'by one of this very class',
      { others: [service('old', 1, { loadBalancerClass: nodeAddressesClass })] },
      taken('service default/old'),
    ],
    ['by the API server', { apiPorts: ['80/TCP'] }, taken('the API server')],
    [
      'by the agent of a node, there',
      { nodes: [one, node('two', '192.0.2.2', { agentPort: 80 })] },
      taken('the agent of node two', ['192.0.2.1']),
    ],
    ['by a pod, on its node', { pods: [hostPod('one', 80)] }, taken('pod default/ingress', ['192.0.2.2'])],
    [
      'by a pod at that address',
      { pods: [hostPod('one', 80, '192.0.2.1')] },
      taken('pod default/ingress', ['192.0.2.2']),
    ],
    ['by a port of nodes', { others: [nodePort(80)] }, taken('service default/other, as a port of nodes')],
    [
      'by a port for health checks',
      { others: [service('other', 9, { ports: [], healthCheckNodePort: 80 })] },
      taken('service default/other, as a port of nodes'),
    ],
    [
      'by a service with that external address',
      { others: [service('other', 9, { type: 'ClusterIP', externalIPs: ['192.0.2.2'] })] },
      taken('service default/other', ['192.0.2.1']),
    ],
    [
      'by a service to which somebody else gave the address',
      {
        others: [
          service(
            'other',
            9,
            { loadBalancerClass: 'example.com/lb' },
            { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } },
          ),
        ],
      },
      taken('service default/other', ['192.0.2.2']),
    ],
  ])('%s', (_, world, expected) => {
    expect(assigned(web, world)).toEqual(expected)
  })

  it.each<readonly [title: string, world: World]>([
    ['a younger service', { others: [service('young', 6)] }],
    ['an older one with another port', { others: [service('old', 1, { ports: [{ port: 81 }] })] }],
    ['an older one with that port of UDP', { others: [service('old', 1, { ports: [{ port: 80, protocol: 'UDP' }] })] }],
    ['an older one of another class', { others: [service('old', 1, { loadBalancerClass: 'example.com/lb' })] }],
    ['an older one of another type', { others: [service('old', 1, { type: 'ClusterIP' })] }],
    ['an older one that has no endpoint', { others: [service('old', 1, { externalTrafficPolicy: 'Local' })] }],
    [
      'an older one that asks for an address that there is not',
      { others: [service('old', 1, { loadBalancerIP: '198.51.100.1' })] },
    ],
    [
      'an older one that an even older one keeps out',
      {
        others: [
          service('old', 2, { ports: [{ port: 80 }, { port: 443 }] }),
          service('oldest', 1, { ports: [{ port: 443 }] }),
        ],
      },
    ],
    ['a pod at another address of its node', { pods: [hostPod('one', 80, '127.0.0.1')] }],
    ['a pod of another node', { pods: [hostPod('three', 80)] }],
    ['a port of nodes of UDP', { others: [nodePort(80, { protocol: 'UDP' })] }],
  ])('not by %s', (_, world) => {
    expect(assigned(web, world)).toEqual({ addresses: ['192.0.2.1', '192.0.2.2'] })
  })

  it('not by that very port, which is the same on nodes', () => {
    const same = service('web', 5, { ports: [{ port: 30080, nodePort: 30080 }] })
    expect(assigned(same, {})).toEqual({ addresses: ['192.0.2.1', '192.0.2.2'] })
    const crossed = service('web', 5, {
      ports: [
        { port: 30080, nodePort: 30081 },
        { port: 443, nodePort: 30080 },
      ],
    })
    expect(assigned(crossed, {}).problem?.message).toBe(
      'port 30080/TCP is taken by service default/web, as a port of nodes',
    )
  })

  it('by an older service on the nodes that it has', () => {
    const old = service('old', 1, { externalTrafficPolicy: 'Local' })
    expect(assigned(web, { others: [old], slices: [slice(['two', true])] })).toEqual(
      taken('service default/old', ['192.0.2.1']),
    )
  })

  it('is said of so many ports at most', () => {
    const ports = Array.from({ length: 40 }, (_, index) => ({ port: index + 1 }))
    const { problem } = assigned(service('web', 5, { ports }), { others: [service('old', 1, { ports })] })
    expect(problem?.message.split(', ')).toHaveLength(4)
  })
})

/** What is done, in words: events by their reason, and the write. */
const told = ({ actions }: ReturnType<typeof planCleanup>): readonly string[] =>
  actions.map((action) => (action.type === 'event' ? action.reason : `${action.type} ${action.resource.plural}`))

/** The service as it is written. */
function writtenBy({ actions }: ReturnType<typeof planCleanup>): Service {
  const [write] = actions.filter(({ type }) => type === 'update')
  return (write as unknown as { readonly object: Service }).object
}

describe('a service of type LoadBalancer', () => {
  const plan = (of: Service, assignment: Assignment) => planAddresses(of, assignment, startMs)
  const addresses = ['192.0.2.1', '192.0.2.2']
  const given = writtenBy(plan(web, { addresses }))
  const problem = { reason: 'PortTaken', message: 'port 80/TCP is taken by service default/old' } as const

  it('gets its addresses and is held in one write of its status', () => {
    const { actions } = plan(web, { addresses })
    expect(told({ actions })).toEqual(['EnsuringLoadBalancer', 'update services', 'EnsuredLoadBalancer'])
    expect(actions[1]).toMatchObject({ subresource: 'status' })
    expect(given.metadata.finalizers).toEqual([cleanupFinalizer])
    expect(given.status).toEqual({
      loadBalancer: { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) },
      conditions: [
        {
          type: addressesCondition,
          status: 'True',
          reason: 'AllNodes',
          message: '',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
    })
  })

  it('is left alone as long as nothing changes', () => {
    expect(plan(given, { addresses })).toEqual({ actions: [] })
  })

  it('is told of other addresses', () => {
    const changed = plan(given, { addresses: ['192.0.2.1'] })
    expect(told(changed)).toEqual(['update services', 'UpdatedLoadBalancer'])
    expect(writtenBy(changed).status?.loadBalancer?.ingress).toEqual([{ ip: '192.0.2.1', ipMode: 'VIP' }])
  })

  it('is held again where somebody has taken the finalizer away', () => {
    const { finalizers: _, ...metadata } = given.metadata
    expect(told(plan({ ...given, metadata }, { addresses }))).toEqual(['update services'])
  })

  it('is told once why it has none', () => {
    const first = plan(web, { addresses: [], problem })
    expect(told(first)).toEqual(['EnsuringLoadBalancer', 'update services', 'SyncLoadBalancerFailed'])
    expect(first.actions[2]).toMatchObject({
      eventType: 'Warning',
      message: 'Error syncing load balancer: port 80/TCP is taken by service default/old',
    })
    const pending = writtenBy(first)
    expect(pending.status?.loadBalancer).toEqual({})
    expect(plan(pending, { addresses: [], problem })).toEqual({ actions: [] })
    expect(told(plan(pending, { addresses }))).toEqual(['update services', 'EnsuredLoadBalancer'])
  })

  it.each([
    ['NoNodes', ['UnAvailableLoadBalancer']],
    ['NotAnAddressOfNodes', ['SyncLoadBalancerFailed']],
    ['NoLocalEndpoints', []],
  ] as const)('tells of %s as upstream', (reason, events) => {
    const { actions } = plan(given, { addresses: [], problem: { reason, message: 'why' } })
    expect(told({ actions }).slice(1)).toEqual(events)
  })

  it('keeps conditions of others', () => {
    const other = { type: 'Other', status: 'True', reason: 'Other', message: '' }
    const { status } = writtenBy(plan({ ...web, status: { conditions: [other] } }, { addresses }))
    expect(status?.conditions?.map(({ type }) => type)).toEqual(['Other', addressesCondition])
    expect(writtenBy(planCleanup({ ...given, status: { ...given.status, conditions: [other] } })).status).toEqual({
      loadBalancer: {},
      conditions: [other],
    })
  })

  it('is let go without what it had', () => {
    const cleanup = planCleanup(given)
    expect(told(cleanup)).toEqual(['DeletingLoadBalancer', 'update services', 'DeletedLoadBalancer'])
    const { metadata, status } = writtenBy(cleanup)
    expect(metadata).not.toHaveProperty('finalizers')
    expect(status).toEqual({ loadBalancer: {} })
  })

  it('keeps what another load balancer has given it', () => {
    const ingress = [{ ip: '203.0.113.7' }]
    const others: Service = {
      ...given,
      spec: { ...given.spec, loadBalancerClass: 'example.com/lb' },
      status: { ...given.status, loadBalancer: { ingress } },
    }
    expect(writtenBy(planCleanup(others)).status).toEqual({ loadBalancer: { ingress } })
  })
})
