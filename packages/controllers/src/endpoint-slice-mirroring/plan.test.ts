import type { EndpointSlice, EndpointSubset, Endpoints } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { isMirrored, managedBy } from './mirrored.ts'
import { planMirroring } from './plan.ts'

const endpoints = (subsets: readonly EndpointSubset[], metadata: Endpoints['metadata'] = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { namespace: 'default', name: 'db', uid: 'e1', ...metadata },
  subsets,
})

const subset = (port: number, ...ips: readonly string[]): EndpointSubset => ({
  addresses: ips.map((ip) => ({ ip })),
  ports: [{ name: 'sql', port, protocol: 'TCP' }],
})

/** The slices that mirror some Endpoints, named `s0`, `s1`… */
const slicesOf = (of: Endpoints): readonly EndpointSlice[] =>
  planMirroring(of, []).actions.flatMap((action, index) =>
    action.type === 'create'
      ? [{ ...(action.object as EndpointSlice), metadata: { ...action.object.metadata, name: `s${index}` } }]
      : [],
  )

/** `+IPv4 5432: 10.0.0.1`, `~s0 IPv4 5433: …`, `-s0`. */
function summary(action: Action): string {
  if (action.type === 'delete') return `-${action.key.name}`
  if (action.type !== 'create' && action.type !== 'update') return action.type
  const { metadata, addressType, ports = [], endpoints: all = [] } = action.object as EndpointSlice
  const sign = action.type === 'create' ? '+' : `~${metadata.name} `
  return `${sign}${addressType} ${ports.map(({ port }) => port)}: ${all.flatMap(({ addresses }) => addresses).join()}`
}
const planned = (of: Endpoints, slices: readonly EndpointSlice[]) => planMirroring(of, slices).actions.map(summary)

