/** The annotation that named the storage class of a volume or a claim before there was a field. */
export const oldStorageClassAnnotation = 'volume.beta.kubernetes.io/storage-class'
