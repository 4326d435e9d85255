import { type KubernetesObject, type Pod, pods } from '@coracle/api'
import { type Action, adoption, release } from '@coracle/controller-runtime'

/** Pods whose owner is to change. */
export interface PodClaims {
  /** Pods that match the owner's selector and are nobody's. */
  readonly orphans: readonly Pod[]
  /** Pods that the owner controls and that no longer match. */
  readonly mismatched: readonly Pod[]
}

/** Takes in what matches an owner's selector and is nobody's, and lets go of what no longer matches. `finalizer`: what it keeps its pods by. */
export function podClaimActions(
  owner: KubernetesObject,
  { orphans, mismatched }: PodClaims,
  finalizer?: string,
): readonly Action[] {
  return [
    ...mismatched.map((pod) => release(pods, owner, pod, 'the pod’s labels no longer match the selector', finalizer)),
    ...orphans.map((pod) => adoption(pods, owner, pod, 'the pod matches the selector and is nobody’s', finalizer)),
  ]
}
