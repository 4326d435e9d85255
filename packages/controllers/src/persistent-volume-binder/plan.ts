import {
  deepEqual,
  driverOfProvisioner,
  isClaimedBy,
  matchingVolume,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimStatus,
  persistentVolumeClaims,
  persistentVolumes,
  type StorageClass,
  storageClassOfClaim,
  volumeAnnotations,
  whyVolumeMismatches,
} from '@coracle/api'
import type { Action, Plan } from '@coracle/controller-runtime'

/** A claim, and what there is to bind it to. */
export interface ObservedClaim {
  readonly claim: PersistentVolumeClaim
  /** The volume that the claim names, where it names one and it is there. */
  readonly named: PersistentVolume | undefined
  /** Volumes that it could get: those kept for it, and those of its class that nobody has. */
  readonly candidates: Iterable<PersistentVolume>
  /** Whether a volume has been chosen for another claim though it does not show yet. */
  isTaken(name: string): boolean
  /** The class of the claim, where it names one and it is there. */
  readonly storageClass: StorageClass | undefined
  /** The class that claims get which name none. */
  readonly defaultClass: StorageClass | undefined
  /** Names of the pods that use it and have no node yet. */
  readonly unscheduledPods: readonly string[]
}

/** What upstream's names of provisioners in its own tree begin with, `no-provisioner` among them: there are none here. */
const inTreePrefix = 'kubernetes.io/'

type ClaimPlan = Plan<PersistentVolumeClaimStatus>

/** What a claim waits for, or the volume it gets, or that it has lost the one it had (upstream's syncClaim). Pure. */
export function planClaim(observed: ObservedClaim, now: string): ClaimPlan {
  const { claim } = observed
  if (claim.metadata.annotations?.[volumeAnnotations.bindCompleted] !== undefined) return planBound(observed, now)
  return claim.spec?.volumeName ? planNamed(observed, now) : planUnbound(observed, now)
}

/** The volume that a plan takes for its claim; undefined where it takes none. */
export function takenVolume({ actions }: ClaimPlan): string | undefined {
  const taken = actions.find((action) => action.type === 'patch' && action.resource === persistentVolumes)
  return taken?.type === 'patch' ? taken.key.name : undefined
}

/** Whether the claim waits for a pod that uses it before it gets a volume. */
const isDelayed = ({ storageClass }: ObservedClaim): boolean =>
  storageClass?.volumeBindingMode === 'WaitForFirstConsumer'

// --- A claim that takes any volume -----------------------------------------------------------------------------------

function planUnbound(observed: ObservedClaim, now: string): ClaimPlan {
  const { claim, candidates, isTaken, defaultClass } = observed
  const volume = matchingVolume(claim, candidates, { isDelayed: isDelayed(observed), isTaken })
  if (volume !== undefined) return bind(claim, volume, now)
  const className = storageClassOfClaim(claim)
  if (className === undefined && defaultClass !== undefined) return giveClass(claim, defaultClass)
  const hasNode = claim.metadata.annotations?.[volumeAnnotations.selectedNode] !== undefined
  if (isDelayed(observed) && !hasNode) return waiting(claim, [tellOfConsumer(observed)])
  if (className) return provision(observed, className)
  const message = 'no persistent volumes available for this claim and no storage class is set'
  return waiting(claim, [tell('Normal', 'FailedBinding', message)])
}

/** Claims that were made before there was a default class get it as soon as there is one: https://kep.k8s.io/3333. */
function giveClass(claim: PersistentVolumeClaim, { metadata }: StorageClass): ClaimPlan {
  const because = `${metadata.name} is the default class now, and the claim names none`
  return { actions: [patchClaim(claim, { spec: { storageClassName: metadata.name } }, because)] }
}

function tellOfConsumer({ unscheduledPods: pods }: ObservedClaim): Action {
  if (pods.length === 0) {
    return tell('Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding')
  }
  const who = `${pods.length === 1 ? 'pod' : 'pods'} ${pods.join(',')}`
  return tell('Normal', 'WaitForPodScheduled', `waiting for ${who} to be scheduled`)
}

