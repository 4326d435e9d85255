import {
  type PersistentVolumeClaim,
  type PersistentVolumeClaimStatus,
  type Pod,
  persistentVolumeClaims,
  protectionFinalizers,
} from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

/**
 * Lets a claim go once no pod uses it. A pod without a node does not: its node would not start it with a claim that is on
 * its way out. Pure.
 */
export function planClaimProtection(
  claim: PersistentVolumeClaim,
  pods: readonly Pod[],
): Plan<PersistentVolumeClaimStatus> {
  const { claim: finalizer } = protectionFinalizers
  if (!isBeingDeleted(claim) || !hasFinalizer(claim, finalizer)) return { actions: [] }
  if (pods.some(({ spec }) => (spec.nodeName ?? '') !== '')) return { actions: [] }
  const { namespace = '', name = '', finalizers = [] } = claim.metadata
  const left = finalizers.filter((each) => each !== finalizer)
  const patch = finalizersPatch(claim, left)
  const key = { namespace, name }
  return {
    actions: [{ type: 'patch', resource: persistentVolumeClaims, key, patch, because: 'no pod uses the claim' }],
  }
}
