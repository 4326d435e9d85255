import type { Node, PersistentVolume, PersistentVolumeClaim, Pod, ResourceClaim, StorageClass } from '@coracle/api'

/** Something that may let a pod fit which found no node. */
export type ClusterEvent =
  /** `old` is absent where the node has come. */
  | { readonly type: 'node-changed'; readonly node: Node; readonly old?: Node | undefined }
  | { readonly type: 'node-removed'; readonly node: Node }
  /** `old` is absent where the pod has just come to its node. */
  | { readonly type: 'pod-placed'; readonly pod: Pod; readonly old?: Pod | undefined; readonly nodeName: string }
  | { readonly type: 'pod-removed'; readonly pod: Pod; readonly nodeName: string }
  | { readonly type: 'namespace-changed'; readonly namespace: string }
  /** Of these all have come, changed or gone. */
  | { readonly type: 'claim-changed'; readonly claim: PersistentVolumeClaim }
  | { readonly type: 'volume-changed'; readonly volume: PersistentVolume }
  | { readonly type: 'storage-class-changed'; readonly storageClass: StorageClass }
  | { readonly type: 'csi-node-changed'; readonly nodeName: string }
  | { readonly type: 'storage-capacity-changed' }
  /** What was attached to the node is not any more. */
  | { readonly type: 'volume-detached'; readonly nodeName: string }
  /** `old` is absent where the claim has come, `claim` where it is gone. */
  | { readonly type: 'resource-claim-changed'; readonly claim?: ResourceClaim; readonly old?: ResourceClaim }
  /** There are other devices, or other classes of them. */
  | { readonly type: 'devices-changed' }

/** The node that has more room after the event than before, or other properties. */
export function nodeOfEvent(event: ClusterEvent): string | undefined {
  switch (event.type) {
    case 'node-changed':
      return event.node.metadata.name
    case 'pod-removed':
    case 'pod-placed':
    case 'csi-node-changed':
    case 'volume-detached':
      return event.nodeName
    default:
      return undefined
  }
}
