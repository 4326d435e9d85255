import { compile, type Infer } from '@coracle/api'
import type { apiGroupDiscoveryListSchema, apiResourceListSchema } from '@coracle/api/discovery'

type GroupDiscovery = Infer<typeof apiGroupDiscoveryListSchema>['items'][number]
type VersionDiscovery = NonNullable<GroupDiscovery['versions']>[number]
type ApiResource = Infer<typeof apiResourceListSchema>['resources'][number]

/** A resource of another server with its subresources, as aggregated discovery shows it. */
export type RemoteResource = NonNullable<VersionDiscovery['resources']>[number]
type RemoteSubresource = NonNullable<RemoteResource['subresources']>[number]

/** What a server tells of all its groups at once: resources by `group/version`. */
export type RemoteVersionResources = ReadonlyMap<string, readonly RemoteResource[]>

/** Reads an APIGroupDiscoveryList. Throws where it is none. */
export async function aggregatedResources(document: unknown): Promise<RemoteVersionResources> {
  const { apiGroupDiscoveryListSchema } = await import('@coracle/api/discovery')
  const { value } = compile(apiGroupDiscoveryListSchema).decode(document, lenient)
  const versions = (value.items ?? []).flatMap(({ metadata, versions = [] }) =>
    versions.map(({ version, resources = [] }) => {
      return [`${metadata?.name ?? ''}/${version}`, resources.map(withResponseKinds)] as const
    }),
  )
  return new Map(versions)
}

/**
 * Reads an APIResourceList, which is what older servers tell of a version of a group; a resource that has nothing but subresources stands
 * for them (upstream: ConvertGroupVersionIntoToDiscovery). Throws where it is none.
 */
export async function legacyResources(document: unknown): Promise<readonly RemoteResource[]> {
  const { apiResourceListSchema } = await import('@coracle/api/discovery')
  const { value } = compile(apiResourceListSchema).decode(document, lenient)
  const listed = value.resources ?? []
  const own = listed.filter(({ name }) => !name.includes('/'))
  const below = Map.groupBy(
    listed.filter(({ name }) => name.includes('/')),
    ({ name }) => name.slice(0, name.indexOf('/')),
  )
  const names = new Set([...own.map(({ name }) => name), ...below.keys()])
  return [...names].map((name) => {
    const resource = own.find((each) => each.name === name)
    return resourceOf(name, resource, below.get(name) ?? [])
  })
}

/** What a server says in addition is none of ours. */
const lenient = { fieldValidation: 'Ignore' } as const

function resourceOf(name: string, own: ApiResource | undefined, subresources: readonly ApiResource[]): RemoteResource {
  const namespaced = (own ?? subresources[0])?.namespaced === true
  const other = subresources.find((each) => (each.namespaced === true) !== namespaced)
  if (other !== undefined) throw new Error(`${name} and ${other.name} are not both namespaced`)
  return {
    resource: name,
    responseKind: responseKindOf(own),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: own?.singularName ?? '',
    verbs: own?.verbs ?? [],
    ...(own?.shortNames === undefined ? {} : { shortNames: own.shortNames }),
    ...(own?.categories === undefined ? {} : { categories: own.categories }),
    ...(subresources.length === 0 ? {} : { subresources: subresources.map((each) => subresourceOf(name, each)) }),
  }
}

const subresourceOf = (parent: string, each: ApiResource): RemoteSubresource => ({
  subresource: each.name.slice(parent.length + 1),
  responseKind: responseKindOf(each),
  verbs: each.verbs ?? [],
})

/** Group and version are left empty where they are those of the list. */
const responseKindOf = (resource: ApiResource | undefined) =>
  resource?.kind === undefined || resource.kind === ''
    ? noKind
    : { group: resource.group ?? '', version: resource.version ?? '', kind: resource.kind }

/** Clients of some versions read it unasked. */
const noKind = { group: '', version: '', kind: '' }

const withResponseKinds = (resource: RemoteResource): RemoteResource => ({
  ...resource,
  responseKind: resource.responseKind ?? noKind,
  ...(resource.subresources === undefined
    ? {}
    : { subresources: resource.subresources.map((each) => ({ ...each, responseKind: each.responseKind ?? noKind })) }),
})
