import type { Endpoint, Node, Service } from '@coracle/api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocateToZones, wantsTopologyHints, zoneShares } from './topology-hints.ts'

/** Endpoints that are ready, so many in each zone. */
const endpoints = (counts: Readonly<Record<string, number>>, ready = true): readonly Endpoint[] =>
  Object.entries(counts).flatMap(([zone, count]) =>
    Array.from({ length: count }, (_, index) => ({
      addresses: [`${zone}-${index}`],
      conditions: { ready },
      ...(zone === 'none' ? {} : { zone }),
    })),
  )

const even = new Map([
  ['a', 1 / 3],
  ['b', 1 / 3],
  ['c', 1 / 3],
])
const half = new Map([
  ['a', 0.5],
  ['b', 0.5],
])

/** How many endpoints each zone gets, or why none does. */
function allocated(
  counts: Readonly<Record<string, number>>,
  shares: ReadonlyMap<string, number> | undefined,
  zoneOf: (endpoint: Endpoint) => string | undefined = () => undefined,
): string {
  const hints = allocateToZones(endpoints(counts), shares, zoneOf)
  if (hints.zones === undefined) return hints.why
  const all = [...hints.zones.values()]
  return [...new Set(all)]
    .sort()
    .map((zone) => `${zone} ${all.filter((each) => each === zone).length}`)
    .join(', ')
}

describe('endpoints', () => {
  it.each<readonly [Readonly<Record<string, number>>, ReadonlyMap<string, number> | undefined, string]>([
    [{ a: 2, b: 2, c: 2 }, even, 'a 2, b 2, c 2'],
    [{ a: 4, b: 1, c: 1 }, even, 'a 2, b 2, c 2'],
    [{ a: 6 }, even, 'a 2, b 2, c 2'],
    // What is less than one endpoint is not worth sending traffic elsewhere for.
    [{ a: 4, b: 3 }, half, 'a 4, b 3'],
    [{ a: 4, b: 2 }, half, 'a 3, b 3'],
    [{ a: 1, b: 1 }, even, 'Insufficient number of endpoints (2 endpoints, 3 zones)'],
    [
      { a: 2, b: 1, c: 1 },
      even,
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)',
    ],
    [{ a: 3, none: 1 }, half, 'One or more endpoints do not have a zone specified'],
    [{ a: 3 }, undefined, 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'],
    // A zone without nodes has no share, and nobody takes its endpoints.
    [{ a: 2, gone: 2 }, half, 'a 2, gone 2'],
  ])('%j', (counts, shares, wanted) => {
    expect(allocated(counts, shares)).toBe(wanted)
  })

  it('stay with the zone that they are for, while that is fair', () => {
    const moved = (endpoint: Endpoint) =>
      endpoint.addresses[0] === 'a-0' ? 'b' : endpoint.addresses[0] === 'b-0' ? 'a' : endpoint.zone
    const hints = allocateToZones(endpoints({ a: 3, b: 3 }), half, moved)
    expect([...(hints.zones ?? [])].map(([endpoint, zone]) => `${endpoint.addresses[0]} ${zone}`).slice(0, 2)).toEqual([
      'a-0 b',
      'a-1 a',
    ])
  })

  it.each<readonly [string, (endpoint: Endpoint) => string | undefined]>([
    ['one has none yet', ({ addresses, zone }) => (addresses[0] === 'a-0' ? undefined : zone)],
    ['one is for a zone that is gone', ({ addresses, zone }) => (addresses[0] === 'a-0' ? 'gone' : zone)],
    ['a zone has too few', () => 'a'],
  ])('are allocated anew where %s', (_, zoneOf) => {
    expect(allocated({ a: 3, b: 3 }, half, zoneOf)).toBe('a 3, b 3')
  })

  it('that are not ready count for nothing and are for nobody', () => {
    const all = [...endpoints({ a: 2, b: 2 }), ...endpoints({ a: 5 }, false)]
    expect(allocateToZones(all, half, () => undefined).zones?.size).toBe(4)
  })

  it('all have a zone, and no zone is further from its share than it was', () => {
    const share = fc.integer({ min: 1, max: 8 })
    const count = fc.integer({ min: 0, max: 20 })
    fc.assert(
      fc.property(fc.tuple(share, share, share), fc.tuple(count, count, count), (cpus, counts) => {
        const total = cpus.reduce((sum, cpu) => sum + cpu, 0)
        const names = ['a', 'b', 'c'] as const
        const shares = new Map(names.map((zone, index) => [zone, (cpus[index] ?? 0) / total]))
        const all = endpoints({ a: counts[0], b: counts[1], c: counts[2] })
        const { zones } = allocateToZones(all, shares, () => undefined)
        if (zones === undefined) return
        expect(zones.size).toBe(all.length)
        for (const [index, zone] of names.entries()) {
          const fair = (shares.get(zone) ?? 0) * all.length
          const desired = Math.max(fair, Math.ceil(fair / 1.2))
          const got = [...zones.values()].filter((each) => each === zone).length
          expect(Math.abs(got - desired)).toBeLessThanOrEqual(Math.abs((counts[index] ?? 0) - desired) + 1e-9)
        }
      }),
    )
  })
})

describe('the shares of zones', () => {
  const node = (zone: string, cpu: string, { ready = 'True', labels = {} } = {}): Node =>
    ({
      metadata: { name: zone, labels: { ...(zone === '' ? {} : { 'topology.kubernetes.io/zone': zone }), ...labels } },
      status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: ready }] },
    }) as unknown as Node
  const shown = (nodes: readonly Node[]) => {
    const shares = zoneShares(nodes)
    return shares && Object.fromEntries(shares)
  }

  it('are by the CPU of the nodes that are ready and not of the control plane', () => {
    const nodes = [
      node('a', '3'),
      node('b', '500m'),
      node('b', '500m'),
      node('c', '8', { ready: 'False' }),
      node('', '8', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
    ]
    expect(shown(nodes)).toEqual({ a: 0.75, b: 0.25 })
  })

  it.each<readonly [string, readonly Node[]]>([
    ['there is one zone', [node('a', '1'), node('a', '2')]],
    ['a node has no zone', [node('a', '1'), node('b', '2'), node('', '2')]],
    ['a node has no CPU', [node('a', '1'), node('b', '0')]],
    ['there are no nodes', []],
  ])('are unknown where %s', (_, nodes) => {
    expect(shown(nodes)).toBeUndefined()
  })
})

it.each<readonly [Readonly<Record<string, string>>, boolean]>([
  [{ 'service.kubernetes.io/topology-mode': 'Auto' }, true],
  [{ 'service.kubernetes.io/topology-mode': 'auto' }, true],
  [{ 'service.kubernetes.io/topology-mode': 'Disabled' }, false],
  [{ 'service.kubernetes.io/topology-aware-hints': 'Auto' }, true],
  [{ 'service.kubernetes.io/topology-mode': 'Disabled', 'service.kubernetes.io/topology-aware-hints': 'Auto' }, true],
  [{ 'service.kubernetes.io/topology-mode': 'Auto', 'service.kubernetes.io/topology-aware-hints': 'Disabled' }, false],
  [{}, false],
])('with %j a service wants hints: %s', (annotations, wants) => {
  expect(wantsTopologyHints({ metadata: { annotations } } as Service)).toBe(wants)
})
