import { type FieldError, forbiddenField, invalidField, requiredField, tooLongField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { checkFormat, rangeMessage } from '../../string-formats.ts'
import { utf8Bytes } from '../core/data-size.ts'
import { validateInlineVolumeSpec } from '../core/persistent-volume/validation.ts'
import { validateDriverName } from '../core/pod/validation/volumes.ts'
import { checkUnchanged } from '../validation.ts'
import type { VolumeAttachment, VolumeAttachmentSource, VolumeAttachmentStatus } from './volume-attachment.ts'

const specPath = FieldPath.of('spec')
const metadataBytesMax = 256 * 1024
const messageBytesMax = 1024
const int32Max = 2 ** 31 - 1

type VolumeAttachmentError = NonNullable<VolumeAttachmentStatus['attachError']>

/** What is wrong with an attachment (storage/validation ValidateVolumeAttachment). */
export function validateAttachment({ spec, status }: VolumeAttachment): readonly FieldError[] {
  const { attacher, nodeName } = spec
  return [
    ...validateSource(spec.source, specPath.field('source')),
    ...checkFormat('dns1123-subdomain', nodeName).map((why) => invalidField(specPath.field('nodeName'), nodeName, why)),
    ...validateDriverName(attacher ?? '', specPath.field('attacher')),
    ...validateStatus(status, FieldPath.of('status')),
  ]
}

export const validateAttachmentUpdate = (
  { spec }: VolumeAttachment,
  { spec: old }: VolumeAttachment,
): readonly FieldError[] => checkUnchanged(spec, old, specPath, 'storage.VolumeAttachmentSpec')

export const validateAttachmentStatus = ({ status }: VolumeAttachment): readonly FieldError[] =>
  validateStatus(status, FieldPath.of('status'))

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
      validateError(status?.[field] ?? {}, path.field(field)),
    ),
  ]
}

/** What went wrong is told in few words, and its code in gRPC is none below zero. */
function validateError({ message = '', errorCode = 0 }: VolumeAttachmentError, path: FieldPath): readonly FieldError[] {
  return [
    // Upstream names the bound of the metadata.
    ...(utf8Bytes(message) > messageBytesMax ? [tooLongField(path.field('message'), metadataBytesMax)] : []),
    ...(errorCode < 0 ? [invalidField(path.field('errorCode'), errorCode, rangeMessage(0, int32Max))] : []),
  ]
}
