/** Names in the metadata of volumes and claims that their controllers know. */

/** The annotation that named the storage class of a volume or a claim before there was a field. */
export const oldStorageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'

/** The finalizers that keep a claim while a pod uses it, and a volume while a claim has it. */
export const protectionFinalizers = {
  claim: 'kubernetes.io/pvc-protection',
  volume: 'kubernetes.io/pv-protection',
} as const
