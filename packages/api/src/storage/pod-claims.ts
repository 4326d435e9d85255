import type { PersistentVolumeClaim } from '../kinds/core/persistent-volume-claim/schema.ts'
import type { Pod } from '../kinds/core/pod/pod-schema.ts'
import type { Volume } from '../kinds/core/pod/volume.ts'

/** The name of the claim that is made for an ephemeral volume of a pod. */
export const ephemeralClaimName = (podName: string, volumeName: string): string => `${podName}-${volumeName}`

/** The name of the claim by which a pod gets one of its volumes; undefined where it gets that otherwise. */
export function claimNameOf({ metadata }: Pod, { name, persistentVolumeClaim, ephemeral }: Volume): string | undefined {
  if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName
  return ephemeral === undefined ? undefined : ephemeralClaimName(metadata.name ?? '', name)
}

const none: readonly string[] = []

/** The claims that a pod uses, by name: those it names, and those made for its ephemeral volumes. */
export function claimsOfPod(pod: Pod): readonly string[] {
  const { volumes } = pod.spec
  if (volumes === undefined || !volumes.some(isClaimed)) return none
  return volumes.flatMap((volume) => claimNameOf(pod, volume) ?? [])
}

const isClaimed = ({ persistentVolumeClaim, ephemeral }: Volume): boolean =>
  persistentVolumeClaim !== undefined || ephemeral !== undefined

/**
 * Why a claim that has the name of a pod's ephemeral volume is not for it; undefined where it is (component-helpers'
 * VolumeIsForPod). Such a claim stays with whoever made it, and the pod waits.
 */
export function whyNotMadeFor({ metadata: pod }: Pod, { metadata }: PersistentVolumeClaim): string | undefined {
  const isOwned = metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.uid)
  if (isOwned === true && metadata.namespace === pod.namespace) return undefined
  return `PVC ${metadata.namespace}/${metadata.name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`
}
