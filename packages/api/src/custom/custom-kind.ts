import { describeFieldError } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import type {
  CustomResourceDefinition,
  CustomResourceVersion,
} from '../kinds/apiextensions/custom-resource-definition-schema.ts'
import { storageVersionOf } from '../kinds/apiextensions/definition-state.ts'
import { allVerbs } from '../kinds/verbs.ts'
import type { KubernetesObject } from '../meta.ts'
import type { ResourceDefinition } from '../resource.ts'
import { compile } from '../schema/compile.ts'
import { ApiError } from '../status.ts'
import type { ConvertedVersion, FieldReader, KindRules, StoredKind, Strategy } from '../stored-kind.ts'
import { customColumns, fieldsOf, valueAt } from './custom-columns.ts'
import { customScale } from './custom-scale.ts'
import { readCustomSchema } from './read-custom-schema.ts'

/** Converts objects between versions of a kind; `apiVersion` is the version wanted. */
export type Convert = (object: KubernetesObject, apiVersion: string) => KubernetesObject | Promise<KubernetesObject>

/** Versions differ in nothing but their name. */
export const convertNothing: Convert = (object, apiVersion) => ({ ...object, apiVersion })

/**
 * The kind that a CustomResourceDefinition makes, under the names that were accepted. Its hub is the storage version, unless
 * `hubVersion` names another. Pure; the definition has been validated.
 */
export function customKind(
  definition: CustomResourceDefinition,
  convert: Convert = convertNothing,
  hubVersion = storageVersionOf(definition),
): StoredKind {
  const { spec, metadata } = definition
  const storage = spec.versions.find(({ name }) => name === hubVersion)
  if (storage === undefined)
    throw new Error(`${metadata.name} has no version ${hubVersion}, which objects are stored in`)
  const hub = versionOf(definition, storage)
  const others = spec.versions.filter((version) => version.served && version !== storage)
  return {
    ...hub,
    storageKey: storageKeyOf(definition),
    served: storage.served,
    versions: others.map((version) => convertedVersion(definition, version, hub, convert)),
    nameFormat: 'dns1123-subdomain',
    selectableFields: Object.fromEntries(
      spec.versions.flatMap(({ selectableFields = [] }) =>
        selectableFields.map(({ jsonPath }) => selectable(jsonPath)),
      ),
    ),
    strategy: { ...strategyOf(definition), ...requestedChecks(definition, hub) },
    rules,
  }
}

/** Where the objects of a custom kind are in the store. */
export function storageKeyOf({ spec }: CustomResourceDefinition): string {
  return `${spec.group}/${spec.names.plural}`
}

const rules: KindRules = {
  createsOnUpdate: false,
  updatesUnconditionally: false,
  returnsDeletedObject: false,
  keepsStatusOnCreate: false,
  dependents: 'collected',
}

function versionOf(
  { spec, status }: CustomResourceDefinition,
  { name, schema, subresources, additionalPrinterColumns, deprecated, deprecationWarning }: CustomResourceVersion,
): ResourceDefinition {
  const { group } = spec
  const names = { ...spec.names, ...status?.acceptedNames }
  const { kind } = names
  const props = schema?.openAPIV3Schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const read = readCustomSchema(props, FieldPath.root, { group, version: name, kind })
  return {
    group,
    version: name,
    kind,
    plural: spec.names.plural,
    namespaced: spec.scope === 'Namespaced',
    singular: names.singular ?? kind.toLowerCase(),
    listKind: names.listKind ?? `${kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    verbs: allVerbs,
    schema: read.schema,
    hasStatus: subresources?.status !== undefined,
    ...(subresources?.scale === undefined ? {} : { scale: customScale(subresources.scale) }),
    subresources: {},
    columns: customColumns(read.schema, additionalPrinterColumns),
    ...(deprecated === true ? { deprecated: deprecationWarning ?? `${group}/${name} ${kind} is deprecated` } : {}),
  }
}

function convertedVersion(
  definition: CustomResourceDefinition,
  version: CustomResourceVersion,
  hub: ResourceDefinition,
  convert: Convert,
): ConvertedVersion {
  const { group } = definition.spec
  const names = (version.selectableFields ?? []).map(({ jsonPath }) => fieldsOf(jsonPath).join('.'))
  return {
    ...versionOf(definition, version),
    toHub: (object) => convert(object, `${group}/${hub.version}`),
    fromHub: (object) => convert(object, `${group}/${version.name}`),
    hubFields: Object.fromEntries(names.map((name) => [name, name])),
  }
}

function selectable(jsonPath: string): [string, FieldReader<KubernetesObject>] {
  const fields = fieldsOf(jsonPath)
  const read = (object: KubernetesObject): string => {
    const value = valueAt(object, fields)
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
  }
  return [fields.join('.'), read]
}

function strategyOf({ spec, metadata }: CustomResourceDefinition): Strategy<KubernetesObject> {
  return {
    countsGenerations: true,
    warnings: finalizerWarnings,
    ...(metadata.deletionTimestamp === undefined
      ? {}
      : {
          prepareForCreate: () => {
            const details = { group: spec.group, kind: spec.names.plural }
            const message = 'create not allowed while custom resource definition is terminating'
            throw new ApiError(405, 'MethodNotAllowed', message, details)
          },
        }),
  }
}

/**
 * A request is held to the schema of the version it is made in as well, where versions differ in nothing but their name. What
 * a webhook has converted is held to that of the hub alone.
 */
function requestedChecks(definition: CustomResourceDefinition, hub: ResourceDefinition): Strategy<KubernetesObject> {
  const { group, versions, conversion } = definition.spec
  const others = versions.filter(({ served, name }) => served && name !== hub.version)
  if (conversion?.strategy === 'Webhook' || others.length === 0) return {}
  const schemas = new Map(others.map((each) => [`${group}/${each.name}`, versionOf(definition, each).schema]))
  const check = (object: KubernetesObject, old: KubernetesObject | undefined, requested: string) => {
    const schema = schemas.get(requested)
    if (schema === undefined) return []
    const errors = compile(schema).validate(object, { old })
    if (errors.length === 0) return errors
    // What the hub's schema says already is not said twice.
    const said = new Set(compile(hub.schema).validate(object, { old }).map(describeFieldError))
    return errors.filter((error) => !said.has(describeFieldError(error)))
  }
  return {
    validateCreate: (object, requested) => check(object, undefined, requested),
    validateUpdate: (object, old, requested) => check(object, old, requested),
  }
}

/** Finalizers without a domain are for the server's own; upstream only warns of them where the kind is a custom one. */
function finalizerWarnings({ metadata }: KubernetesObject, old?: KubernetesObject): readonly string[] {
  const known = old?.metadata.finalizers ?? []
  return (metadata.finalizers ?? [])
    .filter((each) => !each.includes('/') && !known.includes(each))
    .filter((each) => each !== 'orphan' && each !== 'foregroundDeletion')
    .map(
      (each) =>
        `metadata.finalizers: ${JSON.stringify(each)}: prefer a domain-qualified finalizer name including a path (/) ` +
        'to avoid accidental conflicts with other finalizer writers',
    )
}