/** Tells the provisioner of the class that it is to make a volume. Provisioners are not part of this controller. */
function provision({ claim, storageClass }: ObservedClaim, className: string): ClaimPlan {
  if (storageClass === undefined) {
    return failed(claim, `storageclass.storage.k8s.io ${JSON.stringify(className)} not found`)
  }
  const { provisioner: named = '' } = storageClass
  const provisioner = driverOfProvisioner(named) ?? named
  if (provisioner.startsWith(inTreePrefix)) return failed(claim, `no volume plugin matched name: ${provisioner}`)
  const message =
    `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system administrator. ` +
    'If volume creation is delayed, please verify that the provisioner is running and correctly registered.'
  const annotations = { [volumeAnnotations.provisioner]: provisioner, [volumeAnnotations.betaProvisioner]: provisioner }
  const isTold = Object.entries(annotations).every(([key, value]) => claim.metadata.annotations?.[key] === value)
  const because = `${provisioner} makes the volumes of class ${className}`
  return waiting(claim, [
    ...(isTold ? [] : [patchClaim(claim, { metadata: { annotations } }, because)]),
    tell('Normal', 'ExternalProvisioning', message),
  ])
}

const failed = (claim: PersistentVolumeClaim, why: string): ClaimPlan =>
  waiting(claim, [tell('Warning', 'ProvisioningFailed', why)])

// --- A claim that names its volume -----------------------------------------------------------------------------------

function planNamed({ claim, named: volume }: ObservedClaim, now: string): ClaimPlan {
  if (volume === undefined) return waiting(claim)
  const { claimRef } = volume.spec ?? {}
  const name = JSON.stringify(volume.metadata.name)
  if (claimRef === undefined) {
    const mismatch = whyVolumeMismatches(volume, claim)
    if (mismatch === undefined) return bind(claim, volume, now)
    const message = `Cannot bind to requested volume ${name}: ${mismatch}`
    return waiting(claim, [tell('Warning', 'VolumeMismatch', message)])
  }
  if (isClaimedBy(volume, claim)) return bind(claim, volume, now)
  return waiting(claim, [tell('Warning', 'FailedBinding', `volume ${name} already bound to a different claim.`)])
}

// --- A claim that has been bound -------------------------------------------------------------------------------------

function planBound({ claim, named: volume }: ObservedClaim, now: string): ClaimPlan {
  if (!claim.spec?.volumeName) {
    const message = 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!'
    return lost(claim, 'ClaimLost', message)
  }
  if (volume === undefined) {
    return lost(claim, 'ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!')
  }
  const { claimRef } = volume.spec ?? {}
  // A volume without a claim has been let go by somebody, or is an older state of one that has it.
  if (claimRef === undefined || claimRef.uid === claim.metadata.uid) return bind(claim, volume, now)
  const message = 'Two claims are bound to the same volume, this one is bound incorrectly'
  return lost(claim, 'ClaimMisbound', message)
}

function lost(claim: PersistentVolumeClaim, reason: string, message: string): ClaimPlan {
  const { accessModes: _, capacity: __, ...rest } = claim.status ?? {}
  return {
    actions: claim.status?.phase === 'Lost' ? [] : [tell('Warning', reason, message)],
    status: { ...rest, phase: 'Lost' },
  }
}

// --- Binding ---------------------------------------------------------------------------------------------------------

/**
 * Binds both to each other, the volume first: a claim is bound when it says so itself, and then nobody else can have its volume.
 * Whatever of it is done already is left out, so that it can be interrupted anywhere.
 */
