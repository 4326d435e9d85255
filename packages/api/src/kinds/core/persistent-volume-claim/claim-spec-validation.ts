import { deepEqual } from '../../../equality.ts'
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../../field-error.ts'
import type { FieldPath } from '../../../field-path.ts'
import { compareQuantity, isQuantity } from '../../../quantity.ts'
import { validateAccessModes } from '../access-modes.ts'
import { checkLabelSelector, checkText } from '../pod/validation/checks.ts'
import type { PersistentVolumeClaimSpec } from '../pod/volume.ts'

const volumeModes = ['Block', 'Filesystem']

/** What is wrong with what a claim asks for, in a claim or in a template of one (ValidatePersistentVolumeClaimSpec). */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const { accessModes = [], volumeMode } = spec
  const modesPath = path.field('accessModes')
  return [
    ...(accessModes.length === 0
      ? [requiredField(modesPath, 'at least 1 access mode is required')]
      : validateAccessModes(accessModes, modesPath)),
    ...checkLabelSelector(spec.selector, path.field('selector')),
    ...validateSize(spec.resources?.requests?.storage, path.field('resources').key('storage')),
    ...checkText('dns1123-subdomain', spec.storageClassName, path.field('storageClassName')),
    ...(volumeMode === undefined || volumeModes.includes(volumeMode)
      ? []
      : [unsupportedField(path.field('volumeMode'), volumeMode, volumeModes)]),
    ...validateDataSources(spec, path),
    ...checkText('dns1123-subdomain', spec.volumeAttributesClassName, path.field('volumeAttributesClassName')),
  ]
}

function validateSize(size: string | undefined, path: FieldPath): FieldError[] {
  if (size === undefined) return [requiredField(path)]
  if (!isQuantity(size) || compareQuantity(size, '0') > 0) return []
  return [invalidField(path, size, 'must be greater than zero')]
}

interface DataSource {
  readonly apiGroup?: string | undefined
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
}

function validateDataSources({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: FieldPath): FieldError[] {
  const errors = [
    ...validateDataSource(dataSource, path.field('dataSource')),
    ...validateDataSource(dataSourceRef, path.field('dataSourceRef')),
  ]
  if (dataSource === undefined || dataSourceRef === undefined) return errors
  // Upstream shows its structure of the path, which has nothing to show.
  const shownPath = {}
  if (dataSourceRef.namespace) {
    return [...errors, invalidField(path, shownPath, 'may not be specified when dataSourceRef.namespace is specified')]
  }
  const { namespace: _, ...reference } = dataSourceRef
  return deepEqual(dataSource, reference)
    ? errors
    : [...errors, invalidField(path, shownPath, 'must match dataSourceRef')]
}

function validateDataSource(source: DataSource | undefined, path: FieldPath): FieldError[] {
  if (source === undefined) return []
  const { apiGroup = '', kind = '' } = source
  const why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
  return [
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim' ? [invalidField(path, kind, why)] : []),
    ...checkText('dns1123-subdomain', apiGroup, path.field('apiGroup')),
    ...checkText('dns1123-label', source.namespace, path.field('namespace')),
  ]
}
