import type { Pod, PodSpec } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import type { Cluster } from '../cluster.ts'
import type { ClusterEvent } from '../cluster-event.ts'
import { NodeInfo } from '../node-info.ts'
import { SchedulerCache } from '../scheduler-cache.ts'
import type { VolumeBinder } from '../storage/volume-binder.ts'
import { makeCluster, makeNode, makePod } from '../testing/objects.ts'
import {
  lateClass,
  makeClaim,
  makeStorage,
  makeVolume,
  onHost,
  podUsing,
  type StorageContent,
} from '../testing/storage.ts'
import { nodeVolumeLimits } from './node-volume-limits.ts'
import type { ClusterPlugin } from './plugin.ts'
import { volumeBinding } from './volume-binding.ts'
import { volumeRestrictions } from './volume-restrictions.ts'
import { volumeZone } from './volume-zone.ts'

function nodeWith(pods: readonly Pod[], labels: Record<string, string> = {}): NodeInfo {
  const node = new NodeInfo(makeNode({ name: 'n1', labels }))
  for (const pod of pods) node.add(pod)
  return node
}

describe('VolumeZone', () => {
  const zone = 'topology.kubernetes.io/zone'
  const oldZone = 'failure-domain.beta.kubernetes.io/zone'
  it.each<readonly [string, Record<string, string>, Record<string, string>, boolean]>([
    ['the zone of its volume', { [zone]: 'a' }, { [zone]: 'a' }, true],
    ['another zone', { [zone]: 'a' }, { [zone]: 'b' }, false],
    ['one of several zones', { [zone]: 'a__b' }, { [zone]: 'b' }, true],
    ['the zone by its former name', { [oldZone]: 'a' }, { [zone]: 'a' }, true],
    [
      'the region by its former name',
      { 'failure-domain.beta.kubernetes.io/region': 'a' },
      { 'topology.kubernetes.io/region': 'a' },
      true,
    ],
    [
      'another region than that by its former name',
      { 'failure-domain.beta.kubernetes.io/region': 'a' },
      { 'topology.kubernetes.io/region': 'b' },
      false,
    ],
    ['a region of that name, and no zone', { [zone]: 'a' }, { 'topology.kubernetes.io/region': 'a' }, false],
    ['no zone at all', { [zone]: 'a' }, {}, true],
    ['any zone where the volume has none', {}, { [zone]: 'a' }, true],
    ['any zone where the volume names an empty one', { [zone]: 'a__' }, { [zone]: 'b' }, true],
    ['no former name of the zone of its volume', { [zone]: 'a' }, { [oldZone]: 'a' }, false],
    [
      'the zone where the volume names another by its former name',
      { [oldZone]: 'b', [zone]: 'a' },
      { [zone]: 'a' },
      false,
    ],
    [
      'the zone where the node has another by its former name',
      { [oldZone]: 'a' },
      { [oldZone]: 'b', [zone]: 'a' },
      false,
    ],
  ])('lets a pod come to %s', (_, ofVolume, ofNode, fits) => {
    const content = { claims: [makeClaim('data', { volumeName: 'a' })], volumes: [makeVolume('a', {}, ofVolume)] }
    const node = nodeWith([], ofNode)
    const refusal = volumeZone(makeStorage(content))
      .filter?.(podUsing(['data']), makeCluster([node]))
      ?.refuse(node)
    const conflict = { reasons: ['node(s) had no available volume zone'], isHelpedByEviction: false }
    expect(refusal).toEqual(fits ? undefined : conflict)
  })

  it('lets no pod come anywhere whose claim is bound to a volume that is not there', () => {
    const storage = makeStorage({ claims: [makeClaim('data', { volumeName: 'lost' })] })
    const filter = volumeZone(storage).filter?.(podUsing(['data']), makeCluster([nodeWith([])]))
    expect(filter?.rejection).toEqual({ reasons: ['persistentvolume "lost" not found'], isHelpedByEviction: false })
  })
})

it('VolumeZone has nothing to say of a pod without claims, nor of volumes that say nothing of where they are', () => {
  const volumes = [makeVolume('a')]
  const claims = [makeClaim('data', { volumeName: 'a' }), makeClaim('waiting')]
  const plugin = volumeZone(makeStorage({ claims, volumes }))
  const filter = (...names: readonly string[]) => plugin.filter?.(podUsing(names), makeCluster([]))
  expect([filter(), filter('data'), filter('waiting'), filter('missing')]).toEqual(Array.from({ length: 4 }))
})

