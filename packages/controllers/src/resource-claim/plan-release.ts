import {
  type Pod,
  type ResourceClaim,
  type ResourceClaimConsumerReference,
  type ResourceClaimStatus,
  resourceClaimFinalizer,
} from '@coracle/api'
import { hasFinalizer, isBeingDeleted } from '@coracle/controller-runtime'

/** What is to be done about a claim that nobody, or not everybody, uses any more. */
export interface Release {
  /** What its status becomes; absent: it stays. */
  readonly status?: ResourceClaimStatus
  /** Nothing holds the claim any more, once its status is written: it has no devices. */
  readonly removesFinalizer: boolean
  /** It was made for a pod that is not going to run any more. */
  readonly isDeleted: boolean
  readonly because: string
}

const nothing: Release = { removesFinalizer: false, isDeleted: false, because: '' }

/**
 * Takes pods off a claim that do not run any more, and its devices back when the last has gone; a claim that was made for a pod goes when
 * that is done. `pod` looks up a pod of the claim's namespace, on the server's word. Pure.
 */
export function planRelease(claim: ResourceClaim, pod: (name: string) => Pod | undefined): Release {
  const { reservedFor = [], allocation, ...others } = claim.status ?? {}
  const kept = reservedFor.filter((each) => isStillUsing(each, pod))
  const isHeld = hasFinalizer(claim, resourceClaimFinalizer)
  if (kept.length < reservedFor.length) {
    const gone = reservedFor.filter((each) => !kept.includes(each)).map(({ name }) => name)
    const because = `${gone.join(', ')} ${gone.length === 1 ? 'does' : 'do'} not use it any more`
    // Whoever comes next may get other devices, on another node.
    const isGivenUp = kept.length === 0 && isHeld
    const status = {
      ...others,
      ...(isGivenUp || allocation === undefined ? {} : { allocation }),
      ...(kept.length === 0 ? {} : { reservedFor: kept }),
    }
    return { status, removesFinalizer: isGivenUp, isDeleted: kept.length === 0 && isOrphaned(claim, pod), because }
  }
  if (kept.length > 0) return nothing
  if (isBeingDeleted(claim) && isHeld) {
    const because = 'it is deleted, and nobody uses it'
    return {
      ...(allocation === undefined ? {} : { status: others }),
      removesFinalizer: true,
      isDeleted: false,
      because,
    }
  }
  if (isBeingDeleted(claim) || !isOrphaned(claim, pod)) return nothing
  return { ...nothing, isDeleted: true, because: 'the pod that it was made for is done' }
}

/** Of consumers that are no pods nothing is known. */
function isStillUsing(
  { apiGroup = '', resource, name, uid }: ResourceClaimConsumerReference,
  pod: (name: string) => Pod | undefined,
): boolean {
  if (apiGroup !== '' || resource !== 'pods') return true
  const found = pod(name)
  return found !== undefined && found.metadata.uid === uid && !isDone(found)
}

/** Whether none of a pod's containers runs, or ever will. */
function isDone({ metadata, spec, status }: Pod): boolean {
  if (status?.phase === 'Succeeded' || status?.phase === 'Failed') return true
  return metadata.deletionTimestamp !== undefined && !spec.nodeName
}

/** Whether the claim was made for a pod that is done, or has been replaced. One that is gone takes it along by garbage collection. */
function isOrphaned({ metadata }: ResourceClaim, pod: (name: string) => Pod | undefined): boolean {
  const owner = metadata.ownerReferences?.find(
    ({ controller, apiVersion, kind }) => controller === true && apiVersion === 'v1' && kind === 'Pod',
  )
  if (owner === undefined) return false
  const found = pod(owner.name)
  return found !== undefined && (found.metadata.uid !== owner.uid || isDone(found))
}
