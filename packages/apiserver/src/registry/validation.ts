import {
  addErrors,
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
import type { Pause } from './large-objects.ts'
import { statusOf } from './preparation.ts'

/** Throws Invalid (422), naming every field that is wrong, unless the object may be created through the version requested. */
export async function checkCreate(
  definition: StoredKind,
  object: KubernetesObject,
  requested: ResourceDefinition,
  pause: Pause | undefined,
): Promise<void> {
  const { schema, strategy } = definition
  const apiVersion = apiVersionOf(requested)
  const errors = [...validateObjectMeta(object.metadata, definition)]
  if (pause !== undefined) await pause()
  addErrors(errors, compile(schema).validate(object))
  if (pause !== undefined) await pause()
  addErrors(errors, strategy.validate?.(object, apiVersion) ?? [])
  addErrors(errors, strategy.validateCreate?.(object, apiVersion) ?? [])
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
}

/** Throws Invalid (422), naming every field that is wrong, unless the object may replace the old one, through the version requested. */
export async function checkUpdate(
  definition: StoredKind,
  object: KubernetesObject,
  old: KubernetesObject,
  rules: ChangedPart['rules'],
  requested: ResourceDefinition,
  pause: Pause | undefined,
): Promise<void> {
  if (rules === 'own') return
  const errors = [...validateObjectMetaUpdate(object.metadata, old.metadata)]
  if (pause !== undefined) await pause()
  if (rules === 'status') addErrors(errors, statusErrors(definition, object, old))
  else {
    const { schema, strategy } = definition
    const apiVersion = apiVersionOf(requested)
    addErrors(errors, compile(schema).validate(object, { old }))
    if (pause !== undefined) await pause()
    addErrors(errors, strategy.validate?.(object, apiVersion) ?? [])
    addErrors(errors, strategy.validateUpdate?.(object, old, apiVersion) ?? [])
  }
  if (errors.length > 0) throw invalid(definition, object.metadata.name ?? '', errors)
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