describe('slices of Endpoints', () => {
  const v4 = endpoints([subset(5432, '10.0.0.1')])
  const both = endpoints([subset(5432, '10.0.0.1', 'fd00::1')])

  it.each<[what: string, now: Endpoints, before: Endpoints | undefined, expected: readonly string[]]>([
    ['are one for each family of addresses', both, undefined, ['+IPv4 5432: 10.0.0.1', '+IPv6 5432: fd00::1']],
    ['stay as they are where nothing has changed', both, both, []],
    [
      'are those of new Endpoints of the same name',
      endpoints([subset(5432, '10.0.0.1')], { uid: 'e2' }),
      v4,
      ['~s0 IPv4 5432: 10.0.0.1'],
    ],
    [
      'are not made of Endpoints that are going, and change with them',
      endpoints([subset(5432, 'fd00::1')], { deletionTimestamp: '2026-01-01T00:00:00Z' }),
      v4,
      ['-s0'],
    ],
    [
      'change with their addresses',
      endpoints([subset(5432, '10.0.0.1', '10.0.0.2')]),
      v4,
      ['~s0 IPv4 5432: 10.0.0.1,10.0.0.2'],
    ],
    ['are used again for other ports', endpoints([subset(5433, '10.0.0.1')]), v4, ['~s0 IPv4 5433: 10.0.0.1']],
    [
      'are not used again for another family, which a slice has for good',
      endpoints([subset(5432, 'fd00::1')]),
      v4,
      ['+IPv6 5432: fd00::1', '-s0'],
    ],
    [
      'of two subsets with the same ports are one',
      endpoints([subset(5432, '10.0.0.1'), subset(5432, '10.0.0.2')]),
      undefined,
      ['+IPv4 5432: 10.0.0.1,10.0.0.2'],
    ],
    [
      'have all ports of an address that is in two subsets',
      endpoints([subset(5432, '10.0.0.1'), { ...subset(80, '10.0.0.1'), ports: [{ name: 'web', port: 80 }] }]),
      undefined,
      ['+IPv4 5432,80: 10.0.0.1'],
    ],
    ['go with their subset', endpoints([]), both, ['-s0', '-s1']],
    [
      'change with the labels of the Endpoints',
      endpoints(v4.subsets ?? [], { labels: { a: 'b' } }),
      v4,
      ['~s0 IPv4 5432: 10.0.0.1'],
    ],
    [
      'change with a node of an address alone',
      endpoints([{ ...subset(5432), addresses: [{ ip: '10.0.0.1', nodeName: 'n1' }] }]),
      v4,
      ['~s0 IPv4 5432: 10.0.0.1'],
    ],
    [
      'change with one of their addresses',
      endpoints([subset(5432, '10.0.0.1', '10.0.0.3')]),
      endpoints([subset(5432, '10.0.0.1', '10.0.0.2')]),
      ['~s0 IPv4 5432: 10.0.0.1,10.0.0.3'],
    ],
    [
      'change with an annotation of the Endpoints',
      endpoints(v4.subsets ?? [], { annotations: { note: 'new' } }),
      v4,
      ['~s0 IPv4 5432: 10.0.0.1'],
    ],
  ])('%s', (_what, now, before, expected) => {
    expect(planned(now, before === undefined ? [] : slicesOf(before))).toEqual(expected)
  })

  it('have the labels and annotations of the Endpoints, but say themselves whose they are', () => {
    const { metadata } =
      slicesOf(
        endpoints([subset(5432, '10.0.0.1')], {
          labels: {
            tier: 'data',
            'kubernetes.io/service-name': 'another',
            'endpointslice.kubernetes.io/managed-by': 'nobody',
          },
          annotations: {
            note: 'kept',
            'kubectl.kubernetes.io/last-applied-configuration': '{}',
            'endpoints.kubernetes.io/last-change-trigger-time': '2026-01-01T00:00:00Z',
          },
        }),
      )[0] ?? {}
    expect(metadata).toMatchObject({
      namespace: 'default',
      generateName: 'db-',
      labels: {
        tier: 'data',
        'kubernetes.io/service-name': 'db',
        'endpointslice.kubernetes.io/managed-by': managedBy,
      },
      annotations: { note: 'kept' },
      ownerReferences: [{ kind: 'Endpoints', name: 'db', uid: 'e1', controller: true }],
    })
    expect(Object.keys(metadata?.annotations ?? {})).toEqual(['note'])
  })

  it('say what an address is of, and what is spoken at a port', () => {
    const targetRef = { kind: 'Pod', namespace: 'default', name: 'db-0', uid: 'p1' }
    const [slice] = slicesOf(
      endpoints([
        {
          addresses: [{ ip: '10.0.0.1', targetRef, nodeName: 'n1' }],
          ports: [
            { port: 5432, appProtocol: 'postgresql' },
            { name: 'plain', port: 80, protocol: 'UDP' },
          ],
        },
      ]),
    )
    expect(slice).toMatchObject({ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' })
    expect(slice?.endpoints).toEqual([
      { addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef, nodeName: 'n1' },
    ])
    expect(slice?.ports).toEqual([
      { name: '', port: 5432, protocol: 'TCP', appProtocol: 'postgresql' },
      { name: 'plain', port: 80, protocol: 'UDP' },
    ])
  })

  it('of addresses that are of different objects, or of none, are told apart', () => {
    const of = (name: string) => ({ kind: 'Pod', namespace: 'default', name, uid: name })
    const given = (...addresses: readonly object[]) => endpoints([{ ...subset(5432), addresses } as EndpointSubset])
    const before = given({ ip: '10.0.0.1', targetRef: of('a') })
    expect(planned(given({ ip: '10.0.0.1', targetRef: of('b') }), slicesOf(before))).toEqual([
      '~s0 IPv4 5432: 10.0.0.1',
    ])
    expect(planned(given({ ip: '10.0.0.1' }), slicesOf(before))).toEqual(['~s0 IPv4 5432: 10.0.0.1'])
  })

  it('say whose they are also when they are written over, and why they are written', () => {
    const before = endpoints([subset(5432, '10.0.0.1')], { uid: 'e0' })
    expect(planMirroring(endpoints([subset(5432, '10.0.0.1')]), slicesOf(before)).actions).toMatchObject([
      { object: { metadata: { ownerReferences: [{ uid: 'e1' }] } }, because: 'the Endpoints have changed' },
    ])
    expect(planMirroring(before, []).actions).toMatchObject([{ because: 'a subset of the Endpoints has no slice' }])
    expect(planMirroring(endpoints([]), slicesOf(before)).actions).toMatchObject([
      { because: 'no subset has these ports' },
    ])
  })

  it('leave out what is no address, and say so', () => {
    const of = endpoints([subset(5432, 'db.example.com', '10.0.0.1', '')])
    expect(planned(of, [])).toEqual(['+IPv4 5432: 10.0.0.1', 'event'])
    expect(planMirroring(of, []).actions.at(-1)).toMatchObject({
      eventType: 'Warning',
      reason: 'InvalidIPAddress',
      message: 'Skipped 2 invalid IP addresses when mirroring to EndpointSlices',
    })
  })

  it('have addresses that are not ready, after those that are', () => {
    const [slice] = slicesOf(
      endpoints([{ ...subset(5432, '10.0.0.2'), notReadyAddresses: [{ ip: '10.0.0.1', hostname: 'a' }] }]),
    )
    expect(slice?.endpoints).toEqual([
      { addresses: ['10.0.0.2'], conditions: { ready: true } },
      { addresses: ['10.0.0.1'], conditions: { ready: false }, hostname: 'a' },
    ])
  })
})

it.each<[Endpoints['metadata'], boolean]>([
  [{}, true],
  [{ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }, false],
  [{ labels: { 'endpointslice.kubernetes.io/skip-mirror': 'false' } }, true],
  [{ annotations: { 'control-plane.alpha.kubernetes.io/leader': '' } }, false],
])('Endpoints with %j are mirrored: %s', (metadata, expected) => {
  expect(isMirrored(endpoints([], metadata))).toBe(expected)
})

it('looks at each of many slices a few times', () => {
  const ports = Array.from({ length: 500 }, (_, index) => 1000 + index)
  const of = endpoints(ports.map((port, index) => subset(port, `10.0.${index >> 8}.${index & 255}`)))
  let looks = 0
  const counted = (slice: EndpointSlice): EndpointSlice =>
    Object.defineProperty({ ...slice }, 'addressType', {
      enumerable: true,
      get() {
        looks += 1
        return slice.addressType
      },
    })
  const slices = slicesOf(of)
  expect(planned(of, slices.map(counted))).toEqual([])
  const others = endpoints(ports.map((port, index) => subset(port + 500, `10.0.${index >> 8}.${index & 255}`)))
  expect(planMirroring(others, slices.map(counted)).actions).toHaveLength(500)
  expect(looks).toBeLessThanOrEqual(500 * 10)
})
