import {
  claimNameOf,
  type PersistentVolumeClaim,
  type Pod,
  type PodStatus,
  persistentVolumeClaims,
  whyNotMadeFor,
} from '@coracle/api'
import { type Action, controllerRef, isBeingDeleted, type Plan } from '@coracle/controller-runtime'

/**
 * Makes the claims of a pod's ephemeral volumes, which go with the pod. `claim` looks up a claim of its namespace. A claim that is
 * there already stays as it is. Where it is another's that is told, and the pod gets no further claims. Pure.
 */
export function planEphemeralVolumes(
  pod: Pod,
  claim: (name: string) => PersistentVolumeClaim | undefined,
): Plan<PodStatus> {
  if (isBeingDeleted(pod)) return { actions: [] }
  const actions: Action[] = []
  for (const volume of pod.spec.volumes ?? []) {
    const template = volume.ephemeral?.volumeClaimTemplate
    const name = claimNameOf(pod, volume)
    if (template === undefined || name === undefined) continue
    const there = claim(name)
    const because = there === undefined ? undefined : whyNotMadeFor(pod, there)
    if (there === undefined) actions.push(createClaim(pod, volume.name, name, template))
    else if (because !== undefined) return { actions: [...actions, foreignClaim(volume.name, because)] }
  }
  return { actions }
}

function foreignClaim(volumeName: string, because: string): Action {
  const message = `ephemeral volume ${volumeName}: ${because}`
  return { type: 'event', eventType: 'Warning', reason: 'FailedBinding', message, because }
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
