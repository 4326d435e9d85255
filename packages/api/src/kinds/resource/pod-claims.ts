/** Which claims a pod has: those it names, and those that are made for it (dynamic-resource-allocation/resourceclaim). */
import type { Pod } from '../core/pod/pod-schema.ts'
import type { PodResourceClaim } from '../core/pod/pod-spec.ts'
import { reservedForMax } from './limits.ts'
import type { ResourceClaim, ResourceClaimConsumerReference } from './resource-claim-schema.ts'

/** The claim of a pod by its name. One that `mustBeOwned` was made for the pod, and is another's where the pod does not own it. */
export type PodClaimName =
  | { readonly name: string; readonly mustBeOwned: boolean }
  /** It has been found that none is needed. */
  | 'none'
  /** It is still to be made from a template. */
  | 'not-made'

/** Which claim stands for one of a pod's `resourceClaims`. */
export function claimNameOfPod(
  pod: Pod,
  { name, resourceClaimName, resourceClaimTemplateName }: PodResourceClaim,
): PodClaimName {
  if (resourceClaimName !== undefined) return { name: resourceClaimName, mustBeOwned: false }
  if (resourceClaimTemplateName === undefined) return 'none'
  const status = pod.status?.resourceClaimStatuses?.find((each) => each.name === name)
  if (status === undefined) return 'not-made'
  return status.resourceClaimName === undefined ? 'none' : { name: status.resourceClaimName, mustBeOwned: true }
}

/** The names of all claims that are known to be a pod's, that for its extended resources among them. */
export function claimNamesOfPod(pod: Pod): readonly string[] {
  const { resourceClaims = [] } = pod.spec
  const extended = pod.status?.extendedResourceClaimStatus?.resourceClaimName
  if (resourceClaims.length === 0 && extended === undefined) return []
  const names = resourceClaims.flatMap((each) => {
    const known = claimNameOfPod(pod, each)
    return typeof known === 'string' ? [] : [known.name]
  })
  return extended === undefined ? names : [...names, extended]
}

/** Whether a claim was made for the pod: the pod is its controller. */
export function isClaimOfPod({ metadata }: ResourceClaim, pod: Pod): boolean {
  return (
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid) === true
  )
}

/** Whether the pod may use the claim now. */
export function isReservedFor({ status }: ResourceClaim, pod: Pod): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid) === true
}

/** Whether one more may use the claim. */
export function canBeReserved({ status }: ResourceClaim): boolean {
  return (status?.reservedFor?.length ?? 0) < reservedForMax
}

/** How a claim names a pod that may use it. */
export function consumerOf({ metadata: { name = '', uid = '' } }: Pod): ResourceClaimConsumerReference {
  return { resource: 'pods', name, uid }
}
