/** The numbers of fields in protobuf, see `../protobuf-messages.ts`. */
export const storageMessages = {
  'io.k8s.api.storage.v1': `
CSIDriver: metadata spec
CSIDriverSpec: attachRequired podInfoOnMount volumeLifecycleModes storageCapacity fsGroupPolicy tokenRequests
  requiresRepublish seLinuxMount nodeAllocatableUpdatePeriodSeconds serviceAccountTokenInSecrets
  preventPodSchedulingIfMissing
CSINode: metadata spec
CSINodeDriver: name nodeID topologyKeys allocatable
CSINodeSpec: drivers
CSIStorageCapacity: metadata nodeTopology storageClassName capacity maximumVolumeSize
StorageClass: metadata provisioner parameters reclaimPolicy mountOptions allowVolumeExpansion volumeBindingMode
  allowedTopologies
TokenRequest: audience expirationSeconds
VolumeAttachment: metadata spec status
VolumeAttachmentSource: persistentVolumeName inlineVolumeSpec
VolumeAttachmentSpec: attacher source nodeName
VolumeAttachmentStatus: attached attachmentMetadata attachError detachError
VolumeAttributesClass: metadata driverName parameters
VolumeError: time! message errorCode
VolumeNodeResources: count
`,
} as const
