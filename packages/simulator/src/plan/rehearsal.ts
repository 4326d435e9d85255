import { hasReason, type KubernetesObject, type Pod, pods, type Service } from '@coracle/api'
import { type Client, type DiscoveredResource, type Interceptor, interceptClient } from '@coracle/client'
import {
  type Cluster,
  type ClusterState,
  type ComponentSeams,
  hasAddressesOfNodes,
  loadState,
  loadWhatClustersNeedLater,
  type StateReport,
  startCluster,
} from '@coracle/cluster'
import { type VirtualClock, type VirtualEnvironment, virtualEnvironment } from '@coracle/environment'
import type { SoleWriterStore } from '@coracle/store'
import { createMemoryStore } from '@coracle/store/memory'
import { assumingUnread } from './assumed-objects.ts'
import { type Assumptions, behaviourOf, promptly } from './assumptions.ts'
import { isolate } from './isolate.ts'
import { isUnderWay } from './progress.ts'
import { type RecordedChange, type RecordedNote, Recording } from './recording.ts'

export interface RehearsalOptions {
  /** The same seed and the same state give the same run, byte for byte; 1 unless given. */
  readonly seed?: number
  readonly assumptions?: Assumptions
  /** How much virtual time a change may take, in milliseconds; 15 minutes unless given. */
  readonly timeoutMs?: number
}

/** What came of playing a change. Times are those of the copy's clock, in milliseconds since 1970. */
export interface Rehearsed {
  /** When the change was made. */
  readonly startMs: number
  readonly endMs: number
  /** Everything there was just before the change. */
  readonly before: readonly KubernetesObject[]
  /** What controllers did at once when they found the copy: that was under way without the change. */
  readonly underWay: readonly RecordedChange[]
  readonly changes: readonly RecordedChange[]
  readonly notes: readonly RecordedNote[]
  readonly after: readonly KubernetesObject[]
  /** Whether whoever makes the change was done with it. */
  readonly isDone: boolean
  /** Whether more happened than is recorded. */
  readonly isCutShort: boolean
}

const timeoutDefaultMs = 15 * 60_000
/** How far time goes between two looks. */
const stepMs = 1000
/** How long nothing must have happened for all to be over, where nothing is under way; else only the time limit ends it. */
const quietMs = 30_000

/**
 * A copy of a cluster in which a change is played before it is made. The copy runs on a virtual clock that begins at the time of
 * the source; nothing in it reaches the source, or anything else outside this process.
 */
export class Rehearsal implements AsyncDisposable {
  /** What did not find its way into the copy. */
  readonly report: StateReport
  /** Who would be asked about a change, and is not: see `isolate`. */
  readonly notAsked: readonly string[]
  readonly environment: VirtualEnvironment
  /** The copy's API, as an administrator. */
  readonly client: Client
  readonly #cluster: Cluster
  readonly #store: SoleWriterStore
  readonly #recording: Recording
  readonly #timeoutMs: number