function bind(claim: PersistentVolumeClaim, volume: PersistentVolume, now: string): ClaimPlan {
  const { name = '' } = volume.metadata
  const isBound = volume.status?.phase === 'Bound'
  const status = { phase: 'Bound', lastPhaseTransitionTime: now }
  const because = `it is bound to claim ${claim.metadata.name}`
  const phase: Action = {
    type: 'patch',
    resource: persistentVolumes,
    key: { name },
    patch: { type: 'merge', body: { metadata: { uid: volume.metadata.uid }, status } },
    subresource: 'status',
    because,
  }
  return {
    actions: [...claimVolume(volume, claim), ...nameVolume(claim, name), ...(isBound ? [] : [phase])],
    status: boundStatus(claim, volume),
    isStatusOfSuccess: true,
  }
}

function claimVolume(volume: PersistentVolume, claim: PersistentVolumeClaim): readonly Action[] {
  const { namespace, name, uid, resourceVersion } = claim.metadata
  const { claimRef } = volume.spec ?? {}
  if (claimRef?.uid === uid && isClaimedBy(volume, claim)) return []
  const reference = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid, resourceVersion }
  const annotations = isClaimedBy(volume, claim) ? {} : boundByController
  return [
    {
      type: 'patch',
      resource: persistentVolumes,
      key: { name: volume.metadata.name ?? '' },
      patch: {
        type: 'merge',
        body: { metadata: { ...versionOf(volume), annotations }, spec: { claimRef: reference } },
      },
      because: `it has what claim ${name} asks for`,
    },
  ]
}

function nameVolume(claim: PersistentVolumeClaim, name: string): readonly Action[] {
  const { annotations: present = {} } = claim.metadata
  const isNamed = claim.spec?.volumeName === name
  const annotations = { ...(isNamed ? {} : boundByController), [volumeAnnotations.bindCompleted]: 'yes' }
  if (isNamed && present[volumeAnnotations.bindCompleted] !== undefined) return []
  return [
    patchClaim(claim, { metadata: { annotations }, spec: { volumeName: name } }, `volume ${name} is for the claim`),
  ]
}

const boundByController = { [volumeAnnotations.boundByController]: 'yes' }

/** The size is taken over once: later on it may differ from the volume's while that grows. */
function boundStatus(claim: PersistentVolumeClaim, { spec }: PersistentVolume): PersistentVolumeClaimStatus {
  const { status = {} } = claim
  const attributesClass = spec?.volumeAttributesClassName
  const becomesBound = status.phase !== 'Bound'
  return {
    ...status,
    phase: 'Bound',
    ...(deepEqual(status.accessModes, spec?.accessModes) ? {} : { accessModes: spec?.accessModes }),
    ...(becomesBound ? { capacity: spec?.capacity } : {}),
    ...(becomesBound && attributesClass ? { currentVolumeAttributesClassName: attributesClass } : {}),
  }
}

// --- Parts of plans --------------------------------------------------------------------------------------------------

/** The claim has no volume yet. */
function waiting({ status = {} }: PersistentVolumeClaim, actions: readonly Action[] = []): ClaimPlan {
  const { accessModes: _, capacity: __, ...rest } = status
  return { actions, status: { ...rest, phase: 'Pending' } }
}

function tell(eventType: 'Normal' | 'Warning', reason: string, message: string): Action {
  return { type: 'event', eventType, reason, message, because: message }
}

interface ClaimChange {
  readonly metadata?: { readonly annotations: Readonly<Record<string, string>> }
  readonly spec?: Readonly<Record<string, unknown>>
}

function patchClaim(claim: PersistentVolumeClaim, { metadata, spec }: ClaimChange, because: string): Action {
  const { namespace, name = '' } = claim.metadata
  return {
    type: 'patch',
    resource: persistentVolumeClaims,
    key: namespace === undefined ? { name } : { namespace, name },
    patch: {
      type: 'merge',
      body: { metadata: { ...versionOf(claim), ...metadata }, ...(spec === undefined ? {} : { spec }) },
    },
    because,
  }
}

/** A plan rests on what was seen of an object: it is not to be carried out on another state of it. */
const versionOf = ({ metadata: { uid, resourceVersion } }: PersistentVolume | PersistentVolumeClaim) => ({
  uid,
  resourceVersion,
})
