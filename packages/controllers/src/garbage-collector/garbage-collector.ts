import { type CauseClaim, hasReason, type KubernetesObject, type OwnerReference, type Resource } from '@coracle/api'
import { type Client, createEventRecorder, createWorkQueue, type EventRecorder, type WorkQueue } from '@coracle/client'
import { type ActionRecord, type Manager, NewlySeen, type RecordedObject } from '@coracle/controller-runtime'
import { type Environment, type MetricsRegistry, SharedTurn } from '@coracle/environment'
import { AbsentOwners } from './absent-owners.ts'
import {
  blockingDependents,
  DependencyGraph,
  foregroundFinalizer,
  type GraphNode,
  inOrder,
  isBlocked,
  isDeletingDependents,
  orphanFinalizer,
} from './graph.ts'
import { formatIdentity, type Identity, identityOf, identityOfOwner } from './identity.ts'
import { Kinds } from './kinds.ts'
import { LiveObjects } from './live-objects.ts'
import { Monitors } from './monitors.ts'
import { ObjectEditor } from './object-editor.ts'
import { type GarbageDecision, type OwnerState, planGarbage } from './plan.ts'

/** Objects looked at and deleted at a time. Their writes reach the disk together. */
export const deletionsParallelMax = 64

/** Owners of one object that are looked for at a time. */
export const ownersParallelMax = 64

/** Owners whose dependents are freed at a time, which share searches for more of them, and dependents of one. */
export const orphaningsParallelMax = 16
export const orphansParallelMax = 64

export interface GarbageCollectorOptions {
  readonly client: Client
  readonly environment: Environment
  /** The shared informer of a resource, as a manager gives it. */
  readonly informer: Manager['informer']
  /** What can own and be owned: all that can be listed, watched and deleted, in one version each. */
  readonly resources: () => readonly Resource[]
  /** Calls `listener` whenever `resources` gives others, until the returned function is called. Absent: it never does. */
  readonly onResourcesChange?: (listener: () => void) => () => void
  readonly metrics?: MetricsRegistry
  readonly onAction?: (record: ActionRecord) => void
}

/** Deletes what nobody owns any more, over all kinds. */
export interface GarbageCollector {
  readonly name: string
  /** Starts; resolves once it knows all objects of the resources there are. Call once. */
  start(): Promise<void>
  /** Resolves when nothing is under way any more. For good. */
  stop(): Promise<void>
  /** From now on takes in the objects of one more resource, such as that of a new CustomResourceDefinition. */
  addResource(resource: Resource): void
  /** Forgets a resource that is no longer served. */
  removeResource(resource: Resource): Promise<void>
}

/** A garbage collector that has yet to be started. */
export function createGarbageCollector(options: GarbageCollectorOptions): GarbageCollector {
  return new GraphCollector(options)
}

/** Sees to one object, for changes of these revisions. */
type Attempt = (uid: string, seen: readonly number[]) => Promise<'again' | undefined>

class GraphCollector implements GarbageCollector {
  readonly name = 'generic-garbage-collector'
  readonly #options: GarbageCollectorOptions
  readonly #environment: Environment
  readonly #kinds = new Kinds()
  readonly #graph: DependencyGraph
  readonly #live: LiveObjects
  readonly #editor: ObjectEditor
  readonly #recorder: EventRecorder
  readonly #deletions: WorkQueue
  readonly #orphanings: WorkQueue
  readonly #monitors: Monitors
  readonly #stopping = new AbortController()
  readonly #turn: SharedTurn
  #workers: Promise<unknown> = Promise.resolve()
  /** The changes each object was queued for, and the one that the graph takes in now. */
  readonly #seen = new NewlySeen()
  #change: KubernetesObject | undefined

