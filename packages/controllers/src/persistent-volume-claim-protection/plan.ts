import {
  claimNameOf,
  type PersistentVolumeClaim,
  type PersistentVolumeClaimStatus,
  type Pod,
  persistentVolumeClaims,
  protectionFinalizers,
  whyNotMadeFor,
} from '@coracle/api'
import { finalizersPatch, hasFinalizer, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

const { claim: finalizer } = protectionFinalizers

/**
 * Has every claim wait for the pods that use it, and lets one go once none does. `pods` are those that may use it, or more (upstream:
 * pkg/controller/volume/pvcprotection). Pure.
 */
export function planClaimProtection(
  claim: PersistentVolumeClaim,
  pods: readonly Pod[],
): Plan<PersistentVolumeClaimStatus> {
  const { namespace = '', name = '', finalizers = [] } = claim.metadata
  const isProtected = hasFinalizer(claim, finalizer)
  const change = (wanted: readonly string[], because: string): Plan<PersistentVolumeClaimStatus> => ({
    actions: [
      {
        type: 'patch',
        resource: persistentVolumeClaims,
        key: { namespace, name },
        patch: finalizersPatch(claim, wanted),
        because,
      },
    ],
  })
  if (!isBeingDeleted(claim)) {
    return isProtected ? { actions: [] } : change([...finalizers, finalizer], 'pods may use the claim')
  }
  if (!isProtected || pods.some((pod) => uses(pod, claim))) return { actions: [] }
  return change(
    finalizers.filter((each) => each !== finalizer),
    'no pod uses the claim',
  )
}

/** Whether a pod uses a claim. One without a node does not: its node would not start it with a claim that is on its way out. */
function uses(pod: Pod, claim: PersistentVolumeClaim): boolean {
  if ((pod.spec.nodeName ?? '') === '') return false
  if (isShutDown(pod) && isOwnedBy(claim, pod)) return false
  return (pod.spec.volumes ?? []).some(
    (volume) =>
      claimNameOf(pod, volume) === claim.metadata.name &&
      (volume.persistentVolumeClaim !== undefined || whyNotMadeFor(pod, claim) === undefined),
  )
}

/**
 * Whether a pod may be waiting for a claim that goes with it. Upstream asks this only of claims that were made for a pod; those that a StatefulSet gives to
 * pods on their way out (`whenScaled: Delete`) would wait for such a pod for ever, where it is deleted in the foreground.
 */
const isOwnedBy = ({ metadata }: PersistentVolumeClaim, pod: Pod): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === pod.metadata.uid) === true

/**
 * Whether a pod has no grace left: its node is done with it, or it was deleted by force. It may be kept by a finalizer that waits for
 * the claims that go with it.
 */
const isShutDown = ({ metadata }: Pod): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0
