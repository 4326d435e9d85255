import type { DeviceClass, Node, Pod, ResourceClaim } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { makeNode, makePod } from '../testing/objects.ts'
import type { DeviceCache } from './device-cache.ts'
import { isAvailableOn, podDevices } from './pod-devices.ts'

const exactly = { deviceClassName: 'any' }
const user = { resource: 'pods', name: 'web', uid: 'uid-web' }
const others = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ resource: 'pods', name: `p${index}`, uid: `u${index}` }))

const claim = (
  name: string,
  status: ResourceClaim['status'] = {},
  metadata: Partial<ResourceClaim['metadata']> = {},
  requests: readonly object[] = [{ name: 'r', exactly }],
): ResourceClaim =>
  ({
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
    spec: { devices: { requests } },
    status,
  }) as unknown as ResourceClaim
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web', controller: true }

const naming = (...names: readonly string[]): Pod =>
  makePod({ resourceClaims: names.map((each) => ({ name: each, resourceClaimName: each })) }, 'web')
const fromTemplate = (statuses?: readonly { readonly name: string; readonly resourceClaimName?: string }[]): Pod => ({
  ...makePod({ resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }] }, 'web'),
  ...(statuses === undefined ? {} : { status: { resourceClaimStatuses: statuses } }),
})
const made = fromTemplate([{ name: 'gpu', resourceClaimName: 'made' }])

/** What is found, by the names of claims. */
function found(
  pod: Pod,
  claims: readonly ResourceClaim[],
  pending: readonly string[] = [],
): object | string | undefined {
  const devices = {
    claim: (namespace: string | undefined, name: string) =>
      claims.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    deviceClass: (name: string) => (name === 'any' ? ({} as DeviceClass) : undefined),
    isPending: ({ metadata }: ResourceClaim) => pending.includes(metadata.name ?? ''),
  } as unknown as DeviceCache
  const outcome = podDevices(pod, devices)
  if (outcome === undefined || typeof outcome === 'string') return outcome
  const names = (of: readonly ResourceClaim[]) => of.map(({ metadata }) => metadata.name)
  return { allocated: names(outcome.allocated), wanting: names(outcome.wanting) }
}

const allocated = (name: string, reservedFor = others(0)) => claim(name, { allocation: {}, reservedFor })

describe('the claims of a pod', () => {
  it.each<[string, object | string | undefined, Parameters<typeof found>]>([
    ['are none where it names none', undefined, [makePod({}, 'web'), []]],
    [
      'have their devices or want them',
      { allocated: ['a', 'c'], wanting: ['b'] },
      [naming('a', 'b', 'c'), [allocated('a'), claim('b'), allocated('c', [user])]],
    ],
    ['count once each', { allocated: [], wanting: ['a'] }, [naming('a', 'a'), [claim('a')]]],
    ['are not there', 'could not find ResourceClaim "default/a"', [naming('a'), []]],
    [
      'are of its namespace',
      'could not find ResourceClaim "default/a"',
      [naming('a'), [claim('a', {}, { namespace: 'other' })]],
    ],
    ['are yet to be made', 'pod "default/web": ResourceClaim not created yet', [fromTemplate(), []]],
    ['are not needed', { allocated: [], wanting: [] }, [fromTemplate([{ name: 'gpu' }]), []]],
    [
      'were made for it',
      { allocated: [], wanting: ['made'] },
      [made, [claim('made', {}, { ownerReferences: [owner] as never })]],
    ],
    [
      'were made for another',
      'ResourceClaim default/made was not created for pod default/web (pod is not owner)',
      [made, [claim('made')]],
    ],
    [
      'are on their way out',
      'resourceclaim "a" is being deleted',
      [naming('a'), [claim('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })]],
    ],
    [
      'are getting devices for another pod',
      'resource claim default/a is in the process of being allocated',
      [naming('a'), [claim('a')], ['a']],
    ],
    ['have got them, whatever is thought', { allocated: ['a'], wanting: [] }, [naming('a'), [allocated('a')], ['a']]],
    ['have as many users as they may', 'resourceclaim in use', [naming('a'), [allocated('a', others(256))]]],
    [
      'have as many users as they may, of which it is one',
      { allocated: ['a'], wanting: [] },
      [naming('a'), [allocated('a', [...others(255), user])]],
    ],
    [
      'ask for a class that is not there',
      'request r: device class none does not exist',
      [naming('b', 'a'), [claim('b'), claim('a', {}, {}, [{ name: 'r', exactly: { deviceClassName: 'none' } }])]],
    ],
    [
      'ask in a way that is not known here',
      'resource claim default/a, request r: unknown request type',
      [naming('a'), [claim('a', {}, {}, [{ name: 'r' }])]],
    ],
    [
      'ask in one way for a class that is not there',
      'request r/two: device class none does not exist',
      [
        naming('a'),
        [
          claim('a', {}, {}, [
            {
              name: 'r',
              firstAvailable: [
                { name: 'one', deviceClassName: 'any' },
                { name: 'two', deviceClassName: 'none' },
              ],
            },
          ]),
        ],
      ],
    ],
    [
      'had asked for a class that is gone when they got their devices',
      { allocated: ['a'], wanting: [] },
      [naming('a'), [claim('a', { allocation: {} }, {}, [{ name: 'r', exactly: { deviceClassName: 'none' } }])]],
    ],
  ])('%s', (_what, expected, args) => {
    expect(found(...args)).toEqual(expected)
  })
})

describe('devices that a claim has', () => {
  const node: Node = makeNode({ name: 'n1', labels: { rack: 'a' } })
  const rack = (value: string) => ({ matchExpressions: [{ key: 'rack', operator: 'In' as const, values: [value] }] })

  it.each([
    ['everywhere where nothing is said', undefined, true],
    ['on nodes that are selected', [rack('a')], true],
    ['on no others', [rack('b')], false],
    ['on nodes that one of several terms selects', [rack('b'), rack('a')], true],
  ])('can be used %s', (_where, nodeSelectorTerms, isAvailable) => {
    const nodeSelector = nodeSelectorTerms && { nodeSelectorTerms }
    expect(isAvailableOn(claim('a', { allocation: { nodeSelector } } as ResourceClaim['status']), node)).toBe(
      isAvailable,
    )
  })
})
