import {
  claimNameOf,
  compareQuantity,
  isClaimedBy,
  labelMatcher,
  matchingVolume,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  quantitiesOf,
  type StorageClass,
  selectorFromLabelSelector,
  storageClassOfClaim,
  volumeAnnotations,
  volumeNodeMatcher,
  whyNotMadeFor,
} from '@coracle/api'
import type { Storage } from './storage.ts'

/** The claims of a pod, by what is left to do for them. */
export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[]
  /** Get a volume when a node has been chosen for the pod; the smallest request first. */
  readonly delayed: readonly DelayedClaim[]
}

interface DelayedClaim {
  readonly claim: PersistentVolumeClaim
  /** Volumes that it may get, looked up once for all nodes. */
  readonly candidates: readonly PersistentVolume[]
}

/** What is done for a pod's claims when it comes to a node. */
export interface PodVolumes {
  /** Volumes that are there, each for one of the claims. */
  readonly bindings: readonly { readonly volume: PersistentVolume; readonly claim: PersistentVolumeClaim }[]
  /** Claims whose volumes are to be made. */
  readonly provisions: readonly PersistentVolumeClaim[]
}

/** The reasons of VolumeBinding why a node, or any node, does not take a pod. */
export const volumeReasons = {
  unboundImmediate: 'pod has unbound immediate PersistentVolumeClaims',
  nodeAffinity: "node(s) didn't match PersistentVolume's node affinity",
  nothingToBind: "node(s) didn't find available persistent volumes to bind",
  notEnoughSpace: 'node(s) did not have enough free storage',
  volumeMissing: 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
} as const

/** The class whose volumes nobody makes. */
const noProvisioner = 'kubernetes.io/no-provisioner'

/** Sorts the claims of a pod; undefined where it has none. A sentence says why the pod has to wait, whatever the node. */
export function podClaims(pod: Pod, storage: Storage): PodClaims | string | undefined {
  const claims: PersistentVolumeClaim[] = []
  for (const volume of pod.spec.volumes ?? []) {
    const name = claimNameOf(pod, volume)
    if (name === undefined) continue
    const claim = storage.claim(pod.metadata.namespace, name)
    const complaint = complaintOf(pod, name, claim, volume.ephemeral !== undefined)
    if (claim === undefined || complaint !== undefined) return complaint
    claims.push(claim)
  }
  if (claims.length === 0) return undefined
  const bound = claims.filter(isBound)
  const delayed = claims.filter((claim) => !isBound(claim) && isDelayed(claim, storage))
  if (bound.length + delayed.length < claims.length) return volumeReasons.unboundImmediate
  const bySize = delayed.toSorted((a, b) => compareQuantity(requestOf(a), requestOf(b)))
  return { bound, delayed: bySize.map((claim) => ({ claim, candidates: candidatesFor(claim, storage) })) }
}

function candidatesFor(claim: PersistentVolumeClaim, storage: Storage): readonly PersistentVolume[] {
  return storage.unboundVolumes(storageClassOfClaim(claim) ?? '').filter((volume) => {
    return volume.spec?.claimRef === undefined ? volume.status?.phase === 'Available' : isClaimedBy(volume, claim)
  })
}

