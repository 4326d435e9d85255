import type { FieldError } from '../field-error.ts'
import type { KubernetesObject } from '../meta.ts'
import type { Column, ResourceDefinition, ScaleMapping, SubresourceDefinition, Verb } from '../resource.ts'
import { shortName, versionOf } from '../schema/resolve.ts'
import type { ObjectSchema } from '../schema/schema.ts'
import type { ConvertedVersion, FieldReader, KindRules, NameFormat, StoredKind, Strategy } from '../stored-kind.ts'
import { ageColumn, type ColumnSource, columnsOf, nameColumn } from './columns.ts'
import { groupOf } from './meta/names.ts'
import { checkFinalizers } from './validation.ts'
import { allVerbs } from './verbs.ts'

/** What a version says of itself where nothing follows from its schema or from what is usual. */
export interface VersionOptions<T extends KubernetesObject> {
  readonly plural: string
  /** The schema's name tells it for kinds that upstream has. */
  readonly group?: string
  /** The kind in lower case, unless said otherwise. */
  readonly singular?: string
  readonly shortNames?: readonly string[]
  /** `all` makes `kubectl get all` show it. */
  readonly categories?: readonly string[]
  /** True unless said otherwise. */
  readonly namespaced?: boolean
  /** All of them unless said otherwise. */
  readonly verbs?: readonly Verb[]
  readonly scale?: ScaleMapping<T>
  /** Group and version are the kind's own unless said otherwise. */
  readonly subresources?: Readonly<Record<string, SubresourceOptions>>
  /** Name and age, unless said otherwise; for a converted version those of the hub. */
  readonly columns?: readonly ColumnSource<T>[]
  /** The order of the rows of a table, where it is not that of the list. */
  readonly tableOrder?: (a: T, b: T) => number
  readonly defaults?: (object: T, complete?: T) => T
  readonly deprecated?: string
}

type SubresourceOptions = Pick<SubresourceDefinition, 'kind' | 'verbs'> & Partial<SubresourceDefinition>

/** What a kind says of itself; the members of its strategy stand beside the rest. */
export interface KindOptions<T extends KubernetesObject> extends VersionOptions<T>, Strategy<T> {
  /** A subdomain (RFC 1123) unless said otherwise. */
  readonly nameFormat?: NameFormat
  readonly selectableFields?: Readonly<Record<string, FieldReader<T>>>
  /** Where the kind differs from what is usual. */
  readonly rules?: Partial<KindRules>
  /** `any`: finalizers need no prefix. Most kinds of upstream want one, unless the finalizer is a standard one. */
  readonly finalizers?: 'any'
  /** Versions served beside this one, which is the hub. */
  readonly versions?: readonly ConvertedVersion<T>[]
}

/** A kind from its schema and what cannot be derived from it. */
export function kind<T extends KubernetesObject>(schema: ObjectSchema<T>, options: KindOptions<T>): StoredKind<T> {
  const { nameFormat = 'dns1123-subdomain', selectableFields = {}, rules, finalizers, versions = [], ...rest } = options
  const { version, strategy } = split(rest)
  const definition = resourceDefinition(schema, version)
  return {
    ...definition,
    storageKey: `${definition.group || 'core'}/${definition.plural}`,
    served: true,
    versions: versions.map((version) => withColumns(version, definition.columns)),
    nameFormat,
    selectableFields,
    strategy: finalizers === 'any' ? strategy : withFinalizerCheck(strategy, definition.hasStatus),
    rules: { ...usualRules, ...rules },
  }
}

/** A version that has no columns of its own has the hub's: tables of upstream are the same in every version. */
function withColumns<H extends KubernetesObject>(
  version: ConvertedVersion<H>,
  columns: readonly Column<H>[],
): ConvertedVersion<H> {
  if (version.columns.length > 0) return version
  // All cells of a row are made one after the other.
  let last: { readonly object: KubernetesObject; readonly hub: H } | undefined
  const hubOf = (object: KubernetesObject): H => {
    if (last?.object === object) return last.hub
    const hub = version.toHub(object)
    if (hub instanceof Promise) throw new Error(`${version.kind} in ${version.version} needs columns of its own`)
    last = { object, hub }
    return hub
  }
  const through = columns.map((each) => ({
    ...each,
    cell: (object: KubernetesObject, nowMs: number) => each.cell(hubOf(object), nowMs),
  }))
  return { ...version, columns: through }
}

