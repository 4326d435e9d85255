import {
  ApiError,
  apiVersionOf,
  builtinKinds,
  type KubernetesObject,
  type Lease,
  ofJsonForm,
  parseTime,
} from '@coracle/api'
import { convertFormerVersion } from '@coracle/api/legacy'
import type { Client, DiscoveredResource, ListOptions } from '@coracle/client'
import type { Clock } from '@coracle/environment'

/** Objects in a state, at most. */
export const stateObjectsMax = 1_000_000
/** Objects asked for in one request. */
export const statePageMax = 500

/** A cluster, as far as reading its state goes. */
export interface StateSource {
  readonly client: Client
  /** What it serves, in all versions: see `discoverResources`. */
  readonly resources: readonly DiscoveredResource[]
}

export interface ReadStateOptions {
  readonly clock: Clock
  /** Whether Events are read too; they are not unless said. */
  readonly events?: boolean
  readonly signal?: AbortSignal
}

/** Objects of one kind, as they were at `revision`. */
export interface StatePage {
  readonly resource: DiscoveredResource
  readonly objects: readonly KubernetesObject[]
}

/** A kind whose objects could not be read, and why. */
export interface StateGap {
  /** `secrets`, `widgets.example.dev`. */
  readonly resource: string
  /** `forbidden` where the reader has not the right to list it. */
  readonly reason: 'forbidden' | 'failed'
  readonly message: string
}

/** All objects of a cluster. */
export interface ClusterState {
  /** The revision of the source that all was read at, but for what `later` names. */
  readonly revision: string
  /** What time it was there, in milliseconds since 1970. */
  readonly takenAtMs: number
  /** Definitions of custom kinds come first; the rest in the order in which it was last written. */
  readonly objects: readonly KubernetesObject[]
  readonly gaps: readonly StateGap[]
  /** Resources read a little later than the others, because the source could not show them at that revision. */
  readonly later: readonly string[]
}

/**
 * Reads all objects of a cluster with the rights of the client, by lists alone. Everything is read at one revision, page by
 * page, where the source can show it: so it is what was there at one moment. What is forbidden, or cannot be listed, is named.
 */
export async function readState(source: StateSource, options: ReadStateOptions): Promise<ClusterState> {
  const reading = new StateReading(source, options)
  const objects: KubernetesObject[] = []
  for await (const page of reading.pages()) {
    objects.push(...page.objects)
    if (objects.length > stateObjectsMax) throw new Error(`there are more than ${stateObjectsMax} objects`)
  }
  const { revision, gaps, later } = reading
  return { revision, takenAtMs: timeOf(objects, options.clock.now()), objects: inOrder(objects), gaps, later }
}

/** A reading of a state under way: pages as they come, of each object once, definitions of custom kinds first. */
export class StateReading {
  readonly gaps: StateGap[] = []
  readonly later: string[] = []
  readonly #source: StateSource
  readonly #options: ReadStateOptions
  #revision = ''

  constructor(source: StateSource, options: ReadStateOptions) {
    this.#source = source
    this.#options = options
  }

  /** The revision of the source that all is read at, once it is known. */
  get revision(): string {
    return this.#revision
  }

