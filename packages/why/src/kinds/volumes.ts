import {
  claimsOfPod,
  isClaimedBy,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  selectorFromLabelSelector,
  storageClasses,
  whyVolumeMismatches,
} from '@coracle/api'
import { latestOf } from '../events.ts'
import type { Facts, KindRules } from '../facts.ts'
import type { Diagnosis } from '../finding.ts'
import { hasEnded } from '../owners.ts'

type ClaimFacts = Facts<PersistentVolumeClaim>

export const claimRules: KindRules<PersistentVolumeClaim> = {
  reads: ({ metadata: { namespace } }) => [
    { resource: pods, namespace },
    { resource: storageClasses },
    { resource: persistentVolumes },
  ],
  rules: [inUse, lost, classMissing, namedVolume, waitsForConsumer, waitsForProvisioner, noVolume],
}

/** Pods that use a claim keep it from going. */
const users = ({ object, some }: ClaimFacts): readonly Pod[] =>
  some(pods).filter((pod) => !hasEnded(pod) && claimsOfPod(pod).includes(object.metadata.name ?? ''))

function inUse(facts: ClaimFacts): Diagnosis | undefined {
  const [first, ...others] = users(facts)
  if (facts.object.metadata.deletionTimestamp === undefined || first === undefined) return undefined
  return {
    reason: 'ClaimInUse',
    what: 'it is being deleted and does not go',
    because: `pod ${first.metadata.name}${others.length === 0 ? ' uses' : ` and ${others.length} more use`} it`,
    remedy: `delete the pods that use it: \`coracle delete pod ${first.metadata.name}\``,
  }
}

function lost({ object }: ClaimFacts): Diagnosis | undefined {
  if (object.status?.phase !== 'Lost') return undefined
  return {
    reason: 'VolumeLost',
    what: 'its volume is gone',
    because: `it is bound to volume ${object.spec?.volumeName}, which is not there any more`,
    remedy: 'what was on it is lost to the cluster: delete the claim and create another',
  }
}

