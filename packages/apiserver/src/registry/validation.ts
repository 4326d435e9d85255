import {
  apiVersionOf,
  compile,
  type FieldError,
  FieldPath,
  invalid,
  type KubernetesObject,
  type ResourceDefinition,
  type StoredKind,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@coracle/api'
import type { ChangedPart } from './changed-part.ts'
import { statusOf } from './preparation.ts'

/** Throws Invalid (422), naming every field that is wrong, unless the object may be created through the version requested. */
export function checkCreate(definition: StoredKind, object: KubernetesObject, requested: ResourceDefinition): void {
  const { schema, strategy } = definition
  const apiVersion = apiVersionOf(requested)
  const errors = [
    ...validateObjectMeta(object.metadata, definition),
    ...compile(schema).validate(object),
    ...(strategy.validate?.(object, apiVersion) ?? []),
    ...(strategy.validateCreate?.(object, apiVersion) ?? []),
  ]
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
}

/** Throws Invalid (422), naming every field that is wrong, unless the object may replace the old one, through the version requested. */
export function checkUpdate(
  definition: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
  rules: ChangedPart['rules'],
  requested: ResourceDefinition,
): void {
  if (rules === 'own') return
  const errors = [
    ...validateObjectMetaUpdate(object.metadata, old.metadata),
    ...(rules === 'status'
      ? statusErrors(definition, object, old)
      : mainErrors(definition, object, old, apiVersionOf(requested))),
  ]
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
}

function mainErrors(
  { schema, strategy }: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
  apiVersion: string,
): readonly FieldError[] {
  return [
    ...compile(schema).validate(object, { old }),
    ...(strategy.validate?.(object, apiVersion) ?? []),
    ...(strategy.validateUpdate?.(object, old, apiVersion) ?? []),
  ]
}

/**
 * Only the status is checked: all else has been, when it was written. Rules of a custom kind look at the whole object, and
 * its validation passes over what has not changed.
 */
function statusErrors(
  { schema, strategy }: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
): readonly FieldError[] {
  if (schema.dialect === 'structural') return compile(schema).validate(object, { old })
  const status = schema.fields.status?.schema
  const value = statusOf(object)
  const options = { path: FieldPath.of('status'), old: statusOf(old) }
  return [
    ...(status === undefined || value === undefined ? [] : compile(status).validate(value, options)),
    ...(strategy.validateStatusUpdate?.(object, old) ?? []),
  ]
}
