import { describe, expect, it } from 'vitest'
import type { PersistentVolume, PersistentVolumeClaim } from '../index.ts'
import { isClaimedBy, matchingVolume, type VolumeSearch, whyVolumeMismatches } from './volume-binding.ts'

type Spec<T extends { readonly spec?: unknown }> = Partial<NonNullable<T['spec']>>

function volume(name: string, spec: Spec<PersistentVolume> = {}, more: object = {}): PersistentVolume {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, ...more },
    spec: { capacity: { storage: '10Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
    status: { phase: 'Available' },
  }
}

function claim(spec: Spec<PersistentVolumeClaim> = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'data', uid: 'claim' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } }, ...spec },
  }
}

const sized = (name: string, storage: string, spec: Spec<PersistentVolume> = {}) =>
  volume(name, { capacity: { storage }, ...spec })
const keptFor = (uid?: string): Spec<PersistentVolume> => ({
  claimRef: { namespace: 'default', name: 'data', ...(uid === undefined ? {} : { uid }) },
})
const onNode = (name: string): Spec<PersistentVolume> => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [name] }] }],
    },
  },
})
const node = (name: string) =>
  ({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { 'kubernetes.io/hostname': name } } }) as const
const phase = (name: 'Pending' | 'Released' | 'Failed') => ({ ...volume(name), status: { phase: name } })

describe('the volume of a claim that names none', () => {
  const cases: readonly (readonly [
    string,
    PersistentVolumeClaim,
    readonly PersistentVolume[],
    string | undefined,
    VolumeSearch?,
  ])[] = [
    ['is the smallest that is large enough', claim(), [sized('c', '20Gi'), sized('a', '1Gi'), sized('b', '6Gi')], 'b'],
    ['is one of exactly that size', claim(), [sized('a', '5Gi')], 'a'],
    ['is the first by name of those that are alike', claim(), [volume('b'), volume('a')], 'a'],
    ['is none where all are too small', claim(), [sized('a', '5119Mi')], undefined],
    [
      'offers every way of access that is asked for',
      claim({ accessModes: ['ReadWriteMany', 'ReadOnlyMany'] }),
      [
        volume('a', { accessModes: ['ReadWriteMany'] }),
        volume('b', { accessModes: ['ReadOnlyMany', 'ReadWriteMany'] }),
      ],
      'b',
    ],
    [
      'offers as little more as can be, before it is small',
      claim(),
      [sized('a', '6Gi', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }), sized('b', '50Gi')],
      'b',
    ],
    [
      'is simply the smallest where a node is looked for',
      claim(),
      [sized('a', '6Gi', { accessModes: ['ReadWriteOnce', 'ReadWriteMany'] }), sized('b', '50Gi')],
      'a',
      { node: node('n1') },
    ],
    [
      'is of its class',
      claim({ storageClassName: 'fast' }),
      [volume('a'), volume('b', { storageClassName: 'fast' })],
      'b',
    ],
    ['has no class where it asks for none', claim(), [volume('a', { storageClassName: 'fast' })], undefined],
    [
      'is of the class that an old annotation names',
      claim({ storageClassName: 'fast' }),
      [volume('a', {}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'fast' } })],
      'a',
    ],
    ['has a file system unless said', claim(), [volume('a', { volumeMode: 'Block' })], undefined],
    ['is a device where asked for', claim({ volumeMode: 'Block' }), [volume('a', { volumeMode: 'Block' })], 'a'],
    [
      'has the labels that are selected',
      claim({ selector: { matchLabels: { tier: 'gold' } } }),
      [volume('a'), volume('b', {}, { labels: { tier: 'gold' } })],
      'b',
    ],
    ['has the attributes that are asked for', claim({ volumeAttributesClassName: 'gold' }), [volume('a')], undefined],
    ['is not on its way out', claim(), [volume('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })], undefined],
    ['is nobody else’s', claim(), [volume('a', { claimRef: { namespace: 'default', name: 'other' } })], undefined],
    ['has not been another’s', claim(), [phase('Pending'), phase('Released'), phase('Failed')], undefined],
    ['has not been chosen for another', claim(), [volume('a'), volume('b')], 'b', { isTaken: (name) => name === 'a' }],
    ['is one that is kept for it', claim(), [sized('a', '5Gi'), sized('b', '50Gi', keptFor())], 'b'],
    [
      'is one that is kept for it, of whatever class',
      claim(),
      [volume('a', { ...keptFor(), storageClassName: 'x' })],
      'a',
    ],
    [
      'is another that offers fewer ways of access than the one kept for it',
      claim(),
      [
        volume('a', { ...keptFor(), accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }),
        volume('b', { accessModes: ['ReadWriteOnce'] }),
      ],
      'b',
    ],
    [
      'is one that is kept for it before another that offers more ways of access',
      claim(),
      [
        volume('a', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }),
        volume('b', { ...keptFor(), accessModes: ['ReadWriteOnce', 'ReadWriteOnce'] }),
      ],
      'b',
    ],
    [
      'is one kept for it, however many ways of access it offers, where a node is looked for',
      claim(),
      [
        volume('a', { accessModes: ['ReadWriteOnce'] }),
        volume('b', { ...keptFor(), accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] }),
      ],
      'b',
      { node: node('n1') },
    ],
    ['is not one kept for a claim of its name that is gone', claim(), [volume('a', keptFor('earlier'))], undefined],
    ['is not one kept for it that is too small', claim(), [sized('a', '1Gi', keptFor())], undefined],
    ['has to wait for a node where it is delayed', claim(), [volume('a')], undefined, { isDelayed: true }],
    [
      'is not one kept for it that cannot be used as it asks',
      claim({ accessModes: ['ReadWriteMany'] }),
      [volume('a', keptFor())],
      undefined,
    ],
    [
      'is another where the one kept for it cannot be used as it asks',
      claim({ accessModes: ['ReadWriteMany'] }),
      [volume('a', keptFor()), volume('b', { accessModes: ['ReadWriteMany'] })],
      'b',
    ],
    [
      'is one kept for it, however it can be used, where a node is looked for',
      claim({ accessModes: ['ReadWriteMany'] }),
      [volume('a', keptFor())],
      'a',
      { node: node('n1') },
    ],
    ['need not wait where it is kept for it', claim(), [volume('a', keptFor())], 'a', { isDelayed: true }],
    [
      'can be used from the node',
      claim(),
      [volume('a', onNode('n1')), volume('b', onNode('n2'))],
      'b',
      { node: node('n2') },
    ],
    [
      'is no other than the one kept for it, though that is elsewhere',
      claim(),
      [volume('a', { ...keptFor(), ...onNode('n1') }), volume('b')],
      undefined,
      { node: node('n2') },
    ],
  ]
  it.each(cases.map(([title, ...rest]) => [title, rest] as const))('%s', (_, [wanted, volumes, name, search]) => {
    expect(matchingVolume(wanted, volumes, search)?.metadata.name).toBe(name)
  })
})

