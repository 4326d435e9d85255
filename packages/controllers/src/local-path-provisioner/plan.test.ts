import { type PersistentVolume, type PersistentVolumeClaim, volumeAnnotations } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { secondsAgo } from '../testing/objects.ts'
import { claim, claimedBy, inPhase, storageClass, volume } from '../testing/volumes.ts'
import { planDeletion, planProvision } from './plan.ts'
import { localPathClass, localPathProvisioner, provisionerFinalizer } from './provisioner.ts'

const isOwn = (node: string) => node === 'n1'
const asked = { [volumeAnnotations.provisioner]: localPathProvisioner }
const on = (node: string) => ({ ...asked, [volumeAnnotations.selectedNode]: node })

describe('a claim', () => {
  it('gets a directory on the node that was chosen for it', () => {
    const plan = planProvision(claim({ storageClassName: 'local-path' }, on('n1')), localPathClass, isOwn)
    expect(plan).toMatchObject({ type: 'provision', nodeName: 'n1' })
    if (plan.type !== 'provision') return
    expect(plan.volume('/data/pvc-data')).toEqual({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: {
        name: 'pvc-data',
        annotations: { [volumeAnnotations.provisionedBy]: localPathProvisioner },
        finalizers: [provisionerFinalizer],
      },
      spec: {
        capacity: { storage: '5Gi' },
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        storageClassName: 'local-path',
        persistentVolumeReclaimPolicy: 'Delete',
        mountOptions: undefined,
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: 'default',
          name: 'data',
          uid: 'data',
          resourceVersion: '1',
        },
        local: { path: '/data/pvc-data' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] },
            ],
          },
        },
      },
    })
  })

  const ofOther = storageClass('local-path')
  it.each<readonly [string, PersistentVolumeClaim, typeof localPathClass | undefined]>([
    ['nobody has asked for it yet', claim({}, { [volumeAnnotations.selectedNode]: 'n1' }), localPathClass],
    ['another makes its volume', claim({}, { ...on('n1'), [volumeAnnotations.provisioner]: 'other' }), localPathClass],
    ['its class is another’s by now', claim({}, on('n1')), ofOther],
    ['its class is gone', claim({}, on('n1')), undefined],
    ['its node is another process’s', claim({}, on('n2')), localPathClass],
    ['it has a volume', claim({ volumeName: 'a' }, on('n1')), localPathClass],
    [
      'it is on its way out',
      { ...claim(), metadata: { ...claim({}, on('n1')).metadata, deletionTimestamp: secondsAgo(0) } },
      localPathClass,
    ],
  ])('gets nothing where %s', (_, of, ofClass) => {
    expect(planProvision(of, ofClass, isOwn)).toEqual({ type: 'nothing' })
  })

  it.each<readonly [PersistentVolumeClaim, RegExp]>([
    [claim({}, asked), /^failed to provision volume with StorageClass "local-path": no node was chosen for it/],
    [
      claim({ accessModes: ['ReadWriteMany'] }, on('n1')),
      /only supports the access modes ReadWriteOnce and ReadWriteOncePod$/,
    ],
    [claim({ volumeMode: 'Block' }, on('n1')), /block volumes are not supported/],
    [claim({ selector: {} }, on('n1')), /claim.spec.selector is not supported/],
    [claim({ dataSource: { kind: 'PersistentVolumeClaim', name: 'b' } }, on('n1')), /data sources are not supported/],
  ])('is told why it cannot be had %#', (of, message) => {
    expect(planProvision(of, localPathClass, isOwn)).toMatchObject({
      type: 'refuse',
      message: expect.stringMatching(message),
    })
  })
})

describe('a volume', () => {
  const going = secondsAgo(0)
  function local(
    phase: 'Available' | 'Bound' | 'Released',
    metadata: object = {},
    spec: object = {},
  ): PersistentVolume {
    const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }] }]
    const of = volume(
      'a',
      {
        ...claimedBy('data'),
        persistentVolumeReclaimPolicy: 'Delete',
        local: { path: '/data/a' },
        nodeAffinity: { required: { nodeSelectorTerms: terms } },
        ...spec,
      },
      {
        annotations: { [volumeAnnotations.provisionedBy]: localPathProvisioner },
        finalizers: ['kubernetes.io/pv-protection', provisionerFinalizer],
        ...metadata,
      },
    )
    return inPhase(phase, of)
  }
  const removes = { nodeName: 'n1', volumeName: 'a', path: '/data/a' }

  it('is deleted when its claim has let it go, its directory first', () => {
    const plan = planDeletion(local('Released'), isOwn)
    expect(plan.removes).toEqual(removes)
    expect(plan.actions).toMatchObject([{ type: 'delete', key: { name: 'a' }, uid: 'a' }])
  })

  it.each(['Released', 'Available'] as const)(
    'is let go when it is being deleted and %s, once its directory is gone',
    (phase) => {
      const plan = planDeletion(local(phase, { deletionTimestamp: going }), isOwn)
      expect(plan.removes).toEqual(removes)
      const body = { metadata: { finalizers: ['kubernetes.io/pv-protection'] } }
      expect(plan.actions).toMatchObject([{ type: 'patch', patch: { body } }])
    },
  )

  it('keeps its directory where its policy is Retain, and only the object goes', () => {
    const plan = planDeletion(
      local('Released', { deletionTimestamp: going }, { persistentVolumeReclaimPolicy: 'Retain' }),
      isOwn,
    )
    expect(plan.removes).toBeUndefined()
    expect(plan.actions).toMatchObject([
      { type: 'patch', patch: { body: { metadata: { finalizers: ['kubernetes.io/pv-protection'] } } } },
    ])
  })

  it.each<readonly [string, PersistentVolume]>([
    ['a claim has it', local('Bound')],
    ['a claim has it, although it is being deleted', local('Bound', { deletionTimestamp: going })],
    ['it is free', local('Available')],
    ['another made it', local('Released', { annotations: { [volumeAnnotations.provisionedBy]: 'other' } })],
    ['nobody made it', local('Released', { annotations: {} })],
    ['it says of no node that it is there', local('Released', {}, { nodeAffinity: undefined })],
    ['others hold it', local('Released', { deletionTimestamp: going, finalizers: ['kubernetes.io/pv-protection'] })],
  ])('is left alone where %s', (_, of) => {
    expect(planDeletion(of, isOwn)).toEqual({ actions: [] })
  })

  it('is left to the process whose node it is on', () => {
    expect(planDeletion(local('Released'), () => false)).toEqual({ actions: [] })
  })
})
