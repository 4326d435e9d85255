import { type CsiStorageCapacity, type Pod, volumeAnnotations } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { makeNode, makePod } from '../testing/objects.ts'
import {
  lateClass,
  makeClaim,
  makeStorage,
  makeVolume,
  onHost,
  podUsing,
  type StorageContent,
} from '../testing/storage.ts'
import { podClaims, podVolumesOn } from './pod-volumes.ts'

const late = lateClass('late')
const waiting = makeClaim('data', { storageClassName: 'late' })
const selected = (node: string) =>
  makeClaim('data', { storageClassName: 'late' }, { annotations: { [volumeAnnotations.selectedNode]: node } })
const node = makeNode({ name: 'n1', labels: { 'kubernetes.io/hostname': 'n1', zone: 'a' } })

/** What is done on the node, or the reasons why it cannot be. */
function onNode(content: StorageContent, pod: Pod = podUsing(['data'])): unknown {
  const storage = makeStorage(content)
  const claims = podClaims(pod, storage)
  if (typeof claims !== 'object') return claims
  const volumes = podVolumesOn(node, claims, storage)
  if ('reasons' in volumes) return volumes.reasons.join(', ')
  return [
    ...volumes.bindings.map(({ volume, claim }) => `${claim.metadata.name} gets ${volume.metadata.name}`),
    ...volumes.provisions.map(({ metadata }) => `${metadata.name} is provisioned`),
  ]
}

