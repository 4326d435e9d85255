import {
  apiVersionOf,
  finderOf,
  type OwnerReference,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type Resource,
  type StatefulSet,
  statefulSets,
  type Volume,
} from '@coracle/api'
import { type Action, controllerRef } from '@coracle/controller-runtime'
import { isWanted, podName } from './identity.ts'

/** Looks up a claim of the stateful set's namespace by name. */
export type ClaimLookup = (name: string) => PersistentVolumeClaim | undefined

/** The claims of the pod with this number, as they would be made. */
export function claimsOf(set: StatefulSet, ordinal: number): readonly PersistentVolumeClaim[] {
  const { volumeClaimTemplates = [], selector } = set.spec
  return volumeClaimTemplates.map((template) => ({
    ...template,
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...template.metadata,
      name: `${template.metadata.name}-${podName(set, ordinal)}`,
      namespace: set.metadata.namespace,
      labels: { ...template.metadata.labels, ...selector.matchLabels },
    },
  }))
}

/** The volumes of the pod with this number: its claims under the names of their templates, then what else the template has. */
export function volumesOf(set: StatefulSet, ordinal: number, others: readonly Volume[] = []): readonly Volume[] {
  const names = new Set((set.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name ?? ''))
  const claimed = [...names].map((name) => ({
    name,
    persistentVolumeClaim: { claimName: `${name}-${podName(set, ordinal)}` },
  }))
  return [...claimed, ...others.filter(({ name }) => !names.has(name))]
}

/** Whether a pod has each of its claims as the volume of its template's name (upstream's storageMatches). */
export function hasVolumes(set: StatefulSet, ordinal: number, { spec }: Pod): boolean {
  const volumeOf = finderOf(spec.volumes ?? [], ({ name }) => name)
  return (set.spec.volumeClaimTemplates ?? []).every(({ metadata: { name = '' } }) => {
    const volume = volumeOf(name)
    return volume?.persistentVolumeClaim?.claimName === `${name}-${podName(set, ordinal)}`
  })
}

/** Makes the claims that the pod with this number lacks. */
export function createMissingClaims(set: StatefulSet, ordinal: number, claim: ClaimLookup): readonly Action[] {
  const pod = podName(set, ordinal)
  const ofSet = `Pod ${pod} in StatefulSet ${set.metadata.name}`
  const owner = ownerOf(set, ordinal, undefined)
  return claimsOf(set, ordinal)
    .filter(({ metadata }) => claim(metadata.name ?? '') === undefined)
    .map((object) => ({
      type: 'create',
      resource: persistentVolumeClaims,
      object: {
        ...object,
        metadata: { ...object.metadata, ownerReferences: owner === undefined ? [] : [owner] },
      },
      because: `pod ${pod} has no claim ${object.metadata.name}`,
      events: {
        succeeded: { reason: 'SuccessfulCreate', message: `Create Claim {name} ${ofSet} success` },
        // Upstream tells of the claim, unless somebody else has made it, and of the pod, which has to wait.
        failed: [
          {
            reason: 'FailedCreate',
            message: `Create Claim {name} for ${ofSet} failed error: {error}`,
            unless: 'AlreadyExists',
          },
          { reason: 'FailedCreate', message: `Create ${ofSet} failed error: failed to create PVC {name}: {error}` },
        ],
      },
    }))
}

/**
 * Whether a claim of the pod with this number is still there for a pod of the past, with which it will go: a new pod waits until
 * then, and gets a claim of its own.
 */
export function hasStaleClaim(set: StatefulSet, ordinal: number, claim: ClaimLookup): boolean {
  if (set.spec.persistentVolumeClaimRetentionPolicy?.whenScaled !== 'Delete') return false
  return claimsOf(set, ordinal).some(({ metadata }) => {
    const present = claim(metadata.name ?? '')
    return present?.metadata.ownerReferences?.some((owner) => isOf(owner, pods, podName(set, ordinal))) === true
  })
}

/** The claims of the pod with this number that are on their way out: a new pod waits until they are gone, and gets others. */
export function goingClaims(set: StatefulSet, ordinal: number, claim: ClaimLookup): readonly string[] {
  return claimsOf(set, ordinal)
    .map(({ metadata: { name = '' } }) => name)
    .filter((name) => claim(name)?.metadata.deletionTimestamp !== undefined)
}