  private constructor(parts: Parts, cluster: Cluster, timeoutMs: number) {
    this.report = parts.report
    this.notAsked = parts.notAsked
    this.environment = parts.environment
    this.#cluster = cluster
    this.#store = parts.store
    this.#recording = parts.recording
    this.#timeoutMs = timeoutMs
    this.client = hearingClient(cluster.client, this.#recording)
  }

  /** Starts a copy of a state. Resolves when it has settled, without any time passing. */
  static async open(state: ClusterState, options: RehearsalOptions = {}): Promise<Rehearsal> {
    const { seed = 1, assumptions = promptly, timeoutMs = timeoutDefaultMs } = options
    const world = virtualEnvironment({ seed, start: state.takenAtMs })
    // A simulated source may have had the same seed: nothing new may get a uid that is there already.
    const random = world.random.fork(`copy of revision ${state.revision}`)
    const environment = { ...world, random }
    const { clock } = environment
    const store = createMemoryStore()
    const { state: isolated, notAsked } = isolate(state)
    const report = await loadState(store, isolated, environment)
    const recording = await Recording.start(clock, store)
    const behaviour = behaviourOf({
      assumptions,
      random: random.fork('containers'),
      podOf: (namespace, name) => recording.podOf(namespace, name),
      initial: recording.objects().filter(({ kind }) => kind === 'Pod') as unknown as readonly Pod[],
      nowMs: () => clock.now(),
    })
    const unread = assumingUnread(state.gaps)
    const seams: ComponentSeams = {
      client: (component, client) => (component === 'nodes' ? interceptClient(() => client, unread) : client),
    }
    // Nobody knows what load there will be.
    await loadWhatClustersNeedLater()
    const cluster = await startCluster({
      environment,
      store,
      storedNodes: true,
      behaviour,
      seams,
      load: 'steady',
      // Where services have addresses of nodes they keep them, and others get some.
      loadBalancerAddresses: state.objects.some(
        (each) => each.kind === 'Service' && hasAddressesOfNodes(each as Service),
      )
        ? 'nodes'
        : 'none',
    })
    await clock.settle()
    return new Rehearsal({ report, notAsked, environment, store, recording }, cluster, timeoutMs)
  }

  /** Everything the copy serves. */
  discover(): Promise<readonly DiscoveredResource[]> {
    return this.#cluster.discover()
  }

  /** Makes a change and lets time pass until nothing comes of it any more. Call it once. */
  play(change: () => Promise<unknown>): Promise<Rehearsed> {
    return playOn(this.environment.clock, this.#recording, change, this.#timeoutMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#recording.close()
    await this.#cluster.stop()
    await this.#store.close()
  }
}

/** Makes a change in a cluster that is recorded, and lets time pass until nothing comes of it any more, or the time is over. */
export async function playOn(
  clock: VirtualClock,
  recording: Recording,
  change: () => Promise<unknown>,
  timeoutMs: number = timeoutDefaultMs,
): Promise<Rehearsed> {
  const startMs = clock.now()
  const before = recording.objects()
  const underWay = recording.changes.splice(0)
  const waiting = new Set(before.filter(isUnderWay).map(({ metadata }) => metadata.uid))
  let isDone = false
  const end = () => {
    isDone = true
  }
  change().then(end, end)
  await clock.settle()
  while (!(isDone && isOver(clock, recording, waiting)) && clock.now() - startMs < timeoutMs && !recording.isFull) {
    await clock.advance(Math.min(stepMs, startMs + timeoutMs - clock.now()))
  }
  return {
    startMs,
    endMs: clock.now(),
    before,
    underWay,
    changes: [...recording.changes],
    notes: [...recording.notes],
    after: recording.objects(),
    isDone,
    isCutShort: recording.isFull,
  }
}

/** Whether nothing happens any more. What was `waiting` before the change may do so for ever. */
function isOver(clock: VirtualClock, recording: Recording, waiting: ReadonlySet<string | undefined>): boolean {
  if (clock.now() - recording.lastChangeMs < quietMs) return false
  return !recording
    .objects()
    .some((object) => isUnderWay(object) && !waiting.has(object.metadata.uid) && !recording.isBackground(object))
}

interface Parts {
  readonly report: StateReport
  readonly notAsked: readonly string[]
  readonly environment: VirtualEnvironment
  readonly store: SoleWriterStore
  readonly recording: Recording
}

/** A client for whoever makes a change that is recorded: what is refused is noted. */
export const hearingClient = (client: Client, recording: Recording): Client =>
  interceptClient(() => client, evictionsHeard(recording))

/** Notes evictions that budgets refuse: nothing is written then. */
function evictionsHeard(recording: Recording): Interceptor {
  return {
    async call({ resource, subresource, namespace = '', name }, proceed) {
      try {
        return await proceed()
      } catch (error) {
        const isEviction = resource.plural === pods.plural && subresource === 'eviction'
        const object = isEviction && hasReason(error, 'TooManyRequests') ? recording.podOf(namespace, name) : undefined
        if (object !== undefined) recording.note({ type: 'eviction-refused', object, message: messageOf(error) })
        throw error
      }
    },
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
