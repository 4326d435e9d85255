import { kindSchema } from '../../meta.ts'
import { boolean, int32, object, optional, pointer, required, string, stringMap, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { persistentVolumeSpec } from '../core/persistent-volume/schema.ts'
import { volumeChecks } from '../core/persistent-volume/volume-checks.ts'
import { kind } from '../kind.ts'
import { storageV1 } from './names.ts'

export interface VolumeAttachmentSource extends Infer<typeof volumeAttachmentSource> {}
export const volumeAttachmentSource = object(
  `${storageV1}.VolumeAttachmentSource`,
  'What is attached: exactly one of these.',
  {
    persistentVolumeName: pointer(string(), 'Name of the PersistentVolume.'),
    inlineVolumeSpec: optional(persistentVolumeSpec, 'The volume itself, where a pod names it without a claim.'),
  },
)

export interface VolumeAttachmentSpec extends Infer<typeof volumeAttachmentSpec> {}
export const volumeAttachmentSpec = object(
  `${storageV1}.VolumeAttachmentSpec`,
  'What is attached where, and by whom.',
  {
    attacher: required(string(), 'The CSI driver that attaches it.'),
    source: required(volumeAttachmentSource, 'What is attached.', { default: {}, byValue: true }),
    nodeName: required(string(), 'The node it is attached to.', { default: '' }),
  },
)

export interface VolumeError extends Infer<typeof volumeError> {}
export const volumeError = object(`${storageV1}.VolumeError`, 'What went wrong with a volume.', {
  time: optional(time, 'When it went wrong.', { byValue: true }),
  message: optional(string(), 'What went wrong. It should not hold secrets.'),
  errorCode: pointer(int32(), 'The code of the error in gRPC.'),
})

export interface VolumeAttachmentStatus extends Infer<typeof volumeAttachmentStatus> {}
export const volumeAttachmentStatus = object(
  `${storageV1}.VolumeAttachmentStatus`,
  'Whether a volume is attached, and what went wrong.',
  {
    attached: required(boolean, 'Whether the volume is attached.', { default: false }),
    attachmentMetadata: optional(stringMap, 'What the driver tells those who mount the volume.'),
    attachError: optional(volumeError, 'Why it could not be attached the last time.'),
    detachError: optional(volumeError, 'Why it could not be detached the last time.'),
  },
)

/** The wish to have a volume attached to a node. */
export interface VolumeAttachment extends Infer<typeof volumeAttachmentSchema> {}
export const volumeAttachmentSchema = kindSchema(
  `${storageV1}.VolumeAttachment`,
  'The wish to have a volume attached to a node, and how that is going.',
  {
    spec: required(volumeAttachmentSpec, 'What is attached where. It cannot be changed.', {
      default: { attacher: '', source: {}, nodeName: '' },
    }),
    status: optional(volumeAttachmentStatus, 'How the attaching is going.', { default: { attached: false } }),
  },
)

/** `storage.k8s.io/v1` volumeattachments. */
export const volumeAttachments = kind<VolumeAttachment>(volumeAttachmentSchema, {
  plural: 'volumeattachments',
  namespaced: false,
  columns: [
    nameColumn,
    {
      ...column('Attacher', ({ spec }: VolumeAttachment) => spec.attacher, { field: 'spec.attacher' }),
      format: 'name',
    },
    column('PV', ({ spec }) => spec.source.persistentVolumeName ?? '', { field: 'spec.source.persistentVolumeName' }),
    column('Node', ({ spec }) => spec.nodeName, { field: 'spec.nodeName' }),
    column('Attached', ({ status }) => status?.attached === true, { field: 'status.attached' }),
    ageColumn,
  ],
  rules: { updatesUnconditionally: false, returnsDeletedObject: true, statusKeeps: 'metadata' },
  prepareForCreate: (attachment) => ({ ...attachment, status: { attached: false } }),
  load: volumeChecks.load,
  validate: (attachment) => volumeChecks.get().validateAttachment(attachment),
  validateUpdate: (attachment, old) => volumeChecks.get().validateAttachmentUpdate(attachment, old),
  validateStatusUpdate: (attachment) => volumeChecks.get().validateAttachmentStatus(attachment),
})