const isPending = ({ object: { status, metadata } }: ClaimFacts): boolean =>
  (status?.phase ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined

/** The class it names; empty where it wants none. */
const classNameOf = ({ object: { spec, metadata } }: Pick<ClaimFacts, 'object'>): string | undefined =>
  spec?.storageClassName ?? metadata.annotations?.['volume.beta.kubernetes.io/storage-class']

const unbound = 'it is not bound to a volume'

function classMissing(facts: ClaimFacts): Diagnosis | undefined {
  const name = classNameOf(facts) ?? ''
  const known = facts.all(storageClasses)
  if (!isPending(facts) || name === '' || known === undefined || (facts.object.spec?.volumeName ?? '') !== '')
    return undefined
  if (known.some(({ metadata }) => metadata.name === name) || fittingVolume(facts) !== undefined) return undefined
  const others = known.map(({ metadata }) => metadata.name).join(', ')
  const volumes = whyNoVolume(facts, 'no volume of that class fits')
  return {
    reason: 'StorageClassMissing',
    what: unbound,
    because: `there is no StorageClass ${name}${volumes === undefined ? '' : `, and ${volumes}`}`,
    remedy: `create storageclass/${name} with its provisioner, or a volume of that class, or claim another${others === '' ? '' : `: there is ${others}`}`,
  }
}

/** A volume that may be bound to the claim: one that is kept for it, or nobody's. */
const fittingVolume = ({ object, some }: ClaimFacts): PersistentVolume | undefined =>
  some(persistentVolumes).find(
    (volume) =>
      (volume.spec?.claimRef === undefined || isClaimedBy(volume, object)) &&
      isSelected(volume, object) &&
      whyVolumeMismatches(volume, object) === undefined,
  )

const isSelected = ({ metadata }: PersistentVolume, { spec }: PersistentVolumeClaim): boolean =>
  spec?.selector === undefined || selectorFromLabelSelector(spec.selector).matches(metadata.labels ?? {})

/** Why none of the volumes there are is for the claim; `none`: where there are none to say it of. Undefined where nobody knows all of them. */
function whyNoVolume({ object, all }: ClaimFacts, none: string): string | undefined {
  const free = all(persistentVolumes)?.filter(({ spec }) => spec?.claimRef === undefined)
  if (free === undefined) return undefined
  const isOfClass = ({ spec }: PersistentVolume) => (spec?.storageClassName ?? '') === (classNameOf({ object }) ?? '')
  // What is of another class was never meant for it.
  const near = free.find(isOfClass) ?? (classNameOf({ object }) ? undefined : free[0])
  if (near === undefined) return none
  return `${near.metadata.name} does not fit: ${whyVolumeMismatches(near, object) ?? 'spec.selector of the claim does not select it'}`
}

/** It names the volume it wants. */
function namedVolume(facts: ClaimFacts): Diagnosis | undefined {
  const { object, all } = facts
  const name = object.spec?.volumeName ?? ''
  const known = all(persistentVolumes)
  if (!isPending(facts) || name === '' || known === undefined) return undefined
  const volume = known.find(({ metadata }) => metadata.name === name)
  if (volume === undefined) {
    return {
      reason: 'VolumeMissing',
      what: unbound,
      because: `it wants volume ${name}, which is not there`,
      remedy: `create persistentvolume/${name}, or claim another`,
    }
  }
  const { claimRef } = volume.spec ?? {}
  if (claimRef !== undefined && !isClaimedBy(volume, object)) {
    return {
      reason: 'VolumeTaken',
      what: unbound,
      because: `it wants volume ${name}, which is for claim ${claimRef.namespace}/${claimRef.name}`,
      remedy: 'claim another volume, or leave spec.volumeName out',
    }
  }
  const mismatch = whyVolumeMismatches(volume, object)
  if (mismatch === undefined) return undefined
  return {
    reason: 'VolumeMismatch',
    what: unbound,
    because: `it wants volume ${name}: ${mismatch}`,
    remedy: 'claim what the volume has, or another',
  }
}

/** The class binds when it is known where the first pod goes. */
function waitsForConsumer(facts: ClaimFacts): Diagnosis | undefined {
  if (!isPending(facts) || (facts.object.spec?.volumeName ?? '') !== '') return undefined
  const name = classNameOf(facts) ?? ''
  const own = facts.some(storageClasses).find(({ metadata }) => metadata.name === name)
  if (own?.volumeBindingMode !== 'WaitForFirstConsumer') return undefined
  if (facts.object.metadata.annotations?.['volume.kubernetes.io/selected-node'] !== undefined) return undefined
  const waiting = users(facts)
  const known = facts.all(pods)
  const [first] = waiting
  if (first === undefined) {
    if (known === undefined) return undefined
    return {
      reason: 'WaitsForFirstConsumer',
      what: unbound,
      because: `class ${name} binds with the first pod that uses the claim, and no pod does`,
      remedy: 'start a pod that uses it',
      state: 'waiting',
    }
  }
  return {
    reason: 'WaitsForPodScheduled',
    what: unbound,
    because: `class ${name} binds when a pod that uses the claim gets a node, and pod ${first.metadata.name} has none yet`,
    remedy: `ask \`coracle why pod/${first.metadata.name}\``,
    state: 'waiting',
  }
}

/** Says that volumes of a class are made by hand. */
const noProvisioner = 'kubernetes.io/no-provisioner'

function waitsForProvisioner(facts: ClaimFacts): Diagnosis | undefined {
  const { object, events, some } = facts
  const name = classNameOf(facts) ?? ''
  const own = some(storageClasses).find(({ metadata }) => metadata.name === name)
  if (!isPending(facts) || own === undefined || (object.spec?.volumeName ?? '') !== '') return undefined
  if (own.provisioner === noProvisioner) return undefined
  const isDelayed = own.volumeBindingMode === 'WaitForFirstConsumer'
  if (isDelayed && object.metadata.annotations?.['volume.kubernetes.io/selected-node'] === undefined) return undefined
  const failed = latestOf(events, ['ProvisioningFailed'], ['ProvisioningSucceeded'])
  if (failed !== undefined) {
    return {
      reason: 'ProvisioningFailed',
      what: unbound,
      because: failed.message ?? '',
      remedy: `correct what the message names: provisioner ${own.provisioner} makes the volumes of class ${name}`,
    }
  }
  return {
    reason: 'WaitsForProvisioner',
    what: unbound,
    because: `provisioner ${own.provisioner} of class ${name} has not made a volume yet`,
    remedy: `see that ${own.provisioner} runs, or create a volume of class ${name} by hand`,
  }
}

/** No class makes volumes for it, and none of those there are fits. */
function noVolume(facts: ClaimFacts): Diagnosis | undefined {
  const { object, all, some } = facts
  const name = classNameOf(facts) ?? ''
  if (!isPending(facts) || all(persistentVolumes) === undefined || (object.spec?.volumeName ?? '') !== '')
    return undefined
  const own = some(storageClasses).find(({ metadata }) => metadata.name === name)
  if (own !== undefined && own.provisioner !== noProvisioner) return undefined
  const fitting = fittingVolume(facts)
  if (fitting !== undefined) {
    // Which of those that fit it gets depends on where its pod goes.
    if (own?.volumeBindingMode === 'WaitForFirstConsumer') return undefined
    return {
      reason: 'BindingUnderWay',
      what: unbound,
      because: `volume ${fitting.metadata.name} is ${fitting.spec?.claimRef === undefined ? 'free, and may fit it' : 'kept for it'}`,
      remedy: 'ask again in a moment',
      state: 'waiting',
    }
  }
  // Of a class that is not there is told that.
  if (name !== '' && own === undefined) return undefined
  const wanted =
    name !== ''
      ? `nothing makes volumes of class ${name}, so it is to have one that somebody has made`
      : object.spec?.storageClassName === ''
        ? 'it is to have a volume that is of no class'
        : 'it names no class and was given none, so it is to have a volume that is of none'
  return {
    reason: 'NoVolumeFits',
    what: unbound,
    because: `${wanted}, and ${whyNoVolume(facts, 'none is free')}`,
    remedy: `create a volume${name === '' ? '' : ` of class ${name}`} that fits, or name a class that makes one in spec.storageClassName`,
  }
}

export const volumeRules: KindRules<PersistentVolume> = {
  reads: ({ spec }) =>
    spec?.claimRef?.name === undefined
      ? []
      : [
          {
            resource: persistentVolumeClaims,
            namespace: spec.claimRef.namespace,
            fieldSelector: `metadata.name=${spec.claimRef.name}`,
          },
        ],
  rules: [claimed, released, failedVolume],
}

/** A volume that has a claim does not go before it. */
function claimed({ object, some }: Facts<PersistentVolume>): Diagnosis | undefined {
  const [claim] = some(persistentVolumeClaims)
  if (object.metadata.deletionTimestamp === undefined || claim === undefined || !isClaimedBy(object, claim))
    return undefined
  return {
    reason: 'VolumeInUse',
    what: 'it is being deleted and does not go',
    because: `claim ${claim.metadata.namespace}/${claim.metadata.name} is bound to it`,
    remedy: `delete the claim: \`coracle delete pvc ${claim.metadata.name} -n ${claim.metadata.namespace}\``,
  }
}

function released({ object }: Facts<PersistentVolume>): Diagnosis | undefined {
  const { status, spec, metadata } = object
  if (status?.phase !== 'Released' || spec?.persistentVolumeReclaimPolicy !== 'Retain') return undefined
  return {
    reason: 'VolumeReleased',
    what: 'no claim gets it',
    because: `its claim ${spec.claimRef?.namespace}/${spec.claimRef?.name} is gone, and its reclaim policy is Retain: what is on it is kept`,
    remedy: `take spec.claimRef out of persistentvolume/${metadata.name} to give it to another claim, or delete it`,
  }
}

function failedVolume({ object: { status } }: Facts<PersistentVolume>): Diagnosis | undefined {
  if (status?.phase !== 'Failed') return undefined
  return {
    reason: 'ReclaimFailed',
    what: 'it could not be given back after its claim had gone',
    because: status.message || status.reason || 'its status does not say why',
    remedy: 'see what its provisioner says, or delete it and what is behind it by hand',
  }
}
