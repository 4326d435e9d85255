import {
  type ConvertedVersion,
  compile,
  type FieldError,
  FieldPath,
  invalid,
  type KubernetesObject,
  type StoredKind,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@coracle/api'
import { statusOf } from './preparation.ts'

/** What the version adds that an object is written through, where that is not the hub's. */
export type VersionChecks = Pick<ConvertedVersion, 'validateCreate' | 'validateUpdate'>

/** Throws Invalid (422), naming every field that is wrong, unless the object may be created. */
export function checkCreate(definition: StoredKind, object: KubernetesObject, version: VersionChecks): void {
  const { schema, strategy } = definition
  const errors = [
    ...validateObjectMeta(object.metadata, definition),
    ...compile(schema).validate(object),
    ...(strategy.validate?.(object) ?? []),
    ...(strategy.validateCreate?.(object) ?? []),
    ...(version.validateCreate?.(object) ?? []),
  ]
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
}

/** Throws Invalid (422), naming every field that is wrong, unless the object may replace the old one. */
export function checkUpdate(
  definition: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
  part: 'main' | 'status',
  version: VersionChecks,
): void {
  const errors = [
    ...validateObjectMetaUpdate(object.metadata, old.metadata),
    ...(part === 'status' ? statusErrors(definition, object, old) : mainErrors(definition, object, old)),
    ...(part === 'status' ? [] : (version.validateUpdate?.(object, old) ?? [])),
  ]
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
}

function mainErrors(
  { schema, strategy }: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
): readonly FieldError[] {
  return [
    ...compile(schema).validate(object, { old }),
    ...(strategy.validate?.(object) ?? []),
    ...(strategy.validateUpdate?.(object, old) ?? []),
  ]
}

/** Only the status is checked: all else has been, when it was written. */
function statusErrors(
  { schema, strategy }: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
): readonly FieldError[] {
  const status = schema.fields.status?.schema
  const value = statusOf(object)
  const options = { path: FieldPath.of('status'), old: statusOf(old) }
  return [
    ...(status === undefined || value === undefined ? [] : compile(status).validate(value, options)),
    ...(strategy.validateStatusUpdate?.(object, old) ?? []),
  ]
}
