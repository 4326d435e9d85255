import { ApiError, type Resource, type Verb } from '@coracle/api'

/** A resource as a server announces it. */
export interface DiscoveredResource extends Resource {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly Verb[]
  /** Names such as `status` and `scale`. */
  readonly subresources: readonly string[]
  /** Whether this version is the first the server names for the group. */
  readonly isPreferredVersion: boolean
}

/** Gets the JSON under a path, accepting these media types. */
export type Fetch = (path: string, accept: string) => Promise<unknown>

/**
 * All resources of a server in the order it names them: by aggregated discovery (KEP-3352), or group by group where it has none. As with
 * client-go and with aggregated discovery, a group whose own server does not answer has none.
 */
export async function discoverResources(fetch: Fetch): Promise<readonly DiscoveredResource[]> {
  const parts = await Promise.all(['/api', '/apis'].map((path) => discoverUnder(path, fetch)))
  return parts.flat()
}

const aggregatedAccept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

async function discoverUnder(path: string, fetch: Fetch): Promise<readonly DiscoveredResource[]> {
  const answer = await fetch(path, aggregatedAccept)
  switch ((answer as { readonly kind?: string }).kind) {
    case 'APIGroupDiscoveryList':
      return fromAggregated(answer as AggregatedList)
    case 'APIVersions':
      return fromVersions('', path, (answer as { readonly versions: readonly string[] }).versions, fetch)
    case 'APIGroupList': {
      const { groups } = answer as { readonly groups: readonly LegacyGroup[] }
      const parts = groups.map(({ name, versions }) =>
        fromVersions(
          name,
          `${path}/${name}`,
          versions.map(({ version }) => version),
          fetch,
        ),
      )
      return (await Promise.all(parts)).flat()
    }
    default:
      throw new Error(`${path} of the server is no discovery document`)
  }
}

interface AggregatedList {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string }
    readonly versions?: readonly { readonly version: string; readonly resources?: readonly AggregatedResource[] }[]
  }[]
}

interface AggregatedResource {
  readonly resource: string
  readonly responseKind?: { readonly kind?: string }
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource?: string
  readonly verbs?: readonly Verb[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly { readonly subresource: string }[]
}

function fromAggregated({ items = [] }: AggregatedList): readonly DiscoveredResource[] {
  return items.flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version, resources = [] }, index) =>
      resources.map((resource) => ({
        group: metadata?.name ?? '',
        version,
        kind: resource.responseKind?.kind ?? '',
        plural: resource.resource,
        namespaced: resource.scope === 'Namespaced',
        singular: resource.singularResource ?? '',
        shortNames: resource.shortNames ?? [],
        categories: resource.categories ?? [],
        verbs: resource.verbs ?? [],
        subresources: (resource.subresources ?? []).map(({ subresource }) => subresource),
        isPreferredVersion: index === 0,
      })),
    ),
  )
}

interface LegacyGroup {
  readonly name: string
  readonly versions: readonly { readonly version: string }[]
}

interface LegacyResource {
  readonly name: string
  readonly singularName?: string
  readonly namespaced: boolean
  readonly kind: string
  readonly verbs?: readonly Verb[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
}

async function fromVersions(
  group: string,
  path: string,
  versions: readonly string[],
  fetch: Fetch,
): Promise<readonly DiscoveredResource[]> {
  const lists = versions.map(async (version, index) => {
    const asked = fetch(`${path}/${version}`, 'application/json')
    const list = (await (group === '' ? asked : asked.catch(nothingWhereUnavailable))) as {
      readonly resources?: readonly LegacyResource[]
    }
    return fromLegacyList(group, version, list.resources ?? [], index === 0)
  })
  return (await Promise.all(lists)).flat()
}

/** Servers behind others come and go; and a group that is just being removed is named a moment longer than it is there. */
function nothingWhereUnavailable(error: unknown): object {
  if (error instanceof ApiError && (error.code >= 500 || error.code === 404)) return {}
  throw error
}

/** The old form lists subresources beside their resources, as `pods/log`. */
function fromLegacyList(
  group: string,
  version: string,
  resources: readonly LegacyResource[],
  isPreferredVersion: boolean,
): readonly DiscoveredResource[] {
  const subresourcesOf = (name: string) =>
    resources
      .filter((resource) => resource.name.startsWith(`${name}/`))
      .map((resource) => resource.name.slice(name.length + 1))
  return resources
    .filter((resource) => !resource.name.includes('/'))
    .map((resource) => ({
      group,
      version,
      kind: resource.kind,
      plural: resource.name,
      namespaced: resource.namespaced,
      singular: resource.singularName ?? '',
      shortNames: resource.shortNames ?? [],
      categories: resource.categories ?? [],
      verbs: resource.verbs ?? [],
      subresources: subresourcesOf(resource.name),
      isPreferredVersion,
    }))
}