it('VolumeZone asks for a place of each volume that a pod uses', () => {
  const zone = 'topology.kubernetes.io/zone'
  const claims = [makeClaim('a', { volumeName: 'a' }), makeClaim('b', { volumeName: 'b' })]
  const plugin = volumeZone(
    makeStorage({ claims, volumes: ['a', 'b'].map((name) => makeVolume(name, {}, { [zone]: name })) }),
  )
  const node = nodeWith([], { [zone]: 'a' })
  const refuses = (...names: readonly string[]) =>
    plugin.filter?.(podUsing(names), makeCluster([node]))?.refuse(node) !== undefined
  expect([refuses('a'), refuses('b'), refuses('a', 'b')]).toEqual([false, true, true])
})

describe('VolumeRestrictions', () => {
  const exclusive = { claims: [makeClaim('data', { accessModes: ['ReadWriteOncePod'] }), makeClaim('shared')] }
  const plugin = volumeRestrictions(makeStorage(exclusive))
  const conflict =
    'node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod'
  const refusalOf = (pod: Pod, node: NodeInfo, cluster: Cluster = makeCluster([node])) =>
    plugin.filter?.(pod, cluster)?.refuse(node)

  it('keeps a claim for one pod of the whole cluster', () => {
    const user = podUsing(['data'])
    const other = new NodeInfo(makeNode({ name: 'n2' }))
    const cluster = makeCluster([nodeWith([user]), other])
    expect(refusalOf(podUsing(['data']), other, cluster)?.reasons).toEqual([conflict])
    expect(refusalOf(podUsing(['shared']), other, cluster)).toBeUndefined()
  })

  it('follows pods as they come and go', () => {
    const cache = new SchedulerCache()
    cache.setNode(makeNode({ name: 'n1' }))
    const conflictNow = () => {
      const node = cache.node('n1')
      return node !== undefined && refusalOf(podUsing(['data']), node, cache) !== undefined
    }
    const user = podUsing(['data'])
    expect(conflictNow()).toBe(false)
    cache.place(user, 'n1')
    expect(conflictNow()).toBe(true)
    cache.place(makePod(), 'n1')
    expect(conflictNow()).toBe(true)
    cache.remove(user.metadata.uid ?? '')
    expect(conflictNow()).toBe(false)
  })

  it('finds room where the one who uses it leaves', () => {
    const user = podUsing(['data'])
    const node = nodeWith([user])
    const filter = plugin.filter?.(podUsing(['data']), makeCluster([node]))
    expect(filter?.refuse(node)).toMatchObject({ isHelpedByEviction: true })
    filter?.remove(podUsing(['shared']), node)
    expect(filter?.refuse(node)).toBeDefined()
    filter?.remove(user, node)
    expect(filter?.refuse(node)).toBeUndefined()
    filter?.add(user, node)
    expect(filter?.refuse(node)).toBeDefined()
  })

  it.each<readonly [string, ClusterEvent, boolean]>([
    ['the pod that used it has left', { type: 'pod-removed', pod: podUsing(['data']), nodeName: 'n1' }, true],
    ['a pod that used another has left', { type: 'pod-removed', pod: podUsing(['shared']), nodeName: 'n1' }, false],
    ['the claim has changed', { type: 'claim-changed', claim: makeClaim('data') }, true],
    ['another claim has changed', { type: 'claim-changed', claim: makeClaim('shared') }, false],
  ])('wakes a pod when %s: %s', (_, event, helps) => {
    expect(plugin.isHelpedBy?.(podUsing(['data']), event, makeCluster([]))).toBe(helps)
  })

  type Volume = NonNullable<PodSpec['volumes']>[number]
  const gce = (readOnly?: boolean): Volume => ({ name: 'v', gcePersistentDisk: { pdName: 'd', readOnly } })
  const aws: Volume = { name: 'v', awsElasticBlockStore: { volumeID: 'd', readOnly: true } }
  const iscsi = (readOnly?: boolean): Volume => ({
    name: 'v',
    iscsi: { targetPortal: 't', iqn: 'q', lun: 0, readOnly },
  })
  const rbd = (monitors: readonly string[]): Volume => ({ name: 'v', rbd: { monitors, image: 'i', pool: 'p' } })
  it.each<readonly [string, Volume, Volume, boolean]>([
    ['a disk that both write', gce(), gce(), false],
    ['a disk that one writes', gce(true), gce(), false],
    ['a disk that both read', gce(true), gce(true), true],
    ['a disk of AWS, though both read it', aws, aws, false],
    ['an iSCSI disk that both write', iscsi(), iscsi(), false],
    ['an iSCSI disk that both read', iscsi(true), iscsi(true), true],
    ['an image of a common monitor', rbd(['a', 'b']), rbd(['b', 'c']), false],
    ['images of different monitors', rbd(['a']), rbd(['c']), true],
    ['different disks', gce(), aws, true],
  ])('lets two pods of one node have %s: %s', (_, a, b, fits) => {
    const node = nodeWith([makePod({ volumes: [a] })])
    const conflicting = { reasons: ['node(s) had no available disk'], isHelpedByEviction: true }
    expect(refusalOf(makePod({ volumes: [b] }), node)).toEqual(fits ? undefined : conflicting)
  })

  it('has nothing to say of a pod that has neither, nor of claims that are not there or say nothing', () => {
    const cluster = makeCluster([])
    const { spec: _, ...bare } = makeClaim('bare')
    const pods = [podUsing(['bare']), podUsing(['missing'])]
    const silent = volumeRestrictions(makeStorage({ claims: [bare] }))
    expect(pods.map((pod) => silent.filter?.(pod, cluster))).toEqual([undefined, undefined])
    expect([makePod(), podUsing(['shared'])].map((pod) => plugin.filter?.(pod, cluster))).toEqual([
      undefined,
      undefined,
    ])
  })

  it('takes pods for different that have other disks, other claims for themselves, or another namespace', () => {
    const pods = [podUsing(['shared']), podUsing(['data']), makePod({ volumes: [gce()] }), makePod({ volumes: [aws] })]
    const signatures = pods.map((pod) => JSON.stringify(plugin.signature(pod)))
    expect(new Set(signatures).size).toBe(pods.length)
    expect(JSON.stringify(plugin.signature(makePod()))).toBe(signatures[0])
    const elsewhere = { ...makePod(), metadata: { namespace: 'elsewhere' } }
    expect(JSON.stringify(plugin.signature(elsewhere))).not.toBe(signatures[0])
  })

  it('wakes nobody for pods without claims, or for other news', () => {
    const news: readonly ClusterEvent[] = [
      { type: 'pod-removed', pod: makePod(), nodeName: 'n1' },
      { type: 'pod-placed', pod: podUsing(['data']), nodeName: 'n1' },
      { type: 'storage-capacity-changed' },
    ]
    for (const event of news) {
      expect(plugin.isHelpedBy?.(podUsing(['data']), event, makeCluster([]))).toBe(false)
    }
    const gone = { type: 'pod-removed', pod: podUsing(['shared', 'data']), nodeName: 'n1' } as const
    expect(plugin.isHelpedBy?.(podUsing(['shared']), gone, makeCluster([]))).toBe(false)
    expect(plugin.isHelpedBy?.(podUsing(['data']), gone, makeCluster([]))).toBe(true)
  })
})

