import { describe, expect, it } from 'vitest'
import {
  columnNames,
  created,
  type Draft,
  decoded,
  problemsOfCreate,
  problemsOfUpdate,
  row,
} from '../../../../test/requests.ts'
import { endpointSlices } from './endpoint-slice.ts'

const valid = { addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ port: 80 }] }

it('names each port, and takes it for TCP', () => {
  expect(decoded(endpointSlices, valid).ports).toEqual([{ name: '', protocol: 'TCP', port: 80 }])
})

describe('validation of an endpoint slice', () => {
  const manyHints = Array.from({ length: 9 }, (_, index) => ({ name: `zone-${index}` }))

  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing wrong', {}, []],
    ['no type', { addressType: undefined }, ['addressType: Required value']],
    [
      'no address',
      { endpoints: [{ addresses: [] }] },
      ['endpoints[0].addresses: Required value: must contain at least 1 address'],
    ],
    [
      'addresses of another type, and ones that lead back',
      { endpoints: [{ addresses: ['fd00::1'] }, { addresses: ['127.0.0.1'] }] },
      [
        'endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address',
        'endpoints[1].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
      ],
    ],
    [
      'IPv6 addresses that are written otherwise',
      { addressType: 'IPv6', endpoints: [{ addresses: ['FD00::1', '::ffff:10.0.0.1', 'fd00::2', '10.0.0.1'] }] },
      [
        'endpoints[0].addresses[0]: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
        'endpoints[0].addresses[1]: Invalid value: "::ffff:10.0.0.1": must not be an IPv4-mapped IPv6 address',
        'endpoints[0].addresses: Invalid value: "10.0.0.1": must be an IPv6 address',
      ],
    ],
    [
      'a domain of one part',
      { addressType: 'FQDN', endpoints: [{ addresses: ['db.example.com'] }, { addresses: ['db'] }] },
      [
        'endpoints[1].addresses[0]: Invalid value: "db": should be a domain with at least two segments separated by dots',
      ],
    ],
    [
      'names that are none',
      { endpoints: [{ addresses: ['10.0.0.1'], hostname: '', nodeName: '_' }] },
      [
        expect.stringMatching(/^endpoints\[0\]\.nodeName: Invalid value: "_"/),
        expect.stringMatching(/^endpoints\[0\]\.hostname: Invalid value: "": a lowercase RFC 1123 label/),
      ],
    ],
    [
      'hints that say nothing',
      {
        endpoints: [
          { addresses: ['10.0.0.1'], hints: { forZones: manyHints } },
          { addresses: ['10.0.0.2'], hints: { forNodes: [{ name: 'n' }, { name: 'n' }] } },
        ],
      },
      [
        'endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
        'endpoints[1].hints.forNodes[1].name: Duplicate value: "n"',
      ],
    ],
    [
      'ports of one name',
      { ports: [{ port: 80 }, { port: 81 }, { name: 'x', port: 70000 }] },
      ['ports[1].name: Duplicate value: ""'],
    ],
    [
      'more endpoints than a slice holds',
      { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.0.0.1'] })) },
      ['endpoints: Too many: 1001: must have at most 1000 items'],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(endpointSlices, { ...valid, ...changes })).toEqual(problems)
  })

  it('keeps the type of its addresses', () => {
    const other = { ...valid, addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }] }
    expect(problemsOfUpdate(endpointSlices, valid, other)).toEqual([
      'addressType: Invalid value: "IPv6": field is immutable',
    ])
    expect(problemsOfUpdate(endpointSlices, valid, { ...valid, addressType: undefined })).toContain(
      'addressType: Invalid value: "": field is immutable',
    )
  })
})

it('keeps what an old version said of the place of an endpoint, but takes nothing new', () => {
  const draft = { ...valid, endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { zone: 'a' } }] }
  expect(created(endpointSlices, draft).endpoints).toEqual([{ addresses: ['10.0.0.1'], conditions: {} }])
  const old = decoded(endpointSlices, draft)
  const kept = endpointSlices.strategy.prepareForUpdate?.(old, old, 0)
  expect(kept).toBe(old)
})

describe('what an old version said of the place of an endpoint', () => {
  const placed = (address: string, node: string, more: object = {}) => ({
    addresses: [address],
    deprecatedTopology: { 'kubernetes.io/hostname': node, zone: 'a' },
    ...more,
  })
  const endpointsAfter = (before: readonly object[], after: readonly object[]) => {
    const [old, next] = [before, after].map((endpoints) => decoded(endpointSlices, { ...valid, endpoints }))
    if (old === undefined || next === undefined) throw new Error('two are decoded')
    return endpointSlices.strategy.prepareForUpdate?.(next, old, 0).endpoints
  }
  const first = placed('10.0.0.1', 'node-1')

  it('stays where the endpoints do', () => {
    expect(endpointsAfter([first], [first])).toMatchObject([first])
  })

  it('goes from all of them with a change of one, and its node is then in the field for it', () => {
    expect(endpointsAfter([first], [first, { addresses: ['10.0.0.2'] }])).toEqual([
      { addresses: ['10.0.0.1'], conditions: {}, nodeName: 'node-1' },
      { addresses: ['10.0.0.2'], conditions: {} },
    ])
  })

  it.each([
    ['was not named before', placed('10.0.0.2', 'node-2')],
    ['is no name', placed('10.0.0.2', 'NODE')],
  ])('names no node that %s', (_, endpoint) => {
    expect(endpointsAfter([first, placed('10.0.0.3', 'NODE')], [endpoint])).toEqual([
      { addresses: ['10.0.0.2'], conditions: {} },
    ])
  })

  it('names no other node than the field does', () => {
    expect(endpointsAfter([first], [placed('10.0.0.2', 'node-1', { nodeName: 'node-3' })])).toEqual([
      { addresses: ['10.0.0.2'], conditions: {}, nodeName: 'node-3' },
    ])
  })
})

it('shows some of its ports and addresses in a table', () => {
  expect(columnNames(endpointSlices).shown).toEqual(['Name', 'AddressType', 'Ports', 'Endpoints', 'Age'])
  const many = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4'].map((address) => ({ addresses: [address] }))
  expect(row(endpointSlices, { ...valid, endpoints: many, ports: [{ port: 80 }, { name: 'any' }] }, 0)).toMatchObject({
    AddressType: 'IPv4',
    Ports: '80,any',
    Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...',
  })
  expect(row(endpointSlices, { addressType: 'FQDN' }, 0)).toMatchObject({ Ports: '<unset>', Endpoints: '<unset>' })
})