  async *pages(): AsyncIterable<StatePage> {
    const seen = new Set<string>()
    for (const resource of resourcesToRead(this.#source.resources, this.#options.events === true)) {
      try {
        for await (const objects of this.#list(resource)) {
          // The same object may be served in two groups, as an Ingress once was.
          const fresh = objects.filter(({ kind, metadata }) => !seen.has(`${kind} ${metadata.uid}`))
          for (const { kind, metadata } of fresh) seen.add(`${kind} ${metadata.uid}`)
          if (fresh.length > 0) yield { resource, objects: fresh }
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const reason = error.code === 403 ? 'forbidden' : 'failed'
        this.gaps.push({ resource: nameOf(resource), reason, message: error.message })
      }
    }
  }

  async *#list(resource: DiscoveredResource): AsyncIterable<readonly KubernetesObject[]> {
    if (this.#revision !== '') {
      try {
        yield* this.#pagesOf(resource, { resourceVersion: this.#revision, resourceVersionMatch: 'Exact' })
        return
      } catch (error) {
        if (!(error instanceof ApiError && [400, 410, 422, 504].includes(error.code))) throw error
        this.later.push(nameOf(resource))
      }
    }
    yield* this.#pagesOf(resource, {})
  }

  async *#pagesOf(resource: DiscoveredResource, at: ListOptions): AsyncGenerator<readonly KubernetesObject[]> {
    const { signal } = this.#options
    const common: ListOptions = { limit: statePageMax, ...(signal === undefined ? {} : { signal }) }
    let next = ''
    do {
      const { items, metadata } = await this.#source.client.list(resource, {
        ...common,
        ...(next === '' ? at : { continue: next }),
      })
      if (this.#revision === '') this.#revision = metadata.resourceVersion ?? ''
      const type = { apiVersion: apiVersionOf(resource), kind: resource.kind }
      yield items.map((item) => ofJsonForm({ ...type, ...item }))
      next = metadata.continue ?? ''
    } while (next !== '')
  }
}

/** One version of each kind that is kept and can be listed, definitions of custom kinds first. */
function resourcesToRead(all: readonly DiscoveredResource[], events: boolean): readonly DiscoveredResource[] {
  const byKind = new Map<string, DiscoveredResource[]>()
  for (const resource of all) {
    if (!resource.verbs.includes('list') || !isKept(resource) || (!events && resource.kind === 'Event')) continue
    const key = `${resource.group}/${resource.plural}`
    byKind.set(key, [...(byKind.get(key) ?? []), resource])
  }
  const chosen = [...byKind.values()].map((versions) => versions.toSorted((a, b) => rankOf(a) - rankOf(b))[0])
  const found = chosen.filter((resource) => resource !== undefined)
  const isDefinition = ({ plural }: DiscoveredResource) => plural === 'customresourcedefinitions'
  return [...found.filter(isDefinition), ...found.filter((resource) => !isDefinition(resource))]
}

/** Whether objects of a resource are kept, and not made up when somebody asks. */
const isKept = ({ group, plural }: DiscoveredResource): boolean =>
  !group.endsWith('metrics.k8s.io') && group !== 'coracle.dev' && plural !== 'componentstatuses'

/** The version that says most here comes first: what objects are stored in, what is served beside it, what was served once. */
function rankOf(resource: DiscoveredResource): number {
  const apiVersion = apiVersionOf(resource)
  const { kind: name, group } = resource
  const isHub = builtinKinds.some((kind) => kind.kind === name && apiVersionOf(kind) === apiVersion)
  if (isHub) return 0
  const isServed = builtinKinds.some(
    ({ kind, versions }) => kind === name && versions.some((each) => apiVersionOf(each) === apiVersion),
  )
  if (isServed) return 1
  if (convertFormerVersion({ apiVersion, kind: name }) !== undefined) return 2
  return resource.isPreferredVersion || group === '' ? 3 : 4
}

const nameOf = ({ group, plural }: DiscoveredResource): string => (group === '' ? plural : `${plural}.${group}`)

/** How long ago somebody must have said to be alive, at most, for the clocks to agree: node agents do so every ten seconds. */
const signMaxMs = 60_000

/** The time of the source: the reader's, unless what was last said there to be alive shows that the clocks differ. */
function timeOf(objects: readonly KubernetesObject[], nowMs: number): number {
  const renewTimes = (objects as readonly Lease[]).flatMap(({ kind, spec }) =>
    kind === 'Lease' && spec?.renewTime !== undefined ? [parseTime(spec.renewTime)] : [],
  )
  const last = renewTimes.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY)
  return last === Number.NEGATIVE_INFINITY || (last <= nowMs && nowMs - last <= signMaxMs) ? nowMs : last
}

/** Definitions first, then as they were written: whoever reads the copy finds the order of the source. */
function inOrder(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const rank = ({ kind, metadata }: KubernetesObject): number =>
    kind === 'CustomResourceDefinition' ? -1 : Number(metadata.resourceVersion ?? 0)
  return objects.toSorted((a, b) => rank(a) - rank(b))
}