describe('the claims of a pod', () => {
  const ephemeral = makePod({ volumes: [{ name: 'tmp', ephemeral: {} }] }, 'web')
  it.each<readonly [string, StorageContent, Pod, unknown]>([
    ['are none', {}, makePod(), undefined],
    ['are none where its volumes are others', {}, makePod({ volumes: [{ name: 'tmp', emptyDir: {} }] }), undefined],
    ['are not there', {}, podUsing(['data']), 'persistentvolumeclaim "data" not found'],
    [
      'have yet to be made',
      {},
      ephemeral,
      'waiting for ephemeral volume controller to create the persistentvolumeclaim "web-tmp"',
    ],
    [
      'are another’s',
      { claims: [makeClaim('web-tmp')] },
      ephemeral,
      'PVC default/web-tmp was not created for pod default/web (pod is not owner)',
    ],
    [
      'are on their way out',
      { claims: [makeClaim('data', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' })] },
      podUsing(['data']),
      'persistentvolumeclaim "data" is being deleted',
    ],
    [
      'have lost their volume',
      { claims: [{ ...makeClaim('data', { volumeName: 'a' }), status: { phase: 'Lost' } }] },
      podUsing(['data']),
      'persistentvolumeclaim "data" bound to non-existent persistentvolume "a"',
    ],
    [
      'do not wait for it',
      { claims: [makeClaim('data')] },
      podUsing(['data']),
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'name their volume, and do not wait for it',
      {
        classes: [late],
        claims: [makeClaim('data', { storageClassName: 'late', volumeName: 'a' }, { annotations: {} })],
      },
      podUsing(['data']),
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'wait in part',
      { classes: [late], claims: [waiting, makeClaim('other')] },
      podUsing(['data', 'other']),
      'pod has unbound immediate PersistentVolumeClaims',
    ],
  ])('%s', (_, content, pod, result) => {
    expect(onNode(content, pod)).toEqual(result)
  })
})

describe('on a node', () => {
  const bound = makeClaim('data', { volumeName: 'a' })
  const noMatch = "node(s) didn't find available persistent volumes to bind"
  const room = (capacity: string, more: Partial<CsiStorageCapacity> = {}): CsiStorageCapacity => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    metadata: { namespace: 'default', name: 'c' },
    storageClassName: 'late',
    nodeTopology: { matchLabels: { zone: 'a' } },
    capacity,
    ...more,
  })
  const without = (capacity: CsiStorageCapacity, part: 'capacity' | 'nodeTopology'): CsiStorageCapacity => {
    const { [part]: _, ...rest } = capacity
    return rest
  }
  const measured = { classes: [late], claims: [waiting], measuring: ['example.com/disks'] }
  const allowing = (zone: string) => {
    const matchLabelExpressions = [{ key: 'zone', values: [zone] }]
    return { classes: [lateClass('late', { allowedTopologies: [{ matchLabelExpressions }] })], claims: [waiting] }
  }
  it.each<readonly [string, StorageContent, unknown]>([
    ['nothing is done for bound claims', { claims: [bound], volumes: [makeVolume('a', onHost('n1'))] }, []],
    [
      'a volume is elsewhere',
      { claims: [bound], volumes: [makeVolume('a', onHost('n2'))] },
      "node(s) didn't match PersistentVolume's node affinity",
    ],
    [
      'a volume is nowhere',
      { claims: [bound] },
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    ],
    [
      'a claim gets a volume that is there',
      { classes: [late], claims: [waiting], volumes: [makeVolume('b', onHost('n2')), makeVolume('a', onHost('n1'))] },
      ['data gets a'],
    ],
    [
      'a claim gets one made',
      { classes: [late], claims: [waiting], volumes: [makeVolume('b', onHost('n2'))] },
      ['data is provisioned'],
    ],
    [
      'a claim gets one that is kept for it',
      {
        classes: [late],
        claims: [waiting],
        volumes: [makeVolume('a'), makeVolume('b', { claimRef: { namespace: 'default', name: 'data' } })],
      },
      ['data gets b'],
    ],
    [
      'nobody makes volumes',
      { classes: [lateClass('late', { provisioner: 'kubernetes.io/no-provisioner' })], claims: [waiting] },
      noMatch,
    ],
    [
      'a volume is being made for it already',
      { classes: [late], claims: [selected('n1')], volumes: [makeVolume('a')] },
      ['data is provisioned'],
    ],
    [
      'a volume is being made for another',
      { classes: [late], claims: [selected('n2')], volumes: [makeVolume('a')] },
      noMatch,
    ],
    ['the class allows it', allowing('a'), ['data is provisioned']],
    ['the class allows others only', allowing('b'), noMatch],
    ['its driver has room', { ...measured, capacities: [room('5Gi')] }, ['data is provisioned']],
    [
      'its driver has less room',
      { ...measured, capacities: [room('4Gi')] },
      'node(s) did not have enough free storage',
    ],
    [
      'its driver makes no volume so large',
      { ...measured, capacities: [room('50Gi', { maximumVolumeSize: '1Gi' })] },
      'node(s) did not have enough free storage',
    ],
    [
      'its driver has room there, and less elsewhere',
      {
        ...measured,
        capacities: [room('1Gi', { nodeTopology: { matchLabels: { zone: 'b' } } }), room('5Gi'), room('4Gi')],
      },
      ['data is provisioned'],
    ],
    [
      'its driver does not say where it has room',
      { ...measured, capacities: [without(room('5Gi'), 'nodeTopology')] },
      'node(s) did not have enough free storage',
    ],
    [
      'its driver does not say how much room it has',
      { ...measured, capacities: [without(room('5Gi'), 'capacity')] },
      'node(s) did not have enough free storage',
    ],
    [
      'its driver has room elsewhere',
      { ...measured, capacities: [room('5Gi', { nodeTopology: { matchLabels: { zone: 'b' } } })] },
      'node(s) did not have enough free storage',
    ],
  ])('%s', (_, content, result) => {
    expect(onNode(content)).toEqual(result)
  })

  it('a volume is elsewhere, and another nowhere: both are told', () => {
    const content = {
      classes: [lateClass('late', { provisioner: 'kubernetes.io/no-provisioner' })],
      claims: [makeClaim('bound', { volumeName: 'b' }), waiting],
      volumes: [makeVolume('b', onHost('n2'))],
    }
    expect(onNode(content, podUsing(['bound', 'data']))).toBe(
      `node(s) didn't match PersistentVolume's node affinity, ${noMatch}`,
    )
  })

  it('two claims get two volumes, the smaller one first', () => {
    const large = makeClaim('large', { storageClassName: 'late', resources: { requests: { storage: '8Gi' } } })
    const volumes = [makeVolume('a', { capacity: { storage: '8Gi' } }), makeVolume('b')]
    const content = { classes: [late], claims: [large, waiting], volumes }
    expect(onNode(content, podUsing(['large', 'data']))).toEqual(['data gets a', 'large gets b'])
  })
})
