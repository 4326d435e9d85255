/** What is wrong with a CustomResourceDefinition, in the words and the order of apiextensions' validation. */
import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'
import {
  describeFieldError,
  type FieldError,
  invalidField,
  requiredField,
  unsupportedField,
} from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import type { ObjectMeta } from '../../meta.ts'
import { checkFormat } from '../../string-formats.ts'
import { checkUnchanged } from '../validation.ts'
import { caBundleErrors } from '../webhook-ca-bundle.ts'
import { approvalAnnotation, approvalOf, isProtectedGroup } from './api-approval.ts'
import { validateConversion } from './conversion-validation.ts'
import type {
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionStatus,
  CustomResourceNames,
  CustomResourceVersion,
} from './custom-resource-definition-schema.ts'
import { hasTrueCondition } from './definition-state.ts'
import { type InternalForm, internalForm, shownVersions } from './internal-form.ts'
import { validateNames } from './names-validation.ts'
import { someSchema } from './schemas-within.ts'
import { deprecationErrors, partsErrors } from './version-validation.ts'

const metadataPath = FieldPath.of('metadata')
const specPath = FieldPath.of('spec')
const namesPath = specPath.field('names')
const versionsPath = specPath.field('versions')

/** A definition is named after what it defines. Upstream holds what a name is to begin with against the same rule. */
function nameErrors(metadata: ObjectMeta, wanted: string): readonly FieldError[] {
  return (['generateName', 'name'] as const).flatMap((field) => {
    const given = metadata[field] ?? ''
    if (given === '' || given === wanted) return []
    return [invalidField(metadataPath.field(field), given, 'must be spec.names.plural+"."+spec.group')]
  })
}

/** What is wrong with a new definition. */
export function validateDefinition(definition: CustomResourceDefinition): readonly FieldError[] {
  const { metadata, spec } = definition
  return [
    ...nameErrors(metadata, `${spec.names.plural}.${spec.group}`),
    ...specErrors(spec),
    ...validateDefinitionStatus(definition),
    ...storedVersionsErrors(definition),
    ...approvalErrors(definition),
    ...preservationErrors(spec),
  ]
}

/** What is wrong with an update of a definition. What was wrong with the old one before is let be. */
export function validateDefinitionUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): readonly FieldError[] {
  const { spec } = definition
  return [
    ...newErrors(specErrors(spec), () => specErrors(old.spec)),
    ...caErrors(definition, old),
    ...(hasTrueCondition(old, 'Established')
      ? [
          ...checkUnchanged(spec.scope, old.spec.scope, specPath.field('scope')),
          ...checkUnchanged(spec.names.kind, old.spec.names.kind, namesPath.field('kind')),
        ]
      : []),
    ...checkUnchanged(spec.group, old.spec.group, specPath.field('group')),
    ...checkUnchanged(spec.names.plural, old.spec.names.plural, namesPath.field('plural')),
    ...validateDefinitionStatus(definition),
    ...storedVersionsErrors(definition),
    ...newErrors(approvalErrors(definition), () => approvalErrors(old)),
    ...newErrors(preservationErrors(spec), () => preservationErrors(old.spec)),
  ]
}

/** What is wrong with the status of a definition by itself. */
export function validateDefinitionStatus({ status }: CustomResourceDefinition): readonly FieldError[] {
  const accepted = status?.acceptedNames
  return accepted === undefined ? [] : validateNames(accepted, FieldPath.of('status', 'acceptedNames'))
}

/** Certificates are read from when a definition is established on, unless those before could not be either. */
function caErrors({ spec }: CustomResourceDefinition, old: CustomResourceDefinition): readonly FieldError[] {
  const { conversion } = spec
  if (conversion?.strategy !== 'Webhook' || !hasTrueCondition(old, 'Established')) return []
  const path = FieldPath.of('spec', 'conversion', 'webhookClientConfig', 'caBundle')
  const errorsOf = (each: CustomResourceConversion | undefined) =>
    caBundleErrors(each?.webhook?.clientConfig?.caBundle ?? '', path)
  return errorsOf(old.spec.conversion).length > 0 ? [] : errorsOf(conversion)
}

function newErrors(errors: readonly FieldError[], before: () => readonly FieldError[]): readonly FieldError[] {
  if (errors.length === 0) return errors
  const known = new Set(before().map(describeFieldError))
  return errors.filter((error) => !known.has(describeFieldError(error)))
}

function specErrors(spec: CustomResourceDefinitionSpec): readonly FieldError[] {
  const form = internalForm(spec)
  const [first] = spec.versions
  return [
    ...groupErrors(spec),
    ...scopeErrors(spec),
    ...missingSchemas(form),
    ...(spec.preserveUnknownFields === true && hasDefaults(spec)
      ? [
          invalidField(
            specPath.field('preserveUnknownFields'),
            true,
            'must be false in order to use defaults in the schema',
          ),
        ]
      : []),
    ...form.versions.flatMap((version, index) => versionErrors(version, spec, form, versionsPath.index(index))),
    ...versionListErrors(form.versions),
    ...(first === undefined || first.name === '' ? [] : labelErrors(first.name, specPath.field('version'))),
    ...missingNames(spec.names),
    ...validateNames(spec.names, namesPath),
    ...partsErrors(form.shared, {
      path: specPath,
      schemaField: 'validation',
      hasStatus: spec.versions.some(({ subresources }) => subresources?.status !== undefined),
      names: { group: spec.group, version: first?.name ?? '', kind: spec.names.kind },
    }),
    ...conversionErrors(spec),
  ]
}