function complaintOf(
  pod: Pod,
  name: string,
  claim: PersistentVolumeClaim | undefined,
  isEphemeral: boolean,
): string | undefined {
  const quoted = JSON.stringify(name)
  if (claim === undefined) {
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim ${quoted}`
      : `persistentvolumeclaim ${quoted} not found`
  }
  if (claim.status?.phase === 'Lost') {
    return `persistentvolumeclaim ${quoted} bound to non-existent persistentvolume ${JSON.stringify(claim.spec?.volumeName ?? '')}`
  }
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim ${quoted} is being deleted`
  return isEphemeral ? whyNotMadeFor(pod, claim) : undefined
}

/** Bound for good: each says that it has the other. */
export const isBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  Boolean(spec?.volumeName) && metadata.annotations?.[volumeAnnotations.bindCompleted] !== undefined

/** A claim that names its volume gets it at once, whatever its class says. */
function isDelayed(claim: PersistentVolumeClaim, storage: Storage): boolean {
  const storageClass = storage.storageClass(storageClassOfClaim(claim) ?? '')
  return !claim.spec?.volumeName && storageClass?.volumeBindingMode === 'WaitForFirstConsumer'
}

const requestOf = ({ spec }: PersistentVolumeClaim): string => spec?.resources?.requests?.storage ?? '0'

/** Why claims cannot be had on a node: of those that have volumes and of those that wait for some, each for itself. */
export interface VolumeProblems {
  readonly reasons: readonly string[]
}

/** What is to be done for the claims on the node, or why they cannot be had there. */
export function podVolumesOn(node: Node, { bound, delayed }: PodClaims, storage: Storage): PodVolumes | VolumeProblems {
  const conflict = conflictOf(bound, node, storage)
  const found = volumesForDelayed(node, delayed, storage)
  const reasons = [conflict, found].filter((each) => typeof each === 'string')
  return typeof found === 'string' || reasons.length > 0 ? { reasons } : found
}

function volumesForDelayed(node: Node, delayed: readonly DelayedClaim[], storage: Storage): PodVolumes | string {
  const bindings: PodVolumes['bindings'][number][] = []
  const provisions: PersistentVolumeClaim[] = []
  const chosen = new Set<string>()
  for (const { claim, candidates } of delayed) {
    const selected = claim.metadata.annotations?.[volumeAnnotations.selectedNode]
    // Its volume is being made for a node: for no other until its provisioner gives that up.
    if (selected !== undefined && selected !== node.metadata.name) return volumeReasons.nothingToBind
    const volume =
      selected === undefined
        ? matchingVolume(claim, candidates, { node, isTaken: (name) => chosen.has(name) })
        : undefined
    if (volume !== undefined) {
      chosen.add(volume.metadata.name ?? '')
      bindings.push({ volume, claim })
      continue
    }
    const problem = whyNotProvisioned(claim, node, storage)
    if (problem !== undefined) return problem
    provisions.push(claim)
  }
  return { bindings, provisions }
}

function conflictOf(bound: readonly PersistentVolumeClaim[], node: Node, storage: Storage): string | undefined {
  for (const { spec } of bound) {
    const volume = storage.volume(spec?.volumeName ?? '')
    if (volume === undefined) return volumeReasons.volumeMissing
    if (volumeNodeMatcher(volume)?.(node) === false) return volumeReasons.nodeAffinity
  }
  return undefined
}

function whyNotProvisioned(claim: PersistentVolumeClaim, node: Node, storage: Storage): string | undefined {
  const storageClass = storage.storageClass(storageClassOfClaim(claim) ?? '')
  const { provisioner = '' } = storageClass ?? {}
  if (storageClass === undefined || provisioner === '' || provisioner === noProvisioner)
    return volumeReasons.nothingToBind
  if (!isAllowed(storageClass, node)) return volumeReasons.nothingToBind
  return hasCapacity(claim, storageClass, node, storage) ? undefined : volumeReasons.notEnoughSpace
}

/** Whether the class has volumes made for such a node: one of its alternatives must hold. */
function isAllowed({ allowedTopologies = [] }: StorageClass, { metadata }: Node): boolean {
  if (allowedTopologies.length === 0) return true
  return allowedTopologies.some(({ matchLabelExpressions = [] }) => {
    const requirements = matchLabelExpressions.map(({ key, values }) => ({ key, operator: 'in', values }) as const)
    return requirements.length > 0 && labelMatcher(requirements).matches(metadata.labels)
  })
}

/** Whether there is room, as far as the driver says how much there is (https://kep.k8s.io/1472). */
function hasCapacity(claim: PersistentVolumeClaim, storageClass: StorageClass, node: Node, storage: Storage): boolean {
  if (storage.csiDriver(storageClass.provisioner)?.spec.storageCapacity !== true) return true
  const wanted = quantitiesOf({ storage: requestOf(claim) }).get('storage')
  return storage.capacities(storageClass.metadata.name ?? '').some(({ capacity, maximumVolumeSize, nodeTopology }) => {
    const room = maximumVolumeSize ?? capacity
    if (room === undefined || wanted === undefined || compareQuantity(room, wanted) < 0) return false
    return nodeTopology !== undefined && selectorFromLabelSelector(nodeTopology).matches(node.metadata.labels)
  })
}