it.each([
  volumeBinding(makeStorage({}), {} as VolumeBinder),
  nodeVolumeLimits(makeStorage({})),
  volumeZone(makeStorage({})),
])('$name takes pods of other namespaces or claims for different', ({ signature }) => {
  const [pod, same, claims] = [podUsing(['a']), podUsing(['a']), podUsing(['a', 'b'])]
  const elsewhere = { ...pod, metadata: { ...pod.metadata, namespace: 'elsewhere' } }
  expect(signature(same)).toEqual(signature(pod))
  for (const other of [claims, elsewhere]) expect(signature(other)).not.toEqual(signature(pod))
})

describe('NodeVolumeLimits', () => {
  const csi = (volumeHandle: string) => ({ csi: { driver: 'example.com/disks', volumeHandle } })
  const content = (count: number | undefined): StorageContent => ({
    claims: [
      makeClaim('a', { volumeName: 'a' }),
      makeClaim('b', { volumeName: 'b' }),
      makeClaim('late', { storageClassName: 'late' }),
      makeClaim('lost', { storageClassName: 'late', volumeName: 'lost' }),
      makeClaim('unknown', { storageClassName: 'unknown' }),
      makeClaim('classless', { volumeName: 'lost' }),
      makeClaim('path', { volumeName: 'path' }),
    ],
    volumes: [makeVolume('a', csi('1')), makeVolume('b', csi('2')), makeVolume('path')],
    classes: [lateClass('late')],
    csiNodes: [
      {
        apiVersion: 'storage.k8s.io/v1',
        kind: 'CSINode',
        metadata: { name: 'n1' },
        spec: {
          drivers: [{ name: 'example.com/disks', nodeID: 'n1', allocatable: count === undefined ? {} : { count } }],
        },
      },
    ],
  })
  it.each<readonly [string, number | undefined, readonly string[], readonly string[], boolean]>([
    ['as many volumes as it takes', 2, ['a'], ['b'], true],
    ['more volumes than it takes', 1, ['a'], ['b'], false],
    ['volumes that are there already', 1, ['a'], ['a'], true],
    ['a volume that has yet to be made', 1, ['a'], ['late'], false],
    ['a volume that has yet to be made once', 2, ['a', 'late'], ['late'], true],
    ['a volume that is not there', 1, ['a'], ['lost'], false],
    ['a volume beside one that is not there', 1, ['lost'], ['a'], false],
    ['a volume that is not there and of no class', 1, ['a'], ['classless'], true],
    ['a volume of a class that is not there', 1, ['a'], ['unknown'], true],
    ['volumes of no driver', 1, ['a'], ['path'], true],
    ['any number where it does not say', undefined, ['a'], ['b', 'late'], true],
  ])('lets a node have %s', (_, count, present, wanted, fits) => {
    const node = nodeWith([podUsing(present)])
    const filter = nodeVolumeLimits(makeStorage(content(count))).filter?.(podUsing(wanted), makeCluster([node]))
    const tooMany = { reasons: ['node(s) exceed max volume count'], isHelpedByEviction: true }
    expect(filter?.refuse(node)).toEqual(fits ? undefined : tooMany)
  })

  /** What is attached to a node, by the names of the volumes. */
  const attached = (...names: readonly string[]): NonNullable<StorageContent['attachments']> =>
    names.map((persistentVolumeName) => ({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'VolumeAttachment',
      metadata: { name: `csi-${persistentVolumeName}` },
      spec: { attacher: 'example.com/disks', nodeName: 'n1', source: { persistentVolumeName } },
    }))
  it.each<readonly [string, number, readonly string[], readonly string[], readonly string[], boolean]>([
    ['of pods that are gone', 1, [], ['b'], ['a'], false],
    ['of pods that are gone, where there is room', 2, [], ['b'], ['a'], true],
    ['of pods that are there, once', 2, ['b'], ['b'], ['a'], true],
    ['that it wants itself', 1, [], ['a'], ['a'], true],
    ['that are not there', 1, [], ['lost', 'path'], ['a'], true],
  ])('counts volumes that are still attached: %s', (_, count, present, attachments, wanted, fits) => {
    const node = nodeWith([podUsing(present)])
    const storage = makeStorage({ ...content(count), attachments: attached(...attachments) })
    const filter = nodeVolumeLimits(storage).filter?.(podUsing(wanted), makeCluster([node]))
    expect(filter?.refuse(node) === undefined).toBe(fits)
  })

  it('takes what is attached for a pod to go with it, where it is asked what would be without the pod', () => {
    const other = podUsing(['b'])
    const storage = makeStorage({ ...content(1), attachments: attached('b') })
    const node = nodeWith([other])
    const filter = nodeVolumeLimits(storage).filter?.(podUsing(['a']), makeCluster([node]))
    expect(filter?.refuse(node)).toBeDefined()
    node.remove(other)
    expect(filter?.refuse(node)).toBeDefined()
    filter?.remove(other, node)
    expect(filter?.refuse(node)).toBeUndefined()
    filter?.add(other, node)
    expect(filter?.refuse(node)).toBeDefined()
  })
})