/** A schema that no version has is missed in each. */
function missingSchemas({ shared, versions }: InternalForm): readonly FieldError[] {
  if (shared.schema?.openAPIV3Schema !== undefined) return []
  return versions.flatMap(({ schema }, index) =>
    schema?.openAPIV3Schema === undefined
      ? [requiredField(versionsPath.index(index).field('schema').field('openAPIV3Schema'))]
      : [],
  )
}

const hasDefaults = ({ versions }: CustomResourceDefinitionSpec): boolean =>
  versions.some(({ schema }) =>
    someSchema(schema?.openAPIV3Schema, (props: JsonSchemaProps) => props.default !== undefined),
  )

function versionErrors(
  version: CustomResourceVersion,
  { group, names }: CustomResourceDefinitionSpec,
  { shared }: InternalForm,
  path: FieldPath,
): readonly FieldError[] {
  const subresources = version.subresources ?? shared.subresources
  return [
    ...labelErrors(version.name, path.field('name')),
    ...deprecationErrors(version, path.field('deprecationWarning')),
    ...partsErrors(version, {
      path,
      schemaField: 'schema',
      hasStatus: subresources?.status !== undefined,
      names: { group, version: version.name, kind: names.kind },
    }),
  ]
}

function labelErrors(name: string, path: FieldPath): readonly FieldError[] {
  const problems = checkFormat('dns1035-label', name)
  return problems.length > 0 ? [invalidField(path, name, problems.join(','))] : []
}

/** Of the names that are wanted these have to be there. Those that are accepted lack what another definition has. */
const missingNames = (names: Partial<CustomResourceNames>): readonly FieldError[] =>
  (['plural', 'singular', 'kind', 'listKind'] as const).flatMap((field) =>
    (names[field] ?? '') === '' ? [requiredField(namesPath.field(field))] : [],
  )

function conversionErrors({ conversion, preserveUnknownFields }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (conversion === undefined) return []
  const path = specPath.field('conversion')
  const detail = 'must be None if spec.preserveUnknownFields is true'
  return [
    ...(preserveUnknownFields === true && conversion.strategy !== 'None'
      ? [invalidField(path.field('strategy'), conversion.strategy, detail)]
      : []),
    ...validateConversion(conversion, path),
  ]
}

/** Every version that objects are stored in must be there to read them by. */
function storedVersionsErrors({ status, spec }: CustomResourceDefinition): readonly FieldError[] {
  return validateStoredVersions(status, spec.versions)
}

function validateStoredVersions(
  status: CustomResourceDefinitionStatus | undefined,
  versions: readonly CustomResourceVersion[],
): readonly FieldError[] {
  const stored = status?.storedVersions ?? []
  const path = FieldPath.of('status', 'storedVersions')
  if (stored.length === 0) return [invalidField(path, null, 'must have at least one stored version')]
  const missing = versions.filter(({ storage, name }) => storage && !stored.includes(name))
  const names = new Set(versions.map(({ name }) => name))
  return [
    ...missing.map(({ name }) => invalidField(path, stored, `must have the storage version ${name}`)),
    ...stored.flatMap((name, index) =>
      names.has(name) ? [] : [invalidField(path.index(index), name, isStillStored(name))],
    ),
  ]
}

const isStillStored = (version: string): string =>
  `missing from spec.versions; ${version} was previously a storage version, and must remain in spec.versions until a ` +
  `storage migration ensures no data remains persisted in ${version} and removes ${version} from status.storedVersions`

function groupErrors({ group }: CustomResourceDefinitionSpec): readonly FieldError[] {
  const path = specPath.field('group')
  if (group === '') return [requiredField(path)]
  const problems = checkFormat('dns1123-subdomain', group)
  if (problems.length > 0) return [invalidField(path, group, problems.join(','))]
  return group.includes('.') ? [] : [invalidField(path, group, 'should be a domain with at least one dot')]
}

function scopeErrors({ scope }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (scope === '') return [requiredField(specPath.field('scope'))]
  if (scope === 'Cluster' || scope === 'Namespaced') return []
  return [unsupportedField(specPath.field('scope'), scope, ['Cluster', 'Namespaced'])]
}

function versionListErrors(versions: readonly CustomResourceVersion[]): readonly FieldError[] {
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length
  const hasOneStorage = versions.filter(({ storage }) => storage).length === 1
  const refuse = (detail: string) => [
    invalidField(versionsPath, versions.length === 0 ? null : shownVersions(versions), detail),
  ]
  return [
    ...(isUnique ? [] : refuse('must contain unique version names')),
    ...(hasOneStorage ? [] : refuse('must have exactly one version marked as storage version')),
  ]
}

function approvalErrors({ metadata, spec }: CustomResourceDefinition): readonly FieldError[] {
  if (!isProtectedGroup(spec.group)) return []
  const { reason, message } = approvalOf(metadata)
  const path = metadataPath.field('annotations').key(approvalAnnotation)
  if (reason === 'MissingAnnotation') return [requiredField(path, message)]
  return reason === 'InvalidAnnotation' ? [invalidField(path, metadata.annotations?.[approvalAnnotation], message)] : []
}

function preservationErrors({ preserveUnknownFields }: CustomResourceDefinitionSpec): readonly FieldError[] {
  if (preserveUnknownFields !== true) return []
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [invalidField(specPath.field('preserveUnknownFields'), true, detail)]
}
