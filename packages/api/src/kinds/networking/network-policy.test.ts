import { describe, expect, it } from 'vitest'
import { decoded, problemsOfCreate, problemsOfUpdate, row } from '../../../test/requests.ts'
import { ipAddresses } from './ip-address.ts'
import { networkPolicies } from './network-policy.ts'
import { serviceCidrs } from './service-cidr.ts'

describe('a network policy', () => {
  it('is about what it has rules for', () => {
    expect(decoded(networkPolicies, {}).spec?.policyTypes).toEqual(['Ingress'])
    expect(decoded(networkPolicies, { spec: { egress: [{}] } }).spec?.policyTypes).toEqual(['Ingress', 'Egress'])
    const ports = decoded(networkPolicies, { spec: { ingress: [{ ports: [{ port: 80 }] }] } }).spec?.ingress?.[0]?.ports
    expect(ports).toEqual([{ protocol: 'TCP', port: 80 }])
  })

  const from = (peer: object) => ({ ingress: [{ from: [peer] }] })
  const to = (port: object) => ({ egress: [{ ports: [port] }] })
  const peerAt = 'spec.ingress[0].from[0]'
  const portAt = 'spec.egress[0].ports[0]'
  it('names ranges as such, but for those it has had', () => {
    const policy = { spec: from({ ipBlock: { cidr: '10.0.0.1/8', except: ['10.1.0.1/16'] } }) }
    const why = 'must not have bits set beyond the prefix length'
    const problems = [
      `${peerAt}.ipBlock.cidr: Invalid value: "10.0.0.1/8": ${why}`,
      `${peerAt}.ipBlock.except[0]: Invalid value: "10.1.0.1/16": ${why}`,
    ]
    expect(problemsOfCreate(networkPolicies, policy)).toEqual(problems)
    expect(problemsOfUpdate(networkPolicies, {}, policy)).toEqual(problems)
    expect(problemsOfUpdate(networkPolicies, policy, policy)).toEqual([])
  })

  it.each<readonly [string, object, readonly string[]]>([
    ['a good one', { ...from({ podSelector: {}, namespaceSelector: {} }), ...to({ port: 80, endPort: 90 }) }, []],
    ['nobody', from({}), [`${peerAt}: Required value: must specify a peer`]],
    [
      'pods at an address',
      from({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }),
      [`${peerAt}: Forbidden: may not specify both ipBlock and another peer`],
    ],
    [
      'no range',
      from({ ipBlock: { cidr: '10.0.0.0' } }),
      [
        `${peerAt}.ipBlock.cidr: Invalid value: "10.0.0.0": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
      ],
    ],
    [
      'exceptions outside the range',
      from({ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16', '11.0.0.0/16', '10.0.0.0/8'] } }),
      [1, 2].map((index) => expect.stringContaining(`${peerAt}.ipBlock.except[${index}]: Invalid value`) as never),
    ],
    [
      'a range of a name',
      to({ port: 'http', endPort: 90 }),
      [`${portAt}.endPort: Invalid value: 90: may not be specified when \`port\` is non-numeric`],
    ],
    [
      'a range of nothing',
      to({ endPort: 90 }),
      [`${portAt}.endPort: Invalid value: 90: may not be specified when \`port\` is not specified`],
    ],
    [
      'a range that ends before it begins',
      to({ port: 80, endPort: 70 }),
      [`${portAt}.endPort: Invalid value: 80: must be greater than or equal to \`port\``],
    ],
    [
      'a protocol nobody knows',
      to({ protocol: 'ICMP' }),
      [`${portAt}.protocol: Unsupported value: "ICMP": supported values: "TCP", "UDP", "SCTP"`],
    ],
    [
      'a direction nobody knows',
      { policyTypes: ['Up'] },
      ['spec.policyTypes[0]: Unsupported value: "Up": supported values: "Ingress", "Egress"'],
    ],
    [
      'too many directions',
      { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
      ['spec.policyTypes: Invalid value: ["Ingress","Egress","Ingress"]: may not specify more than two policyTypes'],
    ],
  ])('%s', (_, spec, problems) => {
    expect(problemsOfCreate(networkPolicies, { spec })).toEqual(problems)
  })

  it('is shown with the pods that it is about', () => {
    const spec = {
      podSelector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
    }
    expect(row(networkPolicies, { spec }, 0)).toMatchObject({ 'Pod-Selector': 'app=web,tier' })
    expect(row(networkPolicies, {}, 0)).toMatchObject({ 'Pod-Selector': '<none>' })
  })
})

describe('ranges of services', () => {
  const withCidrs = (...cidrs: readonly string[]) => ({ spec: { cidrs } })
  it.each<readonly [string, object, readonly string[]]>([
    ['good ones', withCidrs('10.96.0.0/12', 'fd00::/112'), []],
    ['none', {}, ['spec.cidrs: Required value: at least one CIDR required']],
    ['three', withCidrs('a', 'b', 'c'), ['spec.cidrs: Invalid value: ["a","b","c"]: may only hold up to 2 values']],
    [
      'an address',
      withCidrs('10.0.0.1'),
      [expect.stringContaining('spec.cidrs[0]: Invalid value: "10.0.0.1": must be a valid CIDR') as never],
    ],
    [
      'one with further bits',
      withCidrs('10.96.0.1/12'),
      ['spec.cidrs[0]: Invalid value: "10.96.0.1/12": must not have bits set beyond the prefix length'],
    ],
    [
      'one that is written at length',
      withCidrs('fd00:0::/112'),
      ['spec.cidrs[0]: Invalid value: "fd00:0::/112": must be in canonical form ("fd00::/112")'],
    ],
    [
      'one with leading zeros',
      withCidrs('010.96.0.0/12'),
      ['spec.cidrs[0]: Invalid value: "010.96.0.0/12": must not have leading 0s in IP or prefix length'],
    ],
    [
      'two of a family',
      withCidrs('10.96.0.0/12', '10.0.0.0/16'),
      [
        'spec.cidrs: Invalid value: ["10.96.0.0/12","10.0.0.0/16"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ],
    ],
  ])('%s', (_, draft, problems) => {
    expect(problemsOfCreate(serviceCidrs, { ...draft })).toEqual(problems)
  })

  it('may get a second family, and do not change otherwise', () => {
    const one = withCidrs('10.96.0.0/12')
    expect(problemsOfUpdate(serviceCidrs, one, withCidrs('10.96.0.0/12', 'fd00::/112'))).toEqual([])
    expect(problemsOfUpdate(serviceCidrs, one, withCidrs('10.0.0.0/16'))).toEqual([
      'spec.cidrs[0]: Invalid value: "10.0.0.0/16": field is immutable',
    ])
    expect(problemsOfUpdate(serviceCidrs, one, withCidrs('10.0.0.0/16', 'x'))).toEqual([
      'spec.cidrs[0]: Invalid value: "10.0.0.0/16": field is immutable',
      'spec.cidrs[1]: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ])
    expect(problemsOfUpdate(serviceCidrs, one, {})).toEqual(['spec.cidrs: Invalid value: null: field is immutable'])
    expect(row(serviceCidrs, withCidrs('10.96.0.0/12', 'fd00::/112'), 0)).toMatchObject({
      CIDRs: '10.96.0.0/12,fd00::/112',
    })
  })
})

describe('an address that is taken', () => {
  const parentRef = { resource: 'services', namespace: 'web', name: 'front' }
  const named = (name: string, parent: object = parentRef) => ({ metadata: { name }, spec: { parentRef: parent } })

  it('is called what it is', () => {
    expect(problemsOfCreate(ipAddresses, named('10.96.0.1'))).toEqual([])
    expect(problemsOfCreate(ipAddresses, named('FD00::1'))).toEqual([
      'metadata.name: Invalid value: "FD00::1": must be in canonical form ("fd00::1")',
    ])
    expect(problemsOfCreate(ipAddresses, named('x'))).toEqual([
      'metadata.name: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ])
  })

  it('belongs to one object for good', () => {
    expect(problemsOfCreate(ipAddresses, named('10.96.0.1', { resource: 'a/b', name: '' }))).toEqual([
      'spec.parentRef.resource: Invalid value: "a/b": may not contain \'/\'',
      'spec.parentRef.name: Required value',
    ])
    expect(
      problemsOfUpdate(ipAddresses, named('10.96.0.1'), named('10.96.0.1', { ...parentRef, name: 'other' })),
    ).toEqual([
      'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"web","Name":"other"}: field is immutable',
    ])
    expect(row(ipAddresses, named('10.96.0.1'), 0)).toEqual({ Name: '10.96.0.1', ParentRef: 'services/web/front' })
  })
})