describe('VolumeBinding', () => {
  const storage = makeStorage({
    claims: [
      makeClaim('bound', { volumeName: 'a' }),
      makeClaim('lost', { volumeName: 'lost' }),
      makeClaim('immediate', { storageClassName: 'early' }),
      makeClaim('late', { storageClassName: 'late' }),
    ],
    volumes: [makeVolume('a', onHost('other'))],
    classes: [
      lateClass('late', { provisioner: 'kubernetes.io/no-provisioner' }),
      lateClass('early', { volumeBindingMode: 'Immediate' }),
    ],
  })
  const node = nodeWith([], { 'kubernetes.io/hostname': 'n1' })
  const filterOf = (...claims: readonly string[]) =>
    volumeBinding(storage, {} as VolumeBinder).filter?.(podUsing(claims), makeCluster([node]))

  it.each([
    ['missing', 'persistentvolumeclaim "missing" not found'],
    ['immediate', 'pod has unbound immediate PersistentVolumeClaims'],
  ])('keeps a pod whose claim is %s from all nodes', (claim, reason) => {
    const filter = filterOf(claim)
    expect(filter?.rejection).toEqual({ reasons: [reason], isHelpedByEviction: false })
    expect(filter?.refuse(node)).toBeUndefined()
  })

  it.each([
    ['bound to a volume elsewhere', 'bound', "node(s) didn't match PersistentVolume's node affinity"],
    [
      'bound to a volume that is not there',
      'lost',
      'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    ],
    ['in want of a volume', 'late', "node(s) didn't find available persistent volumes to bind"],
  ])('keeps a pod whose claim is %s from a node, whoever leaves it', (_, claim, reason) => {
    const filter = filterOf(claim)
    const refusal = { reasons: [reason], isHelpedByEviction: false }
    expect([filter?.rejection, filter?.refuse(node)]).toEqual([undefined, refusal])
    filter?.remove(podUsing([claim]), node)
    expect(filter?.refuse(node)).toEqual(refusal)
    filter?.add(podUsing([claim]), node)
    expect(filter?.refuse(node)).toEqual(refusal)
  })

  it('takes any node for a pod without claims, and one where its volume is', () => {
    expect(filterOf()).toBeUndefined()
    expect(filterOf('bound')?.refuse(nodeWith([], { 'kubernetes.io/hostname': 'other' }))).toBeUndefined()
  })
})

describe('a pod that was refused for its volumes', () => {
  const { spec: _, ...bare } = makeClaim('bare')
  const storage = makeStorage({
    claims: [makeClaim('waiting', { storageClassName: 'late' }), makeClaim('bound', { volumeName: 'a' }), bare],
    volumes: [makeVolume('a'), makeVolume('b')],
  })
  const plugins: readonly ClusterPlugin[] = [
    volumeBinding(storage, {} as VolumeBinder),
    nodeVolumeLimits(storage),
    volumeZone(storage),
  ]
  const claim = (name: string, namespace = 'default') =>
    ({ type: 'claim-changed', claim: makeClaim(name, {}, { namespace }) }) as const
  const volume = (name: string) => ({ type: 'volume-changed', volume: makeVolume(name) }) as const
  const storageClass = (name: string) => ({ type: 'storage-class-changed', storageClass: lateClass(name) }) as const
  const csiNode = { type: 'csi-node-changed', nodeName: 'n1' } as const
  const capacity = { type: 'storage-capacity-changed' } as const
  const all = 'VolumeBinding NodeVolumeLimits VolumeZone'

  it.each<readonly [claim: string, ClusterEvent, helps: string]>([
    ['waiting', claim('waiting'), all],
    ['waiting', claim('bound'), ''],
    ['waiting', claim('waiting', 'elsewhere'), ''],
    ['waiting', volume('b'), all],
    ['waiting', storageClass('late'), 'VolumeBinding'],
    ['waiting', storageClass('early'), ''],
    ['waiting', csiNode, 'VolumeBinding'],
    ['waiting', capacity, 'VolumeBinding'],
    ['waiting', { type: 'namespace-changed', namespace: 'default' }, ''],
    ['bound', claim('bound'), all],
    ['bound', volume('a'), all],
    ['bound', volume('b'), 'NodeVolumeLimits VolumeZone'],
    ['bound', csiNode, ''],
    ['bound', capacity, ''],
    ['missing', claim('missing'), all],
    ['missing', volume('a'), 'NodeVolumeLimits VolumeZone'],
    ['missing', storageClass('late'), ''],
    ['missing', capacity, ''],
    ['waiting bound', volume('a'), all],
    ['waiting bound', volume('b'), all],
    ['bound waiting', storageClass('late'), 'VolumeBinding'],
    ['waiting bound', csiNode, 'VolumeBinding'],
    ['bare', volume('b'), all],
    ['bare', capacity, 'VolumeBinding'],
  ])('and whose claim is %s may be helped by %o in the eyes of: %s', (name, event, helps) => {
    const [pod, cluster] = [podUsing(name.split(' ')), makeCluster([])]
    const helping = plugins.filter((plugin) => plugin.isHelpedBy?.(pod, event, cluster) === true)
    expect(helping.map((plugin) => plugin.name).join(' ')).toBe(helps)
  })
})
