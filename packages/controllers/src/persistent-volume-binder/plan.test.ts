import { type PersistentVolumeClaim, volumeAnnotations } from '@coracle/api'
import type { Action } from '@coracle/controller-runtime'
import { describe, expect, it } from 'vitest'
import { secondsAgo } from '../testing/objects.ts'
import { claim, claimedBy, inPhase, storageClass, volume } from '../testing/volumes.ts'
import { type ObservedClaim, planClaim, takenVolume } from './plan.ts'

const now = secondsAgo(0)
const completed = { [volumeAnnotations.bindCompleted]: 'yes' }

function observe(of: PersistentVolumeClaim, more: Partial<ObservedClaim> = {}): ObservedClaim {
  return {
    claim: of,
    named: undefined,
    candidates: [],
    isTaken: () => false,
    storageClass: undefined,
    defaultClass: undefined,
    unscheduledPods: [],
    ...more,
  }
}

const plan = (of: PersistentVolumeClaim, more?: Partial<ObservedClaim>) => planClaim(observe(of, more), now)

/** What an action changes, or tells. */
function told(action: Action): unknown {
  if (action.type === 'event') return `${action.eventType} ${action.reason}: ${action.message}`
  if (action.type !== 'patch' || action.patch.type !== 'merge') return action
  const { metadata, ...changes } = action.patch.body as { readonly metadata: { readonly annotations?: unknown } }
  const target = [action.resource.plural, action.key.name, action.subresource ?? []].flat().join(' ')
  const { annotations } = metadata
  return [target, annotations === undefined ? changes : { annotations, ...changes }]
}

const actionsOf = (of: PersistentVolumeClaim, more?: Partial<ObservedClaim>) => plan(of, more).actions.map(told)

const reference = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  namespace: 'default',
  name: 'data',
  uid: 'data',
  resourceVersion: '1',
}
const byController = { [volumeAnnotations.boundByController]: 'yes' }
const phaseBound = ['persistentvolumes a status', { status: { phase: 'Bound', lastPhaseTransitionTime: now } }]

describe('a claim that takes any volume', () => {
  it('is bound to one that fits: the volume first, then the claim, each saying that a controller chose', () => {
    const { actions, status } = plan(claim(), { candidates: [volume('a')] })
    expect(actions.map(told)).toEqual([
      ['persistentvolumes a', { annotations: byController, spec: { claimRef: reference } }],
      ['persistentvolumeclaims data', { annotations: { ...byController, ...completed }, spec: { volumeName: 'a' } }],
      phaseBound,
    ])
    expect(status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '10Gi' } })
  })

  it('rests its writes on the states that it saw', () => {
    const [ofVolume, ofClaim] = plan(claim(), { candidates: [volume('a')] }).actions
    expect(ofVolume).toMatchObject({ patch: { body: { metadata: { uid: 'a', resourceVersion: '1' } } } })
    expect(ofClaim).toMatchObject({ patch: { body: { metadata: { uid: 'data', resourceVersion: '1' } } } })
  })

  it('gets one that was kept for it by hand, which goes on saying so', () => {
    expect(actionsOf(claim(), { candidates: [volume('a', claimedBy())] })).toEqual([
      ['persistentvolumes a', { annotations: {}, spec: { claimRef: reference } }],
      ['persistentvolumeclaims data', { annotations: { ...byController, ...completed }, spec: { volumeName: 'a' } }],
      phaseBound,
    ])
  })

  it('gets on with a binding that was interrupted', () => {
    expect(actionsOf(claim(), { candidates: [inPhase('Bound', volume('a', claimedBy('data')))] })).toEqual([
      ['persistentvolumeclaims data', { annotations: { ...byController, ...completed }, spec: { volumeName: 'a' } }],
    ])
  })

  it('leaves a volume that was chosen for another a moment ago', () => {
    const candidates = [volume('a'), volume('b')]
    expect(takenVolume(plan(claim(), { candidates, isTaken: (name) => name === 'a' }))).toBe('b')
  })

  const fast = storageClass('fast')
  const late = storageClass('fast', { volumeBindingMode: 'WaitForFirstConsumer' })
  const ofFast = claim({ storageClassName: 'fast' })
  const selected = claim({ storageClassName: 'fast' }, { [volumeAnnotations.selectedNode]: 'n1' })
  const consumer = 'Normal WaitForFirstConsumer: waiting for first consumer to be created before binding'
  const provisionerOf = (driver: string) => ({
    [volumeAnnotations.provisioner]: driver,
    [volumeAnnotations.betaProvisioner]: driver,
  })
  const provisioner = provisionerOf('example.com/disks')
  const external =
    "Normal ExternalProvisioning: Waiting for a volume to be created either by the external provisioner 'example.com/disks' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered."
  const request = ['persistentvolumeclaims data', { annotations: provisioner }]

  it.each<readonly [string, PersistentVolumeClaim, Partial<ObservedClaim>, readonly unknown[]]>([
    [
      'says that there is none, where it has no class',
      claim(),
      {},
      ['Normal FailedBinding: no persistent volumes available for this claim and no storage class is set'],
    ],
    [
      'gets the default class, once there is one',
      claim(),
      { defaultClass: fast },
      [['persistentvolumeclaims data', { spec: { storageClassName: 'fast' } }]],
    ],
    [
      'gets none where it asks for none',
      claim({ storageClassName: '' }),
      { defaultClass: fast },
      ['Normal FailedBinding: no persistent volumes available for this claim and no storage class is set'],
    ],
    ['has the provisioner of its class make one', ofFast, { storageClass: fast }, [request, external]],
    [
      'asks the provisioner once',
      { ...ofFast, metadata: { ...ofFast.metadata, annotations: provisioner } },
      { storageClass: fast },
      [external],
    ],
    ['waits for a pod', ofFast, { storageClass: late }, [consumer]],
    [
      'waits for a pod although a volume would fit',
      ofFast,
      { storageClass: late, candidates: [volume('a', { storageClassName: 'fast' })] },
      [consumer],
    ],
    [
      'waits for the pod that uses it to get a node',
      ofFast,
      { storageClass: late, unscheduledPods: ['web'] },
      ['Normal WaitForPodScheduled: waiting for pod web to be scheduled'],
    ],
    [
      'waits for any of the pods that use it to get a node',
      ofFast,
      { storageClass: late, unscheduledPods: ['web', 'job'] },
      ['Normal WaitForPodScheduled: waiting for pods web,job to be scheduled'],
    ],
    ['is provisioned once the scheduler has chosen a node', selected, { storageClass: late }, [request, external]],
    [
      'says that its class is not there',
      ofFast,
      {},
      ['Warning ProvisioningFailed: storageclass.storage.k8s.io "fast" not found'],
    ],
    [
      'asks the driver that has taken over from a provisioner that was built in',
      ofFast,
      { storageClass: storageClass('fast', { provisioner: 'kubernetes.io/aws-ebs' }) },
      [
        ['persistentvolumeclaims data', { annotations: provisionerOf('ebs.csi.aws.com') }],
        external.replace('example.com/disks', 'ebs.csi.aws.com'),
      ],
    ],
    [
      'says that its class has no provisioner',
      ofFast,
      { storageClass: storageClass('fast', { provisioner: 'kubernetes.io/no-provisioner' }) },
      ['Warning ProvisioningFailed: no volume plugin matched name: kubernetes.io/no-provisioner'],
    ],
  ])('%s', (_, of, more, actions) => {
    expect(actionsOf(of, more)).toEqual(actions)
  })

  it('is Pending meanwhile, and has nothing', () => {
    const before: PersistentVolumeClaim = {
      ...claim(),
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    }
    expect(plan(before).status).toEqual({ phase: 'Pending' })
  })
})

