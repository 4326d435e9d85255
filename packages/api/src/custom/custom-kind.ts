import { compareText } from '../compare-text.ts'
import { versionRank } from '../discovery/version-rank.ts'
import { FieldPath } from '../field-path.ts'
import { goQuoted } from '../go-text.ts'
import type {
  CustomResourceDefinition,
  CustomResourceVersion,
} from '../kinds/apiextensions/custom-resource-definition-schema.ts'
import { storageVersionOf } from '../kinds/apiextensions/definition-state.ts'
import { allVerbs } from '../kinds/verbs.ts'
import type { KubernetesObject } from '../meta.ts'
import { apiVersionOf, type ResourceDefinition } from '../resource.ts'
import { compile } from '../schema/compile.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import { ApiError } from '../status.ts'
import type { ConvertedVersion, FieldReader, KindRules, StoredKind, Strategy } from '../stored-kind.ts'
import { checkFormat } from '../string-formats.ts'
import { customColumns, fieldsOf, valueAt } from './custom-columns.ts'
import { customScale } from './custom-scale.ts'
import { withoutMalformedMetadata } from './malformed-metadata.ts'
import { readCustomSchema } from './read-custom-schema.ts'
import { scaleErrors } from './scale-errors.ts'

/** Converts objects between versions of a kind; `apiVersion` is the version wanted. */
export type Convert = (object: KubernetesObject, apiVersion: string) => KubernetesObject | Promise<KubernetesObject>

/** Versions differ in nothing but their name. */
const convertNothing: Convert = (object, apiVersion) => ({ ...object, apiVersion })

/**
 * The kind that a CustomResourceDefinition makes, under the names that were accepted. Its hub is the storage version. `convert`
 * asks whoever converts; without it versions differ in nothing but their name. Pure; the definition has been validated.
 */
export function customKind(definition: CustomResourceDefinition, convert?: Convert): StoredKind {
  const { spec, metadata } = definition
  const versions = spec.versions.map((version) => ({ version, resource: versionOf(definition, version) }))
  const stored = versions.find(({ version }) => version.name === storageVersionOf(definition))
  if (stored === undefined) throw new Error(`${metadata.name} has no version that objects are stored in`)
  const { version: storage, resource: hub } = stored
  const others = versions.filter(({ version }) => version.served && version !== storage)
  return {
    ...hub,
    storageKey: storageKeyOf(definition),
    served: storage.served || isLastServed(definition),
    versions: others.map(({ version, resource }) => convertedVersion(version, resource, hub, convert)),
    nameFormat: 'dns1123-subdomain',
    selectableFields: Object.fromEntries(
      spec.versions.flatMap(({ selectableFields = [] }) =>
        selectableFields.map(({ jsonPath }) => selectable(jsonPath)),
      ),
    ),
    strategy: strategyOf(definition),
    rules,
    custom: {
      schemas: Object.fromEntries(versions.map(({ resource }) => [apiVersionOf(resource), resource.schema])),
      withoutMalformedMetadata,
      scaleErrors: Object.fromEntries(
        versions.flatMap(({ version: { subresources }, resource }) => {
          const { scale } = subresources ?? {}
          if (scale === undefined) return []
          const errorsOf = (object: KubernetesObject, part: 'whole' | 'status') => scaleErrors(scale, object, part)
          return [[apiVersionOf(resource), errorsOf]]
        }),
      ),
      hubFields: selectableNames(storage),
      ...(convert === undefined ? {} : { fromStored: prunedBy(hub, convert) }),
    },
  }
}

/** Nobody could delete the objects of a definition that goes and serves no version. */
function isLastServed({ metadata, spec }: CustomResourceDefinition): boolean {
  return metadata.deletionTimestamp !== undefined && !spec.versions.some(({ served }) => served)
}

/** Where the objects of a custom kind are in the store. */
function storageKeyOf({ spec }: CustomResourceDefinition): string {
  return `${spec.group}/${spec.names.plural}`
}

const rules: KindRules = {
  createsOnUpdate: false,
  updatesUnconditionally: false,
  returnsDeletedObject: false,
  keepsStatusOnCreate: false,
  dependents: 'collected',
}

