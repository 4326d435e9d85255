import type { VolumeAttachment } from '@coracle/api'
import type { IndexFunction } from '@coracle/client'

/** Names of the indexes of VolumeAttachments. */
export const attachmentNodeIndexName = 'node'
export const attachmentVolumeIndexName = 'volume'

const byNode: IndexFunction<VolumeAttachment> = ({ spec }) => [spec.nodeName]

const byVolume: IndexFunction<VolumeAttachment> = ({ spec: { source } }) => [source.persistentVolumeName ?? '']

/** Files VolumeAttachments under their nodes and their volumes. */
export const attachmentIndexes = { [attachmentNodeIndexName]: byNode, [attachmentVolumeIndexName]: byVolume }