describe('a claim that names its volume', () => {
  const naming = claim({ volumeName: 'a' })

  it('waits until that is there', () => {
    expect(plan(naming)).toEqual({ actions: [], status: { phase: 'Pending' } })
  })

  it('gets it, and goes on saying who named whom', () => {
    expect(actionsOf(naming, { named: volume('a') })).toEqual([
      ['persistentvolumes a', { annotations: byController, spec: { claimRef: reference } }],
      ['persistentvolumeclaims data', { annotations: completed, spec: { volumeName: 'a' } }],
      phaseBound,
    ])
  })

  it('gets it where both name each other', () => {
    expect(actionsOf(naming, { named: volume('a', claimedBy()) })).toEqual([
      ['persistentvolumes a', { annotations: {}, spec: { claimRef: reference } }],
      ['persistentvolumeclaims data', { annotations: completed, spec: { volumeName: 'a' } }],
      phaseBound,
    ])
  })

  it.each([
    [
      volume('a', { capacity: { storage: '1Gi' } }),
      'VolumeMismatch: Cannot bind to requested volume "a": requested PV is too small',
    ],
    [
      volume('a', { claimRef: { namespace: 'default', name: 'b' } }),
      'FailedBinding: volume "a" already bound to a different claim.',
    ],
    [volume('a', claimedBy('earlier')), 'FailedBinding: volume "a" already bound to a different claim.'],
  ])('waits where it cannot have it %#', (named, message) => {
    expect(actionsOf(naming, { named })).toEqual([`Warning ${message}`])
  })
})

describe('a claim that has been bound', () => {
  const bound: PersistentVolumeClaim = {
    ...claim({ volumeName: 'a' }, completed),
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '8Gi' } },
  }

  it('is left alone, its size too, where all is well', () => {
    const named = inPhase('Bound', volume('a', claimedBy('data')))
    expect(plan(bound, { named })).toEqual({ actions: [], status: bound.status, isStatusOfSuccess: true })
  })

  it('gets its volume back where that does not show it', () => {
    expect(actionsOf(bound, { named: volume('a') })).toEqual([
      ['persistentvolumes a', { annotations: byController, spec: { claimRef: reference } }],
      phaseBound,
    ])
  })

  it.each<readonly [string, PersistentVolumeClaim, Partial<ObservedClaim>, string]>([
    [
      'it no longer says which',
      claim({}, completed),
      {},
      'ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
    ],
    [
      'the volume is gone',
      bound,
      {},
      'ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
    ],
    [
      'the volume is another’s',
      bound,
      { named: volume('a', claimedBy('other')) },
      'ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly',
    ],
  ])('is lost where %s, and says so once', (_, of, more, message) => {
    const { actions, status } = plan(of, more)
    expect(actions.map(told)).toEqual([`Warning ${message}`])
    expect(status).toEqual({ phase: 'Lost' })
    expect(plan({ ...of, status: { phase: 'Lost' } }, more).actions).toEqual([])
  })
})
