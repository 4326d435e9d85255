import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { apiVersionOf, compareText, type ResourceDefinition, type Verb, versionRank } from '@coracle/api'
import { LoadOnce } from '@coracle/environment'
import type { Aggregator } from '../aggregation/aggregator.ts'
import { groupPriorityOf, versionPriorityOf } from '../aggregation/priorities.ts'
import { causes } from './causes-definition.ts'
import type { DiscoveryValue } from './discovery-protobuf.ts'
import { Documents, etagOf, type ServedVersions, sendDocument } from './documents.ts'
import type { Exchange } from './exchange.ts'
import { requireServedType } from './media-types.ts'
import { hasProtobufFields } from './protobuf.ts'
import { type Encoded, type Format, json } from './representation/format.ts'
import { mediaTypes, negotiate } from './representation/negotiation.ts'
import { protobuf } from './representation/protobuf-format.ts'
import { formatOf } from './representation/representation.ts'
import { send } from './respond.ts'

/** A resource as far as discovery tells of it. */
export type ListedResource = Pick<
  ResourceDefinition,
  | 'group'
  | 'version'
  | 'kind'
  | 'plural'
  | 'singular'
  | 'shortNames'
  | 'categories'
  | 'namespaced'
  | 'verbs'
  | 'hasStatus'
  | 'scale'
  | 'subresources'
> &
  Partial<Pick<ResourceDefinition, 'schema'>>

/** What other servers behind this one serve. */
export type RemoteVersions = Pick<Aggregator, 'generation' | 'groupVersions' | 'isRemote' | 'openApis'>

/**
 * What the server says of its kinds: the legacy documents (`/api`, `/apis`, `/apis/apps`, `/apis/apps/v1`) and
 * the aggregated one (apidiscovery.k8s.io, KEP-3352) that tells everything in one answer. Documents are made at the
 * first request for them and kept; an ETag of the aggregated ones lets clients ask whether theirs is still good.
 */
export class Discovery {
  readonly #served: ServedVersions
  readonly #remotes: RemoteVersions
  readonly #documents: Documents<DiscoveryDocument>