describe('a volume that a claim names', () => {
  it.each<readonly [string, PersistentVolume, Spec<PersistentVolumeClaim>]>([
    ['the volume is marked for deletion "a"', volume('a', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), {}],
    ['requested PV is too small', sized('a', '1Gi'), {}],
    ['storageClassName does not match', volume('a'), { storageClassName: 'fast' }],
    ['volumeAttributesClassName does not match', volume('a', { volumeAttributesClassName: 'gold' }), {}],
    ['incompatible volumeMode', volume('a'), { volumeMode: 'Block' }],
    ['incompatible accessMode', volume('a'), { accessModes: ['ReadWriteMany'] }],
  ])('cannot be had: %s', (why, named, spec) => {
    expect(whyVolumeMismatches(named, claim(spec))).toBe(why)
  })

  it('can be had where it has all that is asked for', () => {
    expect(
      whyVolumeMismatches(volume('a', { accessModes: ['ReadWriteMany', 'ReadWriteOnce'] }), claim()),
    ).toBeUndefined()
  })
})

it.each([
  ['its claim by name', keptFor(), true],
  ['its claim by name and identity', keptFor('claim'), true],
  ['an earlier claim of that name', keptFor('earlier'), false],
  ['a claim of another namespace', { claimRef: { namespace: 'other', name: 'data' } }, false],
  ['nobody', {}, false],
])('a volume is kept for %s', (_, spec, isKept) => {
  expect(isClaimedBy(volume('a', spec), claim())).toBe(isKept)
})
