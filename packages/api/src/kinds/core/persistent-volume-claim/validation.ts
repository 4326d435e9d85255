import { deepEqual } from '../../../equality.ts'
import { type FieldError, forbiddenField, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import { FieldPath } from '../../../field-path.ts'
import { compareQuantity } from '../../../quantity.ts'
import { describeChanges } from '../../changes-text.ts'
import { checkUnchanged } from '../../validation.ts'
import { negativeAmountErrors } from '../negative-amounts.ts'
import { oldStorageClassAnnotation } from '../persistent-volume/annotations.ts'
import { checkTextOrEmpty } from '../pod/validation/checks.ts'
import { isNative } from '../pod/validation/resources.ts'
import type { PersistentVolumeClaimSpec } from '../pod/volume.ts'
import { validateClaimSpec } from './claim-spec-validation.ts'
import type { PersistentVolumeClaim } from './schema.ts'

const specPath = FieldPath.of('spec')
export const validatePersistentVolumeClaim = ({ spec = {} }: PersistentVolumeClaim): readonly FieldError[] =>
  validateClaimSpec(spec, specPath)

/** What an update of a claim may not do: only grow, take another class of attributes, and be bound once. */
export function validatePersistentVolumeClaimUpdate(
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
): readonly FieldError[] {
  const { spec = {} } = claim
  const { spec: oldSpec = {} } = old
  const comparable = withAllowedChanges(claim, old)
  const errors: FieldError[] = movesClass(claim, old) ? [] : [...validateClassAnnotation(claim, old)]
  if (!deepEqual(comparable, oldSpec)) {
    const rule =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
    errors.push(forbiddenField(specPath, [rule, ...describeChanges(oldSpec, comparable)].join('\n')))
  }
  return [
    ...errors,
    ...validateShrinking(claim, old),
    // Upstream's message names the field without what it is in.
    ...checkUnchanged(spec.volumeMode, oldSpec.volumeMode, FieldPath.of('volumeMode')),
    ...validateAttributesClassUpdate(spec, old),
  ]
}

/** The new spec with everything that an update may change put back. */
function withAllowedChanges(claim: PersistentVolumeClaim, before: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const [{ spec = {} }, { spec: old = {} }] = [claim, before]
  const isBound = claim.status?.phase === 'Bound'
  const { storage } = old.resources?.requests ?? {}
  const maySize = isBound && spec.resources?.requests !== undefined && storage !== undefined
  return {
    ...spec,
    ...(old.volumeName ? {} : { volumeName: old.volumeName }),
    // A claim that names no class gets the default one as soon as there is one.
    ...(old.storageClassName === undefined && [undefined, spec.storageClassName].includes(annotatedClass(before))
      ? { storageClassName: undefined }
      : {}),
    ...(maySize ? { resources: { ...spec.resources, requests: { ...spec.resources?.requests, storage } } } : {}),
    ...(isBound ? { volumeAttributesClassName: old.volumeAttributesClassName } : {}),
  }
}

/** The class that the annotation names where it once was. */
const annotatedClass = ({ metadata }: PersistentVolumeClaim): string | undefined =>
  metadata.annotations?.[oldStorageClassAnnotation]

/** Whether the class moves from the annotation to its field. It may stay in both. */
function movesClass(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const before = annotatedClass(old)
  return (
    before !== undefined &&
    (annotatedClass(claim) ?? before) === before &&
    old.spec?.storageClassName === undefined &&
    claim.spec?.storageClassName === before
  )
}

function validateClassAnnotation(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const name = annotatedClass(claim)
  if ((name ?? '') === (annotatedClass(old) ?? '')) return []
  const path = FieldPath.of('metadata', 'annotations', oldStorageClassAnnotation)
  return [invalidField(path, name ?? '', 'field is immutable')]
}

/** Asking for more may fail, and may be taken back, but a volume never shrinks. */
function validateShrinking({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const size = spec?.resources?.requests?.storage ?? '0'
  const oldSize = old.spec?.resources?.requests?.storage ?? '0'
  if (compareQuantity(size, oldSize) >= 0) return []
  if (compareQuantity(size, old.status?.capacity?.storage ?? '0') > 0) return []
  const path = specPath.field('resources').field('requests').field('storage')
  return [forbiddenField(path, 'field can not be less than status.capacity')]
}

function validateAttributesClassUpdate(
  { volumeAttributesClassName: name }: PersistentVolumeClaimSpec,
  { spec: old, status }: PersistentVolumeClaim,
): FieldError[] {
  if (name === old?.volumeAttributesClassName || status?.currentVolumeAttributesClassName === undefined) return []
  const path = specPath.field('volumeAttributesClassName')
  const why = 'is forbidden when status.currentVolumeAttributesClassName is not nil'
  if (name === undefined) return [forbiddenField(path, `update to nil ${why}`)]
  return name === '' ? [forbiddenField(path, `update to empty string ${why}`)] : []
}

/** What is wrong with what a claim is said to have got. */
export function validatePersistentVolumeClaimStatus({ spec, status }: PersistentVolumeClaim): readonly FieldError[] {
  const capacity = Object.entries(status?.capacity ?? {})
  const path = FieldPath.of('status', 'capacity')
  return [
    ...((spec?.accessModes ?? []).length === 0 ? [requiredField(FieldPath.of('Spec', 'accessModes'))] : []),
    ...capacity.flatMap(([name, amount]) => negativeAmountErrors(amount, path.key(name))),
    ...resizeErrors(status?.allocatedResourceStatuses ?? {}, FieldPath.of('status', 'allocatedResourceStatuses')),
    ...allocatedErrors(status?.allocatedResources ?? {}, FieldPath.of('status', 'allocatedResources')),
  ]
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

/** How far a claim that grows is, by resource. Upstream shows the resource where the state is wrong. */
function resizeErrors(statuses: Readonly<Record<string, string>>, path: FieldPath): FieldError[] {
  return Object.entries(statuses).flatMap(([name, state]) => [
    ...claimResourceErrors(name, path),
    ...(resizeStatuses.includes(state) ? [] : [unsupportedField(path, name, resizeStatuses)]),
  ])
}

function allocatedErrors(amounts: Readonly<Record<string, string>>, path: FieldPath): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const errors = claimResourceErrors(name, path)
    return errors.length > 0 ? errors : negativeAmountErrors(amount, path.key(name))
  })
}

/** Of the resources that Kubernetes itself knows, claims have storage alone. */
function claimResourceErrors(name: string, path: FieldPath): FieldError[] {
  const errors = checkTextOrEmpty('qualified-name', name, path)
  if (errors.length > 0 || name === 'storage' || !isNative(name)) return errors
  return [unsupportedField(path, name, ['storage'])]
}
