import { formatTime, type IpAddressObject, type ServiceCidr } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { startMs } from '../testing/objects.ts'
import { deletionGraceMs, finalizer, planServiceCidr } from './plan.ts'

const cidr = (name: string, cidrs: readonly string[], goingForMs?: number): ServiceCidr =>
  ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: {
      name,
      finalizers: [finalizer],
      ...(goingForMs === undefined ? {} : { deletionTimestamp: formatTime(startMs - goingForMs) }),
    },
    spec: { cidrs },
  }) as ServiceCidr

const address = (name: string, by = 'ipallocator.k8s.io'): IpAddressObject =>
  ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': by } },
    spec: { parentRef: { resource: 'services', namespace: 'default', name: 'a' } },
  }) as IpAddressObject

const plan = (own: ServiceCidr, others: readonly ServiceCidr[] = [], addresses: readonly IpAddressObject[] = []) =>
  planServiceCidr({ cidr: own, cidrs: [own, ...others], addresses: () => addresses, now: startMs })

const released = [expect.objectContaining({ type: 'patch', patch: expect.objectContaining({ type: 'merge' }) })]

describe('ranges that stay', () => {
  it('are held and ready', () => {
    const fresh = cidr('a', ['10.0.0.0/24'])
    const { actions, status } = plan({ ...fresh, metadata: { name: 'a' } })
    expect(actions).toMatchObject([{ type: 'patch', patch: { body: { metadata: { finalizers: [finalizer] } } } }])
    expect(status?.conditions).toEqual([
      {
        type: 'Ready',
        status: 'True',
        reason: '',
        message: 'Kubernetes Service CIDR is ready',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ])
    expect(plan({ ...fresh, status: status ?? {} })).toEqual({ actions: [], status })
  })
})

describe('ranges that are to go', () => {
  const going = cidr('a', ['10.0.0.0/24'], deletionGraceMs)

  it('wait until all servers know', () => {
    expect(plan(cidr('a', ['10.0.0.0/24'], 4000))).toEqual({ actions: [], requeueAfterMs: 6000 })
    expect(plan(going).actions).toEqual(released)
  })

  it('stay while an address of a service is in no other', () => {
    const { actions, status } = plan(going, [], [address('10.0.0.1')])
    expect(actions).toEqual([])
    expect(status?.conditions).toMatchObject([{ type: 'Ready', status: 'False', reason: 'Terminating' }])
  })

  it.each<readonly [string, readonly ServiceCidr[], readonly IpAddressObject[]]>([
    ['the addresses are of other ranges', [], [address('10.0.1.1')]],
    ['the addresses are not those of services', [], [address('10.0.0.1', 'example.com')]],
    ['a wider range stays', [cidr('b', ['10.0.0.0/16'])], [address('10.0.0.1')]],
    ['the same range stays', [cidr('b', ['10.0.0.0/24'])], [address('10.0.0.1')]],
    ['a narrower one has the addresses', [cidr('b', ['10.0.0.0/28'])], [address('10.0.0.1')]],
  ])('go where %s', (_, others, addresses) => {
    expect(plan(going, others, addresses).actions).toEqual(released)
  })

  it('do not count on ranges that are to go too', () => {
    const other = cidr('b', ['10.0.0.0/16'], deletionGraceMs)
    expect(plan(going, [other], [address('10.0.0.1')]).actions).toEqual([])
  })

  it('ask for addresses only where no other range has them all', () => {
    const addresses = () => {
      throw new Error('asked')
    }
    const wide = cidr('b', ['10.0.0.0/16'])
    expect(planServiceCidr({ cidr: going, cidrs: [going, wide], addresses, now: startMs }).actions).toEqual(released)
  })
})
