import {
  apiVersionOf,
  type CustomResourceColumn,
  type CustomResourceConversion,
  type CustomResourceDefinition,
  type CustomResourceScale,
  type InferFields,
  type KubernetesObject,
  kindSchema,
  type ObjectSchema,
  type Resource,
  writeCustomSchema,
} from '@coracle/api'

type Fields = Parameters<typeof kindSchema>[2]

/** A kind of one's own. Made by `customKind`. */
export interface CustomKind<V extends Readonly<Record<string, Resource>> = Readonly<Record<string, Resource>>> {
  /** What makes an API server serve it: apply it with `ensureCustomKind`, or print it with the `crd` command. */
  readonly definition: CustomResourceDefinition
  /** The resource of each version, typed by its schema: for clients, informers and controllers. */
  readonly versions: V
}

export interface CustomVersionOptions<F extends Fields = Fields> {
  /** The fields beside apiVersion, kind and metadata. Where there is a `status`, it is a subresource. */
  readonly fields: F
  /** Rules over the whole object. */
  readonly cel?: Parameters<typeof kindSchema>[3] extends infer O
    ? O extends { readonly cel?: infer C }
      ? C
      : never
    : never
  /** True by default. */
  readonly served?: boolean
  /** Objects are stored in this version. By default in the first that is named. */
  readonly storage?: boolean
  /** A warning to whoever uses this version; the text says what to use instead. */
  readonly deprecated?: string
  /** Columns of `kubectl get` beside the name. Without any there is the age. */
  readonly columns?: readonly CustomResourceColumn[]
  /** Where `kubectl scale` and autoscalers find counts. */
  readonly scale?: CustomResourceScale
  /** Paths that field selectors may name, such as `.spec.zone`. */
  readonly selectableFields?: readonly string[]
}

export interface CustomKindOptions<V extends Readonly<Record<string, CustomVersionOptions>>> {
  /** Of a domain one owns, such as `example.com`. */
  readonly group: string
  /** In CamelCase, singular. */
  readonly kind: string
  /** What `kubectl explain` says of it. */
  readonly doc: string
  /** By default the kind in lower case with the ending that English gives it. */
  readonly plural?: string
  readonly scope?: 'Namespaced' | 'Cluster'
  readonly shortNames?: readonly string[]
  /** `all` makes `kubectl get all` show it. */
  readonly categories?: readonly string[]
  /** By name, such as `v1`. */
  readonly versions: V
  /** How versions become each other, where only apiVersion changing is not enough: `conversionWebhook`. */
  readonly conversion?: CustomResourceConversion
}

/** The static type of the objects of a resource. */
export type ObjectOf<R> = R extends Resource<infer T> ? T : never

type VersionResources<V> = {
  readonly [K in keyof V]: V[K] extends CustomVersionOptions<infer F>
    ? Resource<KubernetesObject & InferFields<F>>
    : never
}

/**
 * Describes a kind once, in the schema language: the static type of its objects, the CustomResourceDefinition that makes a server
 * serve it, and the resource by which clients address it follow from that. Throws a TypeError where a schema says something a
 * CustomResourceDefinition cannot.
 *
 *     const website = customKind({
 *       group: 'example.com', kind: 'Website', doc: 'A website.',
 *       versions: { v1: { fields: { spec: required(object('', 'What is wanted.', { image: required(string(), '…') }), '…') } } },
 *     })
 *     type Website = ObjectOf<typeof website.versions.v1>
 */
export function customKind<const V extends Readonly<Record<string, CustomVersionOptions>>>(
  options: CustomKindOptions<V>,
): CustomKind<VersionResources<V>> {
  const {
    group,
    kind,
    doc,
    scope = 'Namespaced',
    plural = pluralOf(kind),
    shortNames,
    categories,
    conversion,
  } = options
  const versions = Object.entries(options.versions)
  const stored = versions.find(([, { storage }]) => storage === true)?.[0] ?? versions[0]?.[0]
  const definition: CustomResourceDefinition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames === undefined ? {} : { shortNames }),
        ...(categories === undefined ? {} : { categories }),
      },
      versions: versions.map(([name, version]) => versionOf(name, version, doc, name === stored)),
      ...(conversion === undefined ? {} : { conversion }),
    },
  }
  const resources = versions.map(([version]) => [
    version,
    { group, version, kind, plural, namespaced: scope === 'Namespaced' } satisfies Resource,
  ])
  return { definition, versions: Object.fromEntries(resources) }
}

type DefinitionVersion = CustomResourceDefinition['spec']['versions'][number]

function versionOf(name: string, options: CustomVersionOptions, doc: string, storage: boolean): DefinitionVersion {
  const { fields, cel, served = true, deprecated, columns, scale, selectableFields = [] } = options
  const schema = kindSchema('', doc, fields, cel === undefined ? {} : { cel })
  const hasStatus = Object.hasOwn(fields, 'status')
  return {
    name,
    served,
    storage,
    ...(deprecated === undefined ? {} : { deprecated: true, deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: writeCustomSchema(schema as ObjectSchema) },
    ...(hasStatus || scale !== undefined
      ? { subresources: { ...(hasStatus ? { status: {} } : {}), ...(scale === undefined ? {} : { scale }) } }
      : {}),
    ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
    ...(selectableFields.length === 0 ? {} : { selectableFields: selectableFields.map((jsonPath) => ({ jsonPath })) }),
  }
}

/** As apimachinery guesses it: policies, classes, websites. */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (/(s|x|z|ch|sh)$/.test(singular)) return `${singular}es`
  return /[^aeiou]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

/** An object of a kind without what only the server fills in, for `create` and `apply`. */
export function newObject<T extends KubernetesObject>(
  resource: Resource<T>,
  object: Omit<T, 'apiVersion' | 'kind'>,
): T {
  // What is missing of the type is what this adds.
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, ...object } as unknown as T
}