export type ClaimPatch = Extract<Action, { readonly type: 'patch' }>

/**
 * Sets whose the claims of a pod are, which decides what takes them along: the stateful set, the pod, or nothing. One that is still
 * of a former stateful set or pod is left to the garbage collector (upstream's isClaimOwnerUpToDate).
 */
export function alignClaims(set: StatefulSet, ordinal: number, pod: Pod, claim: ClaimLookup): readonly ClaimPatch[] {
  return claimsOf(set, ordinal).flatMap(({ metadata }): readonly ClaimPatch[] => {
    const present = claim(metadata.name ?? '')
    if (present === undefined) return []
    const { namespace, name = '', uid, resourceVersion, ownerReferences = [] } = present.metadata
    const isOwn = (owner: OwnerReference) =>
      isOf(owner, statefulSets, set.metadata.name) || isOf(owner, pods, podName(set, ordinal))
    const own = ownerReferences.filter(isOwn)
    if (own.some((owner) => owner.uid !== set.metadata.uid && owner.uid !== pod.metadata.uid)) return []
    const others = ownerReferences.filter((owner) => !isOwn(owner))
    // What something else controls gets no second controller.
    const owner = others.some(({ controller }) => controller === true) ? undefined : ownerOf(set, ordinal, pod)
    if (isOwnedBy(own, owner)) return []
    const wanted = owner === undefined ? others : [...others, owner]
    const body = { metadata: { uid, resourceVersion, ownerReferences: wanted.length === 0 ? null : wanted } }
    return [
      {
        type: 'patch',
        resource: persistentVolumeClaims,
        key: namespace === undefined ? { name } : { namespace, name },
        patch: { type: 'merge', body },
        because: 'the stateful set says what becomes of the claims of its pods',
      },
    ]
  })
}

/**
 * Says of which claims something else decides what becomes of them, or a stateful set or pod of the past: what the policy says is not
 * done (upstream's hasUnexpectedController). Without a pod: for one that is being made.
 */
export function tellConflicts(
  set: StatefulSet,
  ordinal: number,
  pod: Pod | undefined,
  claim: ClaimLookup,
): readonly Action[] {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec.persistentVolumeClaimRetentionPolicy ?? {}
  if (whenDeleted === 'Retain' && whenScaled === 'Retain') return []
  const isConflict = (owner: OwnerReference) => {
    if (isOf(owner, statefulSets, set.metadata.name)) return owner.uid !== set.metadata.uid
    if (isOf(owner, pods, podName(set, ordinal))) return owner.uid !== pod?.metadata.uid
    return owner.controller === true
  }
  return claimsOf(set, ordinal)
    .map(({ metadata: { name = '' } }) => name)
    .filter((name) => claim(name)?.metadata.ownerReferences?.some(isConflict) === true)
    .map((name) => ({
      type: 'event',
      eventType: 'Warning',
      reason: 'ConflictingController',
      message: `PersistentVolumeClaim ${name} has a conflicting OwnerReference that acts as a manging controller, the retention policy is ignored for this claim`,
      because: 'something else controls the claim',
    }))
}

/** Whether these owners are just the one that is wanted, as the controller. */
function isOwnedBy(owners: readonly OwnerReference[], wanted: OwnerReference | undefined): boolean {
  if (wanted === undefined) return owners.length === 0
  return owners.length === 1 && owners.every(({ uid, controller }) => uid === wanted.uid && controller === true)
}

/** With what the claims of the pod go: with the pod that is too much, or with the stateful set; undefined: they stay. */
function ownerOf(set: StatefulSet, ordinal: number, pod: Pod | undefined): OwnerReference | undefined {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {}
  if (whenScaled === 'Delete' && pod !== undefined && !isWanted(set, ordinal)) return controllerRef(pod)
  return whenDeleted === 'Delete' ? controllerRef(set) : undefined
}

const isOf = (owner: OwnerReference, resource: Resource, name: string | undefined): boolean =>
  owner.kind === resource.kind && owner.apiVersion === apiVersionOf(resource) && owner.name === name
