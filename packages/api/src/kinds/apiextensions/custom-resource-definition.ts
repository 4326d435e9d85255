import { deepEqual } from '../../equality.ts'
import { formatTime } from '../../time.ts'
import { createdAtColumn, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import {
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceDefinitionStatus,
  type CustomResourceVersion,
  customResourceDefinitionSchema,
  noNames,
} from './custom-resource-definition-schema.ts'
import { definitionChecks } from './definition-checks.ts'
import { storageVersionOf } from './definition-state.ts'
import { canonicalProps } from './json-schema-props-schema.ts'

/** Holds a definition that is being deleted until its objects are gone. */
export const customResourceCleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

function withDefaults(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { spec } = definition
  const { kind: kindName = '', singular = '', listKind = '' } = spec.names
  const names = {
    ...spec.names,
    ...(singular === '' && kindName !== '' ? { singular: kindName.toLowerCase() } : {}),
    ...(listKind === '' && kindName !== '' ? { listKind: `${kindName}List` } : {}),
  }
  const { versions: given } = spec
  const versions = given.map(withCanonicalSchema)
  const next = {
    ...spec,
    names: deepEqual(names, spec.names) ? spec.names : names,
    versions: versions.every((each, index) => each === given[index]) ? given : versions,
    conversion: withConversionDefaults(spec.conversion),
  }
  const isSame = next.names === spec.names && next.versions === spec.versions && next.conversion === spec.conversion
  return isSame ? definition : { ...definition, spec: next }
}

/** A definition has been stored in its storage version, unless somebody says otherwise. */
function withStoredVersion(definition: CustomResourceDefinition): CustomResourceDefinition {
  return (definition.status?.storedVersions ?? []).length > 0 ? definition : withStorageVersion(definition)
}

function withCanonicalSchema(version: CustomResourceVersion): CustomResourceVersion {
  const props = version.schema?.openAPIV3Schema
  if (props === undefined) return version
  const openAPIV3Schema = canonicalProps(props)
  return openAPIV3Schema === props ? version : { ...version, schema: { openAPIV3Schema } }
}

function withConversionDefaults(conversion: CustomResourceConversion | undefined): CustomResourceConversion {
  if (conversion === undefined) return { strategy: 'None' }
  const { webhook } = conversion
  const service = webhook?.clientConfig?.service
  if (webhook === undefined || service === undefined || service.port !== undefined) return conversion
  const clientConfig = { ...webhook.clientConfig, service: { ...service, port: 443 } }
  return { ...conversion, webhook: { ...webhook, clientConfig } }
}

/** With the storage version among those that objects were ever stored in. */
function withStorageVersion(definition: CustomResourceDefinition): CustomResourceDefinition {
  const version = storageVersionOf(definition)
  const storedVersions = definition.status?.storedVersions ?? []
  if (version === '' || storedVersions.includes(version)) return definition
  const status: CustomResourceDefinitionStatus = { ...definition.status, storedVersions: [...storedVersions, version] }
  return { ...definition, status }
}

/** A definition is never removed at once: its objects go first. */
function prepareForDelete(definition: CustomResourceDefinition, nowMs: number): CustomResourceDefinition {
  const { metadata, status } = definition
  const { finalizers = [] } = metadata
  const terminating = {
    type: 'Terminating',
    status: 'True',
    lastTransitionTime: formatTime(nowMs),
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  }
  const others = (status?.conditions ?? []).filter(({ type }) => type !== terminating.type)
  const held = finalizers.includes(customResourceCleanupFinalizer)
  return {
    ...definition,
    metadata: held ? metadata : { ...metadata, finalizers: [...finalizers, customResourceCleanupFinalizer] },
    status: { ...status, conditions: [...others, terminating] },
  }
}

/** `apiextensions.k8s.io/v1` definitions of custom resources. */
export const customResourceDefinitions = kind<CustomResourceDefinition>(customResourceDefinitionSchema, {
  plural: 'customresourcedefinitions',
  group: 'apiextensions.k8s.io',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  columns: [nameColumn, createdAtColumn],
  rules: { updatesUnconditionally: false },
  countsGenerations: true,
  defaults: (definition) => withStoredVersion(withDefaults(definition)),
  load: definitionChecks.load,
  prepareForCreate: (definition) => withStorageVersion({ ...definition, status: { acceptedNames: noNames } }),
  prepareForUpdate: withStorageVersion,
  prepareForStatusUpdate: (definition) => definition,
  prepareForDelete,
  finalizers: 'any',
  warnings: (definition, old) => definitionChecks.get().formatWarnings(definition, old),
  validateCreate: (definition) => definitionChecks.get().validateDefinition(definition),
  validateUpdate: (definition, old) => definitionChecks.get().validateDefinitionUpdate(definition, old),
  validateStatusUpdate: (definition) => definitionChecks.get().validateDefinitionStatus(definition),
})