/** What a version says of itself beside what it shares with the hub. */
export interface ConvertedVersionOptions<H extends KubernetesObject, V extends KubernetesObject>
  extends Pick<ConvertedVersion<H, V>, 'toHub' | 'fromHub'>,
    Partial<Pick<ConvertedVersion<H, V>, 'hubFields'>>,
    VersionOptions<V> {}

/** A further version of a kind, for the `versions` of its hub. */
export function convertedVersion<H extends KubernetesObject, V extends KubernetesObject>(
  schema: ObjectSchema<V>,
  options: ConvertedVersionOptions<H, V>,
): ConvertedVersion<H, V> {
  const { toHub, fromHub, hubFields = {}, ...version } = options
  return {
    ...resourceDefinition(schema, { columns: [], ...version }),
    toHub,
    fromHub,
    hubFields,
  }
}

const usualRules: KindRules = {
  createsOnUpdate: false,
  updatesUnconditionally: true,
  returnsDeletedObject: false,
  keepsStatusOnCreate: false,
  dependents: 'collected',
}

function split<T extends KubernetesObject>(options: VersionOptions<T> & Strategy<T>) {
  const { plural, group, singular, shortNames, categories, namespaced, verbs, scale, subresources, columns, ...rest } =
    options
  const { tableOrder, defaults, deprecated, ...strategy } = rest
  const names = { plural, group, singular, shortNames, categories, namespaced, verbs }
  const version = { ...names, scale, subresources, columns, tableOrder, defaults, deprecated } as VersionOptions<T>
  return { version, strategy: strategy as Strategy<T> }
}

/** A version of a kind by itself: for what is served and stored nowhere. */
export function resourceDefinition<T extends KubernetesObject>(
  schema: ObjectSchema<T>,
  options: VersionOptions<T>,
): ResourceDefinition<T> {
  const { plural, group = groupOf(schema.name), namespaced = true, scale, tableOrder, defaults, deprecated } = options
  const name = shortName(schema.name)
  const version = versionOf(schema.name)
  const { columns = [nameColumn, ageColumn], subresources = {}, verbs = allVerbs } = options
  return {
    group,
    version,
    kind: name,
    listKind: `${name}List`,
    plural,
    singular: options.singular ?? name.toLowerCase(),
    shortNames: options.shortNames ?? [],
    categories: options.categories ?? [],
    namespaced,
    verbs,
    schema,
    // The status of what is only posted is in the answer, and nowhere else.
    hasStatus: Object.hasOwn(schema.fields, 'status') && verbs.includes('get'),
    ...(scale === undefined ? {} : { scale }),
    subresources: Object.fromEntries(
      Object.entries(subresources).map(([each, own]) => [each, { group, version, ...own }]),
    ),
    columns: columnsOf(schema, columns),
    ...(tableOrder === undefined ? {} : { tableOrder }),
    ...(defaults === undefined ? {} : { applyDefaults: defaults }),
    ...(deprecated === undefined ? {} : { deprecated }),
  }
}

/** Upstream checks the finalizers wherever it validates the metadata of a kind of its own. */
function withFinalizerCheck<T extends KubernetesObject>(strategy: Strategy<T>, hasStatus: boolean): Strategy<T> {
  const { validate, validateStatusUpdate } = strategy
  const check = ({ metadata }: T, errors: readonly FieldError[] = []): readonly FieldError[] =>
    metadata.finalizers === undefined ? errors : [...checkFinalizers(metadata), ...errors]
  return {
    ...strategy,
    validate: (object, requested) => check(object, validate?.(object, requested)),
    ...(hasStatus ? { validateStatusUpdate: (object, old) => check(object, validateStatusUpdate?.(object, old)) } : {}),
  }
}
