/** What is wrong with an object's metadata, in the words and the order of apimachinery's api/validation. */
import { deepEqual } from './equality.ts'
import {
  addErrors,
  type FieldError,
  fieldErrorsMax,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from './field-error.ts'
import { checkFieldManager } from './field-manager.ts'
import { FieldPath } from './field-path.ts'
import type { ObjectMeta, OwnerReference } from './meta.ts'
import type { NameFormat, StoredKind } from './stored-kind.ts'
import { checkFormat, checkName } from './string-formats.ts'

/** Keys and values of all annotations together may not take more bytes. */
export const annotationsBytesMax = 256 * 1024
/** Names of subresources in managedFields may not be longer. */
const subresourceLengthMax = 256

const immutable = 'field is immutable'
const metadataPath = FieldPath.of('metadata')

/**
 * What is wrong with the metadata of an object that is being created. Its name is generated already where it is to be. What it shares with
 * `checked`, which was found to be right, is passed over.
 */
export function validateObjectMeta(
  meta: ObjectMeta,
  kind: Pick<StoredKind, 'namespaced' | 'nameFormat'>,
  path: FieldPath = metadataPath,
  checked: ObjectMeta = {},
): readonly FieldError[] {
  const errors = [...nameErrors(meta, kind.nameFormat, path), ...namespaceErrors(meta, kind.namespaced, path)]
  const { generation = 0, labels, annotations, ownerReferences, finalizers, managedFields } = meta
  if (generation < 0) {
    errors.push(invalidField(path.field('generation'), generation, 'must be greater than or equal to 0'))
  }
  if (labels !== checked.labels) addErrors(errors, labelErrors(labels, path.field('labels'), fieldErrorsMax))
  if (annotations !== checked.annotations)
    addErrors(errors, validateAnnotations(annotations, path.field('annotations')))
  if (ownerReferences !== checked.ownerReferences) {
    addErrors(errors, ownerReferenceErrors(ownerReferences ?? [], path.field('ownerReferences')))
  }
  if (finalizers !== checked.finalizers) addErrors(errors, finalizerErrors(finalizers ?? [], path.field('finalizers')))
  if (managedFields !== undefined) addErrors(errors, managedFieldsErrors(managedFields, path.field('managedFields')))
  return errors
}

/**
 * What an update may not do to an object's metadata, and what is wrong with the new one. Parts that are the old one's own were
 * checked when they were written. Upstream looks at the metadata before a kind does (validateCommonFields), first as of any object
 * and then as of a changed one, and the kind's own validation looks at the change again: what is wrong is told as often.
 */
export function validateObjectMetaUpdate(
  meta: ObjectMeta,
  old: ObjectMeta,
  path: FieldPath = metadataPath,
): readonly FieldError[] {
  const isNew = (field: keyof ObjectMeta): boolean => meta[field] !== undefined && meta[field] !== old[field]
  const changes = changeErrors(meta, old, path)
  // Most updates leave all of it as it was.
  if (changes.length === 0 && meta.managedFields === undefined && !checkedFields.some(isNew)) return changes
  const ofLabels = [
    ...(isNew('labels') ? labelErrors(meta.labels, path.field('labels'), fieldErrorsMax) : []),
    ...(isNew('annotations') ? validateAnnotations(meta.annotations, path.field('annotations')) : []),
    ...(isNew('ownerReferences')
      ? ownerReferenceErrors(meta.ownerReferences ?? [], path.field('ownerReferences'))
      : []),
  ]
  const ofFinalizers = isNew('finalizers') ? finalizerErrors(meta.finalizers ?? [], path.field('finalizers')) : []
  const ofOwners = managedFieldsErrors(meta.managedFields ?? [], path.field('managedFields'))
  const ofChange = [...changes, ...ofLabels, ...ofOwners]
  return [...ofLabels, ...ofFinalizers, ...ofOwners, ...ofChange, ...ofChange]
}

/** What is checked where it is new, beside `managedFields`. */
const checkedFields = ['labels', 'annotations', 'ownerReferences', 'finalizers'] as const

/** What an update may not do to an object's metadata, whatever they are. */
function changeErrors(meta: ObjectMeta, old: ObjectMeta, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = []
  if (old.deletionTimestamp !== undefined) errors.push(...newFinalizerErrors(meta, old, path.field('finalizers')))
  if ((meta.resourceVersion ?? '') === '') {
    errors.push(invalidField(path.field('resourceVersion'), '', 'must be specified for an update'))
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalidField(path.field('generation'), meta.generation ?? 0, 'must not be decremented'))
  }
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if ((meta[field] ?? '') !== (old[field] ?? ''))
      errors.push(invalidField(path.field(field), meta[field] ?? '', immutable))
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (meta[field] !== old[field]) errors.push(invalidField(path.field(field), meta[field] ?? null, immutable))
  }
  return errors
}

/** What is wrong with labels: of an object, or of a template. */
export const validateLabels = (
  labels: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): readonly FieldError[] => labelErrors(labels, path, Number.POSITIVE_INFINITY)

/**
 * The same, where errors are shown and counted, and not looked at one by one: of those beyond `shownMax` one stands for each, as there may
 * be a hundred thousand.
 */