  constructor(options: GarbageCollectorOptions) {
    const { client, environment, metrics } = options
    const absentOwners = new AbsentOwners()
    this.#options = options
    this.#environment = { ...environment, logger: environment.logger.child({ controller: this.name }) }
    this.#turn = SharedTurn.of(environment.clock)
    this.#live = new LiveObjects(client, this.#kinds, absentOwners)
    this.#editor = new ObjectEditor(client, this.#kinds, this.#live, environment)
    this.#recorder = createEventRecorder(client, environment, { component: 'garbage-collector-controller' })
    this.#deletions = createWorkQueue(environment.clock, { name: 'garbage_collector_attempt_to_delete', metrics })
    this.#orphanings = createWorkQueue(environment.clock, { name: 'garbage_collector_attempt_to_orphan', metrics })
    this.#graph = new DependencyGraph(absentOwners, {
      attemptDelete: ({ identity }, attempt) => {
        this.#note(identity.uid)
        if (attempt?.isRetry === true) this.#deletions.addRateLimited(identity.uid)
        else this.#deletions.add(identity.uid)
      },
      attemptOrphan: ({ identity }) => {
        this.#note(identity.uid)
        this.#orphanings.add(identity.uid)
      },
      namespaceMismatch: (dependent, ownerUid) => this.#reportMismatch(dependent, ownerUid),
    })
    const graph = {
      observe: (object: KubernetesObject) => this.#during(object, () => this.#graph.observe(object)),
      remove: (object: KubernetesObject) => this.#during(object, () => this.#graph.remove(object.metadata.uid ?? '')),
      forget: (uid: string) => this.#graph.forget(uid),
    }
    this.#monitors = new Monitors(graph, this.#kinds, { ...options, environment: this.#environment })
  }

  async start(): Promise<void> {
    const { signal } = this.#stopping
    try {
      // Before all is known, owners that are merely not listed yet would each cost a read.
      await this.#monitors.start(signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    this.#workers = Promise.all([
      ...this.#work(this.#deletions, deletionsParallelMax, (uid, seen) => this.#attemptDelete(uid, seen)),
      ...this.#work(this.#orphanings, orphaningsParallelMax, (uid, seen) => this.#attemptOrphan(uid, seen)),
    ])
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the garbage collector is stopped'))
    this.#deletions.shutDown()
    this.#orphanings.shutDown()
    await this.#workers
    await this.#monitors.stop()
    this.#recorder.stop()
  }

  addResource(resource: Resource): void {
    this.#monitors.add(resource)
  }

  removeResource(resource: Resource): Promise<void> {
    return this.#monitors.remove(resource)
  }

  #work(queue: WorkQueue, workers: number, attempt: Attempt): readonly Promise<void>[] {
    return Array.from({ length: workers }, async () => {
      for (;;) {
        const uid = await queue.get()
        if (uid === undefined) return
        // Requests wait as long as nobody else gets the process.
        await this.#turn.giveWay()
        await this.#try(queue, uid, attempt)
        queue.done(uid)
      }
    })
  }

  #during(change: KubernetesObject, takeIn: () => void): void {
    this.#change = change
    takeIn()
    this.#change = undefined
  }

  #note(uid: string): void {
    if (this.#change !== undefined) this.#seen.add(uid, this.#change)
  }

  async #try(queue: WorkQueue, uid: string, attempt: Attempt): Promise<void> {
    const seen = this.#seen.take(uid)
    try {
      if ((await attempt(uid, seen)) === 'again') {
        this.#seen.giveBack(uid, seen)
        queue.addRateLimited(uid)
      } else queue.forget(uid)
    } catch (error) {
      this.#seen.giveBack(uid, seen)
      if (this.#stopping.signal.aborted) return
      const fields = { ...(this.#graph.get(uid)?.identity ?? { uid }), error: messageOf(error) }
      // A conflict only says that the object is newer than the graph: it is part of the game.
      if (hasReason(error, 'Conflict')) this.#environment.logger.info('met a newer object, trying again', fields)
      else
        this.#environment.logger.warn('collection failed, trying again', {
          ...fields,
          failures: queue.retries(uid) + 1,
        })
      queue.addRateLimited(uid)
    }
  }

  async #attemptDelete(uid: string, seen: readonly number[]): Promise<'again' | undefined> {
    const node = this.#graph.get(uid)
    if (node === undefined) return undefined
    const { object } = node
    if (object === undefined) return this.#verify(node)
    // What is deleted already needs no owners to be looked at.
    const isGoing = object.metadata.deletionTimestamp !== undefined
    const owners = isGoing ? [] : await this.#ownersOf(node, object)
    const decision = planGarbage({
      object,
      owners,
      hasDependents: node.dependents.size > 0,
      isBlocked: isGoing && isBlocked(node),
      hasWaitingDependent: [...node.dependents].some(isDeletingDependents),
    })
    await this.#perform(node, object, decision, seen)
    return undefined
  }

  /** A virtual node is an owner that somebody names: either it is seen in time, or it is not there. */
  async #verify(node: GraphNode): Promise<'again' | undefined> {
    const { identity } = node
    const found = await this.#live.find(identity)
    if (found === undefined) this.#graph.removeAbsent(identity)
    // It is there; until the graph has seen it, it may still have come and gone unseen.
    return found === undefined || found === 'impossible' ? undefined : 'again'
  }

  async #ownersOf(node: GraphNode, { metadata: { ownerReferences = [] } }: KubernetesObject) {
    const owners: { readonly reference: OwnerReference; readonly state: OwnerState }[] = []
    for (let from = 0; from < ownerReferences.length; from += ownersParallelMax) {
      if (from > 0) await this.#turn.giveWay()
      const batch = ownerReferences.slice(from, from + ownersParallelMax)
      for (const owner of await Promise.all(batch.map((each) => this.#ownerOf(node, each)))) owners.push(owner)
    }
    return owners
  }

  async #ownerOf(node: GraphNode, reference: OwnerReference) {
    const state = await this.#live.ownerState(reference, node.identity.namespace)
    const owner = this.#graph.get(reference.uid)
    // A read that was under way already may be older than what the graph has seen.
    const isWaiting = state === 'solid' && owner !== undefined && isDeletingDependents(owner)
    return { reference, state: isWaiting ? ('waiting' as const) : state }
  }

  async #perform(
    node: GraphNode,
    object: KubernetesObject,
    decision: GarbageDecision,
    seen: readonly number[],
  ): Promise<void> {
    const { signal } = this.#stopping
    switch (decision.type) {
      case 'keep':
        return
      case 'awaitDependents':
        for (const dependent of blockingDependents(node)) {
          if (isDeletingDependents(dependent)) continue
          this.#seen.add(dependent.identity.uid, object)
          this.#deletions.add(dependent.identity.uid)
        }
        return
      case 'finish':
        return this.#record('patch', node, decision.because, seen, (cause) =>
          this.#editor.removeFinalizer(node, foregroundFinalizer, cause, signal),
        )
      case 'dropOwners':
        return this.#record('patch', node, decision.because, seen, (cause) =>
          this.#editor.dropOwners(node, decision.uids, cause, signal),
        )
      case 'delete':
        return this.#delete(node, object, decision, seen)
    }
  }

  async #delete(
    node: GraphNode,
    object: KubernetesObject,
    decision: GarbageDecision & { type: 'delete' },
    seen: readonly number[],
  ): Promise<void> {
    const { propagationPolicy, unblocksOwners, because } = decision
    const { apiVersion, kind, namespace, name, uid } = node.identity
    const claim = this.#claimOf(node, because, seen)
    const latest = unblocksOwners ? await this.#editor.unblockOwners(node, claim, this.#stopping.signal) : object
    const { resourceVersion } = (latest ?? object).metadata
    // With the version as a precondition an owner that the object has got meanwhile is not overlooked.
    const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) }
    await this.#record('delete', node, because, seen, async (cause) => {
      try {
        const key = namespace === '' ? { name } : { namespace, name }
        await this.#options.client.delete(this.#kinds.require(apiVersion, kind), key, {
          preconditions,
          propagationPolicy,
          ...cause,
        })
      } catch (error) {
        if (!hasReason(error, 'NotFound')) throw error
        this.#graph.removeAbsent(node.identity)
      }
    })
  }

  async #attemptOrphan(uid: string, seen: readonly number[]): Promise<undefined> {
    const node = this.#graph.get(uid)
    if (node?.object === undefined) return undefined
    const because = `${node.identity.kind} ${node.identity.name} is being deleted without its dependents`
    await this.#free(inOrder(node.dependents), uid, because, seen)
    // The graph may be behind: those it has not heard of would be collected when the owner is gone.
    const left = (await this.#live.dependentsOf(node.identity)).map(nodeOf)
    await this.#free(inOrder(left), uid, because, seen)
    await this.#record('patch', node, 'its dependents are free', seen, (cause) =>
      this.#editor.removeFinalizer(node, orphanFinalizer, cause, this.#stopping.signal),
    )
    return undefined
  }

  /** Takes an owner off its dependents. */
  async #free(dependents: readonly GraphNode[], uid: string, because: string, seen: readonly number[]): Promise<void> {
    const { signal } = this.#stopping
    for (let from = 0; from < dependents.length; from += orphansParallelMax) {
      const batch = dependents.slice(from, from + orphansParallelMax)
      const free = (dependent: GraphNode) =>
        this.#record('patch', dependent, because, seen, (cause) =>
          this.#editor.dropOwners(dependent, [uid], cause, signal),
        )
      await Promise.all(batch.map(free))
    }
  }

  /** Does something about an object, and says so in the log and in the causal record. */
  async #record(
    type: 'delete' | 'patch',
    node: GraphNode,
    because: string,
    seen: readonly number[],
    act: (cause: CauseClaim) => Promise<unknown>,
  ): Promise<void> {
    const { kind, namespace, name } = node.identity
    const fields = { kind, namespace: namespace === '' ? undefined : namespace, name, because }
    const record = {
      time: this.#environment.clock.now(),
      controller: this.name,
      object: ownerOf(node),
      type,
      target: recorded(node.identity),
      because,
    }
    try {
      await act(this.#claimOf(node, because, seen))
      this.#environment.logger.info(type, fields)
      this.#options.onAction?.(record)
    } catch (error) {
      this.#options.onAction?.({ ...record, error: messageOf(error) })
      throw error
    }
  }

  /** What the collector says of why it writes: what became of the owner is what it has seen. */
  #claimOf(node: GraphNode, because: string, seen: readonly number[]): CauseClaim {
    const { namespace, uid, ...owner } = ownerOf(node)
    const object = {
      ...owner,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
    }
    return { because, reconcile: { controller: this.name, object, seen } }
  }

  #reportMismatch({ identity, owners }: GraphNode, ownerUid: string): void {
    const reference = owners.find(({ uid }) => uid === ownerUid)
    if (reference === undefined) return
    const { apiVersion, kind, namespace, name, uid } = identity
    const owner = formatIdentity(identityOfOwner(reference, namespace))
    const about = { apiVersion, kind, metadata: { ...(namespace === '' ? {} : { namespace }), name, uid } }
    const message = `ownerRef ${owner} does not exist in namespace "${namespace}"`
    this.#recorder.event(about, 'Warning', 'OwnerRefInvalidNamespace', message)
  }
}

/** An object that the graph may not have. */
const nodeOf = (object: KubernetesObject): GraphNode => ({
  identity: identityOf(object),
  object,
  owners: object.metadata.ownerReferences ?? [],
  dependents: new Set(),
})

/** The object on whose account something is done about another: its owner, where it has one. */
function ownerOf({ identity, owners: [owner] }: GraphNode): RecordedObject {
  return recorded(owner === undefined ? identity : identityOfOwner(owner, identity.namespace))
}

function recorded({ apiVersion, kind, namespace, name, uid }: Identity): RecordedObject {
  return { apiVersion, kind, namespace: namespace === '' ? undefined : namespace, name, uid }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