  constructor(served: ServedVersions, remotes: RemoteVersions) {
    this.#served = served
    this.#remotes = remotes
    this.#documents = new Documents({
      get generation() {
        // Both only rise.
        return served.generation + remotes.generation
      },
    })
  }

  /** What this server serves: versions of groups that others serve are theirs alone. */
  get #definitions(): readonly ListedResource[] {
    return definitionsOf(this.#served).filter(({ group, version }) => !this.#remotes.isRemote(group, version))
  }

  /** Also those of other servers, whatever they have said of them. */
  get #groupVersions(): readonly RankedVersion[] {
    return [...this.#definitions.map(rankedVersion), ...this.#remotes.groupVersions()]
  }

  /**
   * Answers a GET of `path`: in JSON, YAML or protobuf, as is asked for. False where it is no path of discovery. Throws NotAcceptable
   * (406) for whoever takes none of these.
   */
  handle(path: string, { request, response, query }: Exchange): false | void | Promise<void> {
    const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const legacy = this.#legacyDocument(trimmed, request)
    if (legacy === undefined) return false
    const { accept } = request.headers
    if (this.#isRoute(trimmed)) requireServedType(accept, mediaTypes)
    const isWhole = trimmed === '/api' || trimmed === '/apis'
    const accepted = negotiate(accept, isWhole ? 'discovery' : 'plain')
    const format = formatOf(accepted, request, query)
    if (accepted.isAggregated !== true) return send(response, 200, format.contentType, legacy.encode(format))
    const aggregated = this.#documents.get(`${trimmed} v2`, () => documentOf(this.#aggregated(trimmed)))
    const contentType = `${format.contentType};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`
    return sendDocument(request, response, { ...aggregated, contentType, bytes: aggregated.encode(format) }, 'public')
  }

  /** That of `/api` tells the address at which the server was asked, a document for each. */
  #legacyDocument(path: string, { socket }: IncomingMessage): DiscoveryDocument | undefined {
    if (path !== '/api') return this.#documents.get(path, () => documentOf(this.#legacy(path)))
    const { localAddress = '', localPort } = socket
    const address = `${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
    return this.#documents.get(`${path} ${address}`, () => documentOf(apiVersions(this.#definitions, address)))
  }

  /**
   * Whether upstream has a route for a path, which judges media types by itself: `/api`, and the versions that the program
   * brings. Other paths, and the versions of custom kinds, are answered apart from routes.
   */
  #isRoute(path: string): boolean {
    const [, prefix, group = '', version] = path.split('/')
    if (prefix === 'api') return true
    if (version === undefined) return false
    return this.#served
      .definitions()
      .some((each) => each.group === group && each.version === version && hasProtobufFields(each.schema))
  }

  /** The aggregated document of `/api` or `/apis`. */
  aggregated(path: string): unknown {
    return this.#aggregated(path)
  }

  #legacy(path: string): DiscoveryValue | undefined {
    if (path === '/apis') return groupList(groupsOf(this.#groupVersions))
    const [, prefix, ...rest] = path.split('/')
    if (prefix === 'api') {
      const [version = '', ...more] = rest
      return more.length > 0 ? undefined : resourceList(this.#served, '', version)
    }
    if (prefix !== 'apis') return undefined
    const [group = '', version, ...more] = rest
    if (group === '' || more.length > 0) return undefined
    if (version !== undefined) return resourceList(this.#served, group, version)
    const found = groupsOf(this.#groupVersions).find((each) => each.name === group)
    return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...found }
  }

  #aggregated(path: string): DiscoveryValue {
    const isWanted = ({ group }: Version) => (path === '/api' ? group === '' : group !== '')
    const definitions = this.#definitions
    const wanted = this.#groupVersions.filter(isWanted)
    const remotes = this.#remotes.groupVersions()
    const remoteOf = (group: string, version: string) =>
      remotes.find((each) => each.group === group && each.version === version)
    return {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
      items: groupNamesOf(wanted).map((group) => ({
        metadata: group === '' ? {} : { name: group },
        versions: versionsOf(wanted, group).map((version) => {
          const remote = remoteOf(group, version)
          if (remote === undefined) {
            const resources = kindsOf(definitions, group, version).map(aggregatedResource)
            return { version, resources, freshness: 'Current' }
          }
          const { resources } = remote
          const freshness = resources === undefined ? 'Stale' : 'Current'
          // What has none is left out, as upstream.
          return { version, ...(isEmpty(resources) ? {} : { resources }), freshness }
        }),
      })),
    }
  }
}

const isEmpty = (list: readonly unknown[] = []): boolean => list.length === 0

type Version = Pick<ListedResource, 'group' | 'version'>

/** A version of a group with its place among others. */
type RankedVersion = Version & { readonly groupPriority: number; readonly versionPriority: number }

const rankedVersion = ({ group, version }: Version): RankedVersion => ({
  group,
  version,
  groupPriority: groupPriorityOf(group),
  versionPriority: versionPriorityOf(group, version),
})

/** The kinds that are served, and the record of their causes, of which nothing is stored by itself. */
const definitionsOf = (served: ServedVersions): readonly ListedResource[] => [...served.definitions(), causes]

/** A document, and what it is in the formats in which it is asked for most. */
interface DiscoveryDocument {
  /** Of the JSON, whatever the format, as upstream. */
  readonly etag: string
  encode(format: Format): Encoded
}

function documentOf(value: DiscoveryValue): DiscoveryDocument
function documentOf(value: DiscoveryValue | undefined): DiscoveryDocument | undefined
function documentOf(value: DiscoveryValue | undefined): DiscoveryDocument | undefined {
  if (value === undefined) return undefined
  const jsonBytes = json.encode(value)
  const protobufBytes = new LoadOnce(async () => (await import('./discovery-protobuf.ts')).discoveryProtobuf(value))
  return {
    etag: etagOf(jsonBytes),
    encode(format) {
      if (format === json) return jsonBytes
      if (format !== protobuf) return format.encode(value)
      return protobufBytes.get()
    },
  }
}

interface Group {
  readonly name: string
  readonly versions: readonly GroupVersion[]
  readonly preferredVersion: GroupVersion
}

interface GroupVersion {
  readonly groupVersion: string
  readonly version: string
}

const apiVersions = (definitions: readonly ListedResource[], serverAddress: string) => ({
  kind: 'APIVersions',
  versions: versionsOf(definitions.map(rankedVersion), ''),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
})

const groupList = (groups: readonly Group[]) => ({ kind: 'APIGroupList', apiVersion: 'v1', groups })

function groupsOf(groupVersions: readonly RankedVersion[]): readonly Group[] {
  return groupNamesOf(groupVersions.filter(({ group }) => group !== '')).flatMap((name) => {
    const versions = versionsOf(groupVersions, name).map((version) => ({ groupVersion: `${name}/${version}`, version }))
    const [preferredVersion] = versions
    return preferredVersion === undefined ? [] : [{ name, versions, preferredVersion }]
  })
}

/** Versions of a group, the preferred one first: of equal priority stable before beta before alpha, newer before older. */
function versionsOf(groupVersions: readonly RankedVersion[], group: string): readonly string[] {
  const own = groupVersions.filter((each) => each.group === group)
  const sorted = own.toSorted(
    (a, b) =>
      b.versionPriority - a.versionPriority ||
      versionRank(b.version) - versionRank(a.version) ||
      compareText(a.version, b.version),
  )
  return [...new Set(sorted.map(({ version }) => version))]
}

/** Groups in the order of their priorities, which are the highest of their versions; of equal ones by name. */
function groupNamesOf(groupVersions: readonly RankedVersion[]): readonly string[] {
  const priorities = new Map<string, number>()
  for (const { group, groupPriority } of groupVersions)
    priorities.set(group, Math.max(groupPriority, priorities.get(group) ?? 0))
  const rank = (group: string): number => priorities.get(group) ?? 0
  return [...priorities.keys()].sort((a, b) => rank(b) - rank(a) || compareText(a, b))
}

const kindsOf = (definitions: readonly ListedResource[], group: string, version: string) =>
  definitions
    .filter((each) => each.group === group && each.version === version)
    .sort((a, b) => compareText(a.plural, b.plural))

function resourceList(served: ServedVersions, group: string, version: string): DiscoveryValue | undefined {
  const kinds = kindsOf(definitionsOf(served), group, version)
  const [first] = kinds
  if (first === undefined) return undefined
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: apiVersionOf(first),
    resources: kinds.flatMap((kind) => [
      { ...legacyResource(kind), ...storageVersionOf(served.of(kind)?.kind) },
      ...legacySubresources(kind),
    ]),
  }
}

const legacyResource = (definition: ListedResource) => ({
  name: definition.plural,
  singularName: definition.singular,
  namespaced: definition.namespaced,
  kind: definition.kind,
  verbs: verbsOf(definition),
  ...(definition.shortNames.length > 0 ? { shortNames: definition.shortNames } : {}),
  ...(definition.categories.length > 0 ? { categories: definition.categories } : {}),
})

/** What custom kinds can do, in the order upstream tells it in. */
const customVerbs: readonly Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

const isCustom = ({ schema }: ListedResource): boolean => schema?.dialect === 'structural'

function verbsOf(definition: ListedResource): readonly Verb[] {
  if (!isCustom(definition)) return [...definition.verbs].sort(compareText)
  return customVerbs.filter((verb) => definition.verbs.includes(verb))
}

/** Upstream's: the beginning of a hash of group, version and kind that objects are stored as. Nothing where none are. */
function storageVersionOf(stored: ResourceDefinition | undefined): { readonly storageVersionHash?: string } {
  if (stored === undefined) return {}
  const { group, version, kind } = stored
  const hash = createHash('sha256').update(`${group}/${version}/${kind}`).digest()
  return { storageVersionHash: hash.subarray(0, 8).toString('base64') }
}

const legacySubresources = (definition: ListedResource) =>
  subresourcesOf(definition).map(({ name, kind, group, version, verbs }) => ({
    name: `${definition.plural}/${name}`,
    singularName: '',
    namespaced: definition.namespaced,
    ...(group === definition.group && version === definition.version ? {} : { group, version }),
    kind,
    verbs,
  }))

/**
 * The kind that is answered with. As upstream the group and version are left empty where they are those that the document tells it under, but
 * for custom kinds.
 */
function responseKindOf({ group, version, kind }: Version & { readonly kind: string }, under: ListedResource) {
  const same = group === under.group && version === under.version && !isCustom(under)
  return same ? { group: '', version: '', kind } : { group, version, kind }
}

const aggregatedResource = (definition: ListedResource) => {
  const subresources = subresourcesOf(definition).map(({ name, verbs, ...answered }) => ({
    subresource: name,
    responseKind: responseKindOf(answered, definition),
    verbs,
  }))
  return {
    resource: definition.plural,
    responseKind: responseKindOf(definition, definition),
    scope: definition.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: definition.singular,
    verbs: verbsOf(definition),
    ...(definition.shortNames.length > 0 ? { shortNames: definition.shortNames } : {}),
    ...(definition.categories.length > 0 ? { categories: definition.categories } : {}),
    ...(subresources.length > 0 ? { subresources } : {}),
  }
}

/** A subresource as discovery lists it. */
interface Subresource {
  readonly name: string
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly verbs: readonly Verb[]
}

const statusVerbs: readonly Verb[] = ['get', 'patch', 'update']

/**
 * All subresources of a kind: its own, and those the server gives every kind that has a status or a scale. They are in the order of their
 * names; of custom kinds the status comes first.
 */
export function subresourcesOf(definition: ListedResource): readonly Subresource[] {
  const { group, version, kind } = definition
  const all = new Map<string, Subresource>()
  if (definition.hasStatus) all.set('status', { name: 'status', group, version, kind, verbs: statusVerbs })
  if (definition.scale !== undefined) {
    all.set('scale', { name: 'scale', group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: statusVerbs })
  }
  for (const [name, own] of Object.entries(definition.subresources)) {
    all.set(name, { ...own, name, verbs: [...own.verbs].sort(compareText) })
  }
  return isCustom(definition) ? [...all.values()] : [...all.values()].sort((a, b) => compareText(a.name, b.name))
}