function labelErrors(
  labels: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
  shownMax: number,
): readonly FieldError[] {
  const errors: FieldError[] = []
  let surplus: FieldError | undefined
  const add = (value: string, problem: string): void => {
    if (errors.length < shownMax) errors.push(invalidField(path, value, problem))
    else {
      surplus ??= invalidField(path, value, problem)
      errors.push(surplus)
    }
  }
  // An object may hold very many of them: nothing is made for one that is right, nor a list of all.
  for (const key in labels) {
    const value = labels[key] ?? ''
    for (const problem of checkFormat('qualified-name', key)) add(key, problem)
    for (const problem of checkFormat('label-value', value)) add(value, problem)
  }
  return errors
}

/** What is wrong with annotations: of an object, or of a template. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): readonly FieldError[] {
  const entries = Object.entries(annotations ?? {})
  const errors = entries.flatMap(([key]) =>
    // Prefixes of annotations may have capitals, unlike those of labels.
    checkFormat('qualified-name', key.toLowerCase()).map((problem) => invalidField(path, key, problem)),
  )
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  return bytes > annotationsBytesMax ? [...errors, tooLongField(path, annotationsBytesMax)] : errors
}

function nameErrors(meta: ObjectMeta, format: NameFormat, path: FieldPath): readonly FieldError[] {
  const { name = '', generateName = '' } = meta
  const prefixProblems = generateName === '' ? [] : checkName(format, generateName, true)
  const errors = prefixProblems.map((problem) => invalidField(path.field('generateName'), generateName, problem))
  if (name === '') return [...errors, requiredField(path.field('name'), 'name or generateName is required')]
  return [...errors, ...checkName(format, name).map((problem) => invalidField(path.field('name'), name, problem))]
}

function namespaceErrors(meta: ObjectMeta, namespaced: boolean, path: FieldPath): readonly FieldError[] {
  const { namespace = '' } = meta
  const at = () => path.field('namespace')
  if (!namespaced) return namespace === '' ? [] : [forbiddenField(at(), 'not allowed on this type')]
  if (namespace === '') return [requiredField(at())]
  return checkFormat('dns1123-label', namespace).map((problem) => invalidField(at(), namespace, problem))
}

function ownerReferenceErrors(references: readonly OwnerReference[], path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const reference of references) {
    errors.push(...referenceErrors(reference, path))
    if (reference.controller !== true) continue
    const name = `${reference.kind}/${reference.name}`
    if (controller === undefined) {
      controller = name
      continue
    }
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
    errors.push(invalidField(path, references, detail))
  }
  return errors
}

/** Paths name the list, not the element: so do upstream's. */
function referenceErrors(reference: OwnerReference, path: FieldPath): readonly FieldError[] {
  const errors: FieldError[] = []
  const { apiVersion = '', kind = '', name = '', uid = '' } = reference
  if (apiVersion === '' || apiVersion.endsWith('/') || apiVersion.split('/').length > 2) {
    errors.push(invalidField(path.field('apiVersion'), apiVersion, 'version must not be empty'))
  }
  for (const [field, value] of Object.entries({ kind, name, uid })) {
    if (value === '') errors.push(invalidField(path.field(field), value, 'must not be empty'))
  }
  if (apiVersion === 'v1' && kind === 'Event') {
    errors.push(invalidField(path, reference, '/v1, Kind=Event is disallowed from being an owner'))
  }
  return errors
}

function finalizerErrors(finalizers: readonly string[], path: FieldPath): readonly FieldError[] {
  const errors = finalizers.flatMap((finalizer) =>
    checkFormat('qualified-name', finalizer).map((problem) => invalidField(path, finalizer, problem)),
  )
  if (!finalizers.includes('orphan') || !finalizers.includes('foregroundDeletion')) return errors
  return [...errors, invalidField(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')]
}

/** What is being deleted may lose finalizers, not gain them: it could never go. */
function newFinalizerErrors(meta: ObjectMeta, old: ObjectMeta, path: FieldPath): readonly FieldError[] {
  if (deepEqual(meta.finalizers, old.finalizers)) return []
  const known = new Set(old.finalizers)
  const added = (meta.finalizers ?? []).filter((finalizer) => !known.has(finalizer)).sort()
  if (added.length === 0) return []
  const shown = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${shown}`
  return [forbiddenField(path, detail)]
}

/** What is wrong with the owners of fields as an object shows them (meta/v1/validation ValidateManagedFields). */
export function managedFieldsErrors(
  entries: NonNullable<ObjectMeta['managedFields']>,
  path: FieldPath = metadataPath.field('managedFields'),
): readonly FieldError[] {
  return entries.flatMap((entry, index) => {
    const at = path.index(index)
    const errors: FieldError[] = []
    if (entry.operation !== 'Apply' && entry.operation !== 'Update') {
      errors.push(invalidField(at.field('operation'), entry.operation ?? '', 'must be `Apply` or `Update`'))
    }
    if (entry.fieldsType !== undefined && entry.fieldsType !== '' && entry.fieldsType !== 'FieldsV1') {
      errors.push(invalidField(at.field('fieldsType'), entry.fieldsType, 'must be `FieldsV1`'))
    }
    errors.push(...checkFieldManager(entry.manager ?? '', at.field('manager')))
    if (Buffer.byteLength(entry.subresource ?? '') > subresourceLengthMax) {
      errors.push(tooLongField(at.field('subresource'), subresourceLengthMax))
    }
    return errors
  })
}
