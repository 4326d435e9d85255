import { createHash } from 'node:crypto'

/** A node that has it leaves it to a controller to attach volumes to it: upstream's ControllerManagedAttachAnnotation. */
export const managedAttachmentAnnotation = 'volumes.kubernetes.io/controller-managed-attach-detach'

/** The name of the VolumeAttachment of a volume to a node (getAttachmentName of upstream's csi plugin). */
export const attachmentName = (driver: string, volumeHandle: string, nodeName: string): string =>
  `csi-${createHash('sha256').update(`${volumeHandle}${driver}${nodeName}`).digest('hex')}`

/** What statuses of nodes call a volume of a driver. */
export const uniqueVolumeName = (driver: string, volumeHandle: string): string =>
  `kubernetes.io/csi/${driver}^${volumeHandle}`
