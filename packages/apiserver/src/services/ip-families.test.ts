import type { Service, ServiceSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { type Family, withIpFamilies } from './ip-families.ts'

const four: readonly Family[] = ['IPv4']
const both: readonly Family[] = ['IPv4', 'IPv6']
const selector = { app: 'web' }
const [ip4, ip6] = ['10.0.0.1', 'fd00::1']

const outcome = (spec: object, available: readonly Family[], old?: object) => {
  const service = { metadata: { name: 'web' }, spec: { type: 'ClusterIP', ...spec } } as unknown as Service
  const before = old === undefined ? undefined : ({ type: 'ClusterIP', ...old } as unknown as ServiceSpec)
  const { ipFamilies, ipFamilyPolicy, clusterIPs } = withIpFamilies(service, before, available).spec
  return [ipFamilies, ipFamilyPolicy, ...(clusterIPs === undefined ? [] : [clusterIPs])]
}

describe('a new service has', () => {
  it.each<readonly [string, object, readonly Family[], readonly unknown[]]>([
    ['the usual family', { selector }, both, [four, 'SingleStack']],
    ['the family it names', { selector, ipFamilies: ['IPv6'] }, both, [['IPv6'], 'SingleStack']],
    ['the family of its address', { selector, clusterIPs: [ip6] }, both, [['IPv6'], 'SingleStack', [ip6]]],
    ['both where it would like that', { selector, ipFamilyPolicy: 'PreferDualStack' }, both, [both, 'PreferDualStack']],
    ['one where there are not two', { selector, ipFamilyPolicy: 'PreferDualStack' }, four, [four, 'PreferDualStack']],
    [
      'both, its own first',
      { selector, ipFamilies: ['IPv6'], ipFamilyPolicy: 'RequireDualStack' },
      both,
      [['IPv6', 'IPv4'], 'RequireDualStack'],
    ],
    [
      'the usual family without an address',
      { selector, clusterIP: 'None', clusterIPs: ['None'] },
      both,
      [four, 'SingleStack', ['None']],
    ],
    [
      'both without an address and a selector, whatever the cluster has',
      { clusterIP: 'None', clusterIPs: ['None'] },
      four,
      [both, 'RequireDualStack', ['None']],
    ],
    [
      'one without an address and a selector, if it says so',
      { clusterIP: 'None', clusterIPs: ['None'], ipFamilyPolicy: 'SingleStack' },
      both,
      [four, 'SingleStack', ['None']],
    ],
  ])('%s', (_, spec, available, expected) => {
    expect(outcome(spec, available)).toEqual(expected)
  })

  it.each<readonly [object, readonly Family[], string]>([
    [
      { selector, ipFamilies: both },
      both,
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
    ],
    [
      { selector, clusterIPs: [ip4, ip6], ipFamilyPolicy: 'SingleStack' },
      both,
      `spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified`,
    ],
    [
      { selector, ipFamilyPolicy: 'RequireDualStack' },
      four,
      'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    ],
    [
      { selector, ipFamilies: ['IPv6'] },
      four,
      'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ],
    [
      { selector, clusterIPs: [ip6] },
      four,
      'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    ],
  ])('not %j of %j', (spec, available, message) => {
    expect(() => outcome(spec, available)).toThrow(message)
  })
})

describe('a service that had both families', () => {
  const old = { selector, clusterIPs: [ip4, ip6], ipFamilies: both, ipFamilyPolicy: 'PreferDualStack' }

  it.each<readonly [string, object, readonly Family[], readonly unknown[]]>([
    [
      'keeps them when its policy is not said',
      { ipFamilyPolicy: undefined },
      both,
      [both, 'PreferDualStack', [ip4, ip6]],
    ],
    ['keeps them when the cluster has one less', {}, four, [both, 'PreferDualStack', [ip4, ip6]]],
    ['loses one by its policy', { ipFamilyPolicy: 'SingleStack' }, both, [four, 'SingleStack', [ip4]]],
    [
      'loses one by its policy and its address',
      { ipFamilyPolicy: 'SingleStack', clusterIPs: [ip4], ipFamilies: four },
      both,
      [four, 'SingleStack', [ip4]],
    ],
  ])('%s', (_, change, available, expected) => {
    expect(outcome({ ...old, ...change }, available, old)).toEqual(expected)
  })

  it.each<readonly [object, string]>([
    [{ clusterIPs: [ip4] }, "must be 'SingleStack' to release the secondary cluster IP"],
    [{ ipFamilies: four }, "must be 'SingleStack' to release the secondary IP family"],
  ])('does not lose one without it: %j', (change, message) => {
    const path = 'spec.ipFamilyPolicy: Invalid value: "PreferDualStack": '
    expect(() => outcome({ ...old, ...change }, both, old)).toThrow(path + message)
  })
})

it('a service that had one family gets the other by its policy', () => {
  const old = { selector, clusterIPs: [ip4], ipFamilies: four, ipFamilyPolicy: 'SingleStack' }
  const [families] = outcome({ ...old, ipFamilyPolicy: 'RequireDualStack' }, both, old)
  expect(families).toEqual(both)
})
