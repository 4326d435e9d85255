/** Names in the metadata of volumes and claims that their controllers know. */

/** The annotation that named the storage class of a volume or a claim before there was a field. */
export const oldStorageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** The finalizers that keep a claim while a pod uses it, a volume while a claim has it, and a class of attributes while either names it. */
export const protectionFinalizers = {
  claim: 'kubernetes.io/pvc-protection',
  volume: 'kubernetes.io/pv-protection',
  attributesClass: 'kubernetes.io/vac-protection',
} as const

/** The annotations by which those who bind and make volumes tell each other how far they are. */
export const volumeAnnotations = {
  /** On a claim: it has been bound once. What it is bound to is its volume for good. */
  bindCompleted: 'pv.kubernetes.io/bind-completed',
  /** On a claim or a volume: its other half was chosen by a controller or the scheduler, not by whoever made it. */
  boundByController: 'pv.kubernetes.io/bound-by-controller',
  /** On a volume: the provisioner that made it, and will delete it. */
  provisionedBy: 'pv.kubernetes.io/provisioned-by',
  /** On a claim: the node for which the scheduler wants its volume. */
  selectedNode: 'volume.kubernetes.io/selected-node',
  /** On a claim: the provisioner that is to make its volume now. */
  provisioner: 'volume.kubernetes.io/storage-provisioner',
  /** The former name of `provisioner`, which is still written. */
  betaProvisioner: 'volume.beta.kubernetes.io/storage-provisioner',
} as const
