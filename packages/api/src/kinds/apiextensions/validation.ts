/** What is wrong with a CustomResourceDefinition, in the words of apiextensions' validation. */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { checkFormat } from '../../string-formats.ts'
import { checkUnchanged } from '../validation.ts'
import { approvalAnnotation, approvalOf, isProtectedGroup } from './api-approval.ts'
import { validateConversion } from './conversion-validation.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceNames,
  CustomResourceVersion,
} from './custom-resource-definition-schema.ts'
import { validateNames } from './names-validation.ts'
import { validateVersion } from './version-validation.ts'

const metadataPath = FieldPath.of('metadata')
const specPath = FieldPath.of('spec')
const namesPath = specPath.field('names')
const versionsPath = specPath.field('versions')

/** What is wrong with a definition, however it came about. Fields that are required the schema asks for. */
export function validateDefinition({ metadata, spec, status }: CustomResourceDefinition): readonly FieldError[] {
  if (spec === undefined) return []
  const { names, versions = [], conversion } = spec
  return [
    ...(metadata.name === `${names?.plural ?? ''}.${spec.group ?? ''}`
      ? []
      : [invalidField(metadataPath.field('name'), metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...groupErrors(spec),
    ...scopeErrors(spec),
    ...versions.flatMap((version, index) => validateVersion(version, spec, versionsPath.index(index))),
    ...versionListErrors(versions),
    ...(names === undefined ? [] : [...missingNames(names), ...validateNames(names, namesPath)]),
    ...(conversion === undefined ? [] : validateConversion(conversion, specPath.field('conversion'))),
    ...(status?.acceptedNames === undefined
      ? []
      : validateNames(status.acceptedNames, FieldPath.of('status', 'acceptedNames'))),
    ...approvalErrors(metadata, spec),
    ...(spec.preserveUnknownFields === true
      ? [
          invalidField(
            specPath.field('preserveUnknownFields'),
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
  ]
}

/** Of the names that are wanted two have to be there. Those that are accepted lack what another definition has. */
const missingNames = (names: Partial<CustomResourceNames>): readonly FieldError[] =>
  (['plural', 'kind'] as const).flatMap((field) =>
    (names[field] ?? '') === '' ? [requiredField(namesPath.field(field))] : [],
  )

/** What an update may not change. */
export function validateDefinitionUpdate(
  { spec, status }: CustomResourceDefinition,
  old: CustomResourceDefinition,
): readonly FieldError[] {
  // What is missing is told by the schema.
  if (spec === undefined) return []
  const established = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  return [
    ...(established === true
      ? [
          ...checkUnchanged(spec.scope, old.spec.scope, specPath.field('scope')),
          ...checkUnchanged(spec.names?.kind, old.spec.names.kind, namesPath.field('kind')),
        ]
      : []),
    ...checkUnchanged(spec.group, old.spec.group, specPath.field('group')),
    ...checkUnchanged(spec.names?.plural, old.spec.names.plural, namesPath.field('plural')),
    ...validateStoredVersions(status, spec),
  ]
}

/** Every version that objects are stored in must be there to read them by. */
export function validateStoredVersions(
  status: CustomResourceDefinitionStatus | undefined,
  { versions = [] }: Partial<CustomResourceDefinitionSpec> = {},
): readonly FieldError[] {
  const stored = status?.storedVersions ?? []
  const path = FieldPath.of('status', 'storedVersions')
  if (stored.length === 0) return [invalidField(path, stored, 'must have at least one stored version')]
  const storage = versions.find((version) => version.storage)?.name
  return [
    ...stored.flatMap((name, index) =>
      versions.some((version) => version.name === name)
        ? []
        : [invalidField(path.index(index), name, isStillStored(name))],
    ),
    ...(storage === undefined || stored.includes(storage)
      ? []
      : [invalidField(path, stored, `must have the storage version ${storage}`)]),
  ]
}

const isStillStored = (version: string): string =>
  `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a ` +
  `storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`

function groupErrors({ group = '' }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (group === '') return []
  const problems = checkFormat('dns1123-subdomain', group)
  if (problems.length > 0) return [invalidField(specPath.field('group'), group, problems.join(','))]
  if (group.includes('.')) return []
  return [invalidField(specPath.field('group'), group, 'should be a domain with at least one dot')]
}

function scopeErrors({ scope = '' }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (scope === '' || scope === 'Cluster' || scope === 'Namespaced') return []
  return [unsupportedField(specPath.field('scope'), scope, ['Cluster', 'Namespaced'])]
}

function versionListErrors(versions: readonly CustomResourceVersion[]): readonly FieldError[] {
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length
  const hasOneStorage = versions.filter(({ storage }) => storage).length === 1
  const shown = versions.map(({ name, served, storage }) => ({ name, served, storage }))
  return [
    ...(isUnique ? [] : [invalidField(versionsPath, shown, 'must contain unique version names')]),
    ...(hasOneStorage
      ? []
      : [invalidField(versionsPath, shown, 'must have exactly one version marked as storage version')]),
  ]
}

function approvalErrors(
  metadata: CustomResourceDefinition['metadata'],
  { group }: Partial<CustomResourceDefinitionSpec>,
): readonly FieldError[] {
  if (!isProtectedGroup(group)) return []
  const { reason, message } = approvalOf(metadata)
  const path = metadataPath.field('annotations').key(approvalAnnotation)
  if (reason === 'MissingAnnotation') return [requiredField(path, message)]
  return reason === 'InvalidAnnotation' ? [invalidField(path, metadata.annotations?.[approvalAnnotation], message)] : []
}
