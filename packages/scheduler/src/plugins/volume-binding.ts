import { claimsOfPod, type Pod, storageClassOfClaim } from '@coracle/api'
import type { ClusterEvent } from '../cluster-event.ts'
import { podClaims, podVolumesOn } from '../storage/pod-volumes.ts'
import type { Storage } from '../storage/storage.ts'
import type { VolumeBinder } from '../storage/volume-binder.ts'
import type { ClusterPlugin, Refusal } from './plugin.ts'

/** No pod's going helps: a volume stays where it is. */
const refusal = (...reasons: readonly string[]): Refusal => ({ reasons, isHelpedByEviction: false })

const doNothing = (): void => {}

/**
 * Pods come where their volumes are, or can be: claims that wait for it get their volumes with the node.
 * https://kubernetes.io/docs/concepts/storage/storage-classes/#volume-binding-mode
 */
export function volumeBinding(storage: Storage, binder: VolumeBinder): ClusterPlugin {
  return {
    name: 'VolumeBinding',
    scope: 'cluster',
    signature: (pod) => [pod.metadata.namespace, claimsOfPod(pod)],
    filter(pod) {
      const claims = podClaims(pod, storage)
      if (claims === undefined) return undefined
      if (typeof claims === 'string') {
        return { rejection: refusal(claims), refuse: () => undefined, add: doNothing, remove: doNothing }
      }
      return {
        refuse({ node }) {
          const volumes = podVolumesOn(node, claims, storage)
          return 'reasons' in volumes ? refusal(...volumes.reasons) : undefined
        },
        add: doNothing,
        remove: doNothing,
      }
    },
    isHelpedBy: (pod, event) => canHelp(pod, event, storage),
    reserve: (pod, node) => binder.reserve(pod, node),
    unreserve: (pod) => binder.unreserve(pod),
    preBind: (pod, node) => binder.bind(pod, node),
  }
}

/** Whether the event is about a claim of the pod, or about what one of them could get. */
function canHelp(pod: Pod, event: ClusterEvent, storage: Storage): boolean {
  const claims = () => claimsOfPod(pod).map((name) => storage.claim(pod.metadata.namespace, name))
  switch (event.type) {
    case 'claim-changed': {
      const { namespace, name = '' } = event.claim.metadata
      return namespace === pod.metadata.namespace && claimsOfPod(pod).includes(name)
    }
    case 'volume-changed': {
      const { name } = event.volume.metadata
      return claims().some(
        (claim) => claim !== undefined && (!claim.spec?.volumeName || claim.spec.volumeName === name),
      )
    }
    case 'storage-class-changed': {
      const { name = '' } = event.storageClass.metadata
      return claims().some((claim) => claim !== undefined && storageClassOfClaim(claim) === name)
    }
    case 'storage-capacity-changed':
    case 'csi-node-changed':
      return claims().some((claim) => claim !== undefined && !claim.spec?.volumeName)
    default:
      return false
  }
}
