import { claimNameOf, type PersistentVolumeClaim, type Pod, type PodStatus, persistentVolumeClaims } from '@coracle/api'
import { type Action, controllerRef, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

/**
 * Makes the claims of a pod's ephemeral volumes, which go with the pod. `claim` looks up a claim of its namespace. A claim that is
 * there already stays as it is, also where it is another's: scheduler and kubelet then tell what the pod waits for. Pure.
 */
export function planEphemeralVolumes(
  pod: Pod,
  claim: (name: string) => PersistentVolumeClaim | undefined,
): Plan<PodStatus> {
  if (isBeingDeleted(pod)) return { actions: [] }
  const actions = (pod.spec.volumes ?? []).flatMap((volume): readonly Action[] => {
    const template = volume.ephemeral?.volumeClaimTemplate
    const name = claimNameOf(pod, volume)
    if (template === undefined || name === undefined) return []
    return claim(name) === undefined ? [createClaim(pod, volume.name, name, template)] : []
  })
  return { actions }
}

type ClaimTemplate = NonNullable<
  NonNullable<NonNullable<Pod['spec']['volumes']>[number]['ephemeral']>['volumeClaimTemplate']
>

function createClaim(pod: Pod, volumeName: string, name: string, { metadata, spec }: ClaimTemplate): Action {
  const object: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: pod.metadata.namespace,
      labels: metadata?.labels,
      annotations: metadata?.annotations,
      ownerReferences: [controllerRef(pod)],
    },
    spec,
  }
  return {
    type: 'create',
    resource: persistentVolumeClaims,
    object,
    because: `pod ${pod.metadata.name} has no claim ${name}`,
    events: {
      failed: { reason: 'FailedBinding', message: `ephemeral volume ${volumeName}: create PVC ${name}: {error}` },
    },
  }
}