function versionOf({ spec, status }: CustomResourceDefinition, version: CustomResourceVersion): ResourceDefinition {
  const { name, schema, subresources, additionalPrinterColumns, deprecated, deprecationWarning } = version
  const { group } = spec
  const names = status?.acceptedNames?.plural ? { ...spec.names, ...status.acceptedNames } : spec.names
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
    schema: withSelectable(read.schema, selectableNames(version)),
    hasStatus: subresources?.status !== undefined,
    ...(subresources?.scale === undefined ? {} : { scale: customScale(subresources.scale) }),
    subresources: {},
    columns: customColumns(read.schema, additionalPrinterColumns),
    ...(deprecated === true ? { deprecated: deprecationWarning ?? deprecationText(spec, name, kind) } : {}),
  }
}

/** The schema with the fields that objects may be selected by, for OpenAPI. */
function withSelectable<T>(schema: ObjectSchema<T>, names: readonly string[]): ObjectSchema<T> {
  if (names.length === 0) return schema
  const fields = names.map((fieldPath) => ({ fieldPath }))
  return { ...schema, annotations: { ...schema.annotations, 'x-kubernetes-selectable-fields': fields } }
}

/** What is said of a deprecated version where its definition says nothing: which one to use instead, if there is a newer one. */
function deprecationText({ group, versions }: CustomResourceDefinition['spec'], version: string, kind: string): string {
  const [better] = versions
    .filter(({ name, served, deprecated }) => served && deprecated !== true && versionRank(name) > versionRank(version))
    .map(({ name }) => name)
    .sort((a, b) => versionRank(b) - versionRank(a))
  const instead = better === undefined ? '' : `; use ${group}/${better} ${kind}`
  return `${group}/${version} ${kind} is deprecated${instead}`
}

function convertedVersion(
  definition: CustomResourceVersion,
  version: ResourceDefinition,
  hub: ResourceDefinition,
  convert: Convert = convertNothing,
): ConvertedVersion {
  return {
    ...version,
    toHub: (object) => convert(object, apiVersionOf(hub)),
    fromHub: prunedBy(version, convert),
    hubFields: Object.fromEntries(selectableNames(definition).map((name) => [name, name])),
  }
}

const selectableNames = ({ selectableFields = [] }: CustomResourceVersion): readonly string[] =>
  selectableFields.map(({ jsonPath }) => fieldsOf(jsonPath).join('.'))

/** Converts to a version, which shows of an object what its schema knows. */
function prunedBy(version: ResourceDefinition, convert: Convert): ConvertedVersion['fromHub'] {
  const apiVersion = apiVersionOf(version)
  const prune = (object: KubernetesObject) => compile(version.schema).decode(object).value as KubernetesObject
  return (object) => {
    const converted = convert(object, apiVersion)
    return converted instanceof Promise ? converted.then(prune) : prune(converted)
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
          prepareForCreate: ({ metadata }) => {
            const why = 'create not allowed while custom resource definition is terminating'
            const { group, names } = spec
            const { name = '' } = metadata
            const quoted = name === '' ? '' : ` ${JSON.stringify(name)}`
            const details = { ...(name === '' ? {} : { name }), group, kind: names.plural }
            throw new ApiError(403, 'Forbidden', `${names.plural}.${group}${quoted} is forbidden: ${why}`, details)
          },
        }),
  }
}

/** Finalizers without a domain are for the server's own; upstream only warns of them where the kind is a custom one. */
function finalizerWarnings({ metadata }: KubernetesObject, old?: KubernetesObject): readonly string[] {
  const known = new Set(old?.metadata.finalizers)
  const added = new Set((metadata.finalizers ?? []).filter((each) => !known.has(each)))
  return [...added].sort(compareText).flatMap((each) => {
    const at = `metadata.finalizers: ${goQuoted(each)}: `
    const malformed = checkFormat('qualified-name', each).map((problem) => at + problem)
    if (each.includes('/') || standardFinalizers.includes(each)) return malformed
    const better = each.includes('.') ? 'finalizer name including a path (/)' : 'finalizer name'
    return [
      ...malformed,
      `${at}prefer a domain-qualified ${better} to avoid accidental conflicts with other finalizer writers`,
    ]
  })
}

const standardFinalizers: readonly string[] = ['orphan', 'foregroundDeletion', 'kubernetes']
