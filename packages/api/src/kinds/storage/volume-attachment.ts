import { type FieldError, forbiddenField, invalidField, requiredField, tooLongField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { boolean, int32, object, optional, pointer, required, string, stringMap, time } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkFormat } from '../../string-formats.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { utf8Bytes } from '../core/data-size.ts'
import { persistentVolumeSpec } from '../core/persistent-volume/schema.ts'
import { validateInlineVolumeSpec } from '../core/persistent-volume/validation.ts'
import { validateDriverName } from '../core/pod/validation/volumes.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'
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

const specPath = FieldPath.of('spec')
const metadataBytesMax = 256 * 1024
const messageLengthMax = 1024

function validate({ spec, status }: VolumeAttachment): readonly FieldError[] {
  const { attacher, nodeName } = spec
  return [
    ...validateSource(spec.source, specPath.field('source')),
    ...checkFormat('dns1123-subdomain', nodeName).map((why) => invalidField(specPath.field('nodeName'), nodeName, why)),
    ...validateDriverName(attacher ?? '', specPath.field('attacher')),
    ...validateStatus(status, FieldPath.of('status')),
  ]
}

function validateSource(source: VolumeAttachmentSource, path: FieldPath): readonly FieldError[] {
  const { persistentVolumeName: name, inlineVolumeSpec } = source
  const rule = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (name === undefined) {
    if (inlineVolumeSpec === undefined) return [requiredField(path, rule)]
    return validateInlineVolumeSpec(inlineVolumeSpec, path.field('inlineVolumeSpec'))
  }
  if (inlineVolumeSpec !== undefined) return [forbiddenField(path, rule)]
  const at = path.field('persistentVolumeName')
  return [
    ...(name === '' ? [requiredField(at, 'must specify non empty persistentVolumeName')] : []),
    ...checkFormat('dns1123-subdomain', name).map((why) => invalidField(at, name, why)),
  ]
}

function validateStatus(status: VolumeAttachmentStatus | undefined, path: FieldPath): readonly FieldError[] {
  const metadata = Object.entries(status?.attachmentMetadata ?? {})
  const bytes = metadata.reduce((sum, [name, value]) => sum + utf8Bytes(name) + utf8Bytes(value), 0)
  return [
    ...(bytes > metadataBytesMax ? [tooLongField(path.field('attachmentMetadata'), metadataBytesMax)] : []),
    ...(['attachError', 'detachError'] as const).flatMap((field) =>
      (status?.[field]?.message ?? '').length > messageLengthMax
        ? [tooLongField(path.field(field).field('message'), messageLengthMax)]
        : [],
    ),
  ]
}

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
  validate,
  validateUpdate: ({ spec }, old) => checkUnchanged(spec, old.spec, specPath),
  validateStatusUpdate: ({ status }) => validateStatus(status, FieldPath.of('status')),
})
