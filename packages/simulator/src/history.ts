import { createHash, type Hash } from 'node:crypto'
import type { KubernetesObject, Pod } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { SoleWriterStore, StoreEvent, StoreWatch } from '@coracle/store'
import type { Kind } from './kinds.ts'
import type { Network } from './network.ts'
import { objectIn } from './stored-objects.ts'
import type { Trouble } from './trouble.ts'
import { controllerOf, type Invariant, type View, type Violation } from './view.ts'

/** Violations that are kept: a broken cluster breaks its rules with every event. */
const violationsMax = 20

/** How long a component may act on what was true before where nothing is wrong: what happens at the same time happens in some order. */
const momentMs = 1000

/** Kinds that say nothing that a rule is about, and are many, and records that are no objects. */
const skipped = /^\/registry\/(coordination\.k8s\.io\/leases|(core|events\.k8s\.io)\/events|ranges\/\w+)\//

interface Version {
  readonly object: KubernetesObject
  /** Until when it was the latest; infinite while it is. */
  untilMs: number
}

interface LastChange {
  readonly atMs: number
  readonly what: string
}

/** Which change of pods the store has had, as a watch tells of it. */
export interface PodEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
}

/**
 * Everything that is written, in the order in which it is written: it follows the store itself, which no fault stands before. It
 * holds every change against the invariants.
 */
export class History implements View {
  readonly violations: Violation[] = []
  readonly podEvents: PodEvent[] = []
  readonly #trouble: Trouble
  readonly #areClocksTrue: boolean
  readonly #environment: Environment
  readonly #startMs: number
  readonly #network: Network
  readonly #invariants: readonly Invariant[]
  readonly #watch: StoreWatch
  readonly #digest: Hash = createHash('sha1')
  readonly #objects = new Map<string, KubernetesObject>()
  readonly #byUid = new Map<string, KubernetesObject>()
  readonly #pods = new Map<string, Map<string, Pod>>()
  readonly #versions = new Map<string, Version[]>()
  #nowMs: number
  #lastChange: LastChange = { atMs: 0, what: 'nothing' }

  constructor(
    store: SoleWriterStore,
    environment: Environment,
    network: Network,
    invariants: readonly Invariant[],
    trouble: Trouble,
    areClocksTrue: boolean,
  ) {
    this.#environment = environment
    this.#startMs = environment.clock.now()
    this.#nowMs = this.#startMs
    this.#network = network
    this.#invariants = invariants
    this.#trouble = trouble
    this.#areClocksTrue = areClocksTrue
    this.#watch = store.watch('/registry/', {
      after: store.latest(),
      onEvents: (events) => this.#hear(events),
      onGap: (error) => this.report('the store tells everything', error.message),
      onEnd: (error) => this.report('the store tells everything', error.message),
    })
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** What was last written that is no sign of life. */
  get lastChange(): LastChange {
    return this.#lastChange
  }

  get isCalm(): boolean {
    return this.#areClocksTrue && this.#trouble.sinceMs === undefined
  }

  get staleMs(): number {
    const { sinceMs } = this.#trouble
    return momentMs + (sinceMs === undefined ? 0 : this.#nowMs - sinceMs)
  }

  unansweredPodsOf(owner: string): number {
    return this.#network.unansweredPodsSince(owner, this.#nowMs - this.staleMs)
  }

  isCreationUnanswered({ kind = '', metadata: { namespace = '', name = '' } }: KubernetesObject): boolean {
    return this.#network.isCreationUnanswered(kind, namespace, name, this.#nowMs - this.staleMs)
  }

  /** A text that two runs have in common only if the same was written in the same order. */
  digest(): string {
    return this.#digest.copy().digest('hex')
  }

  close(): void {
    this.#watch.close()
  }

  /** Tells of a broken rule. */
  report(invariant: string, message: string): void {
    if (this.violations.length >= violationsMax) return
    this.violations.push({ invariant, message, atMs: this.#nowMs - this.#startMs })
  }

  list<T extends KubernetesObject>(kind: Kind): readonly T[] {
    return [...this.#objects.values()].filter((object) => object.kind === kind) as unknown as readonly T[]
  }

  all(): Iterable<KubernetesObject> {
    return this.#objects.values()
  }

  byUid(uid: string): KubernetesObject | undefined {
    return this.#byUid.get(uid)
  }

  find(kind: Kind, namespace: string | undefined, name: string): KubernetesObject | undefined {
    for (const object of this.#objects.values()) {
      const { metadata } = object
      if (object.kind === kind && metadata.name === name && metadata.namespace === namespace) return object
    }
    return undefined
  }

  podsOf(uid: string): readonly Pod[] {
    return [...(this.#pods.get(uid)?.values() ?? [])]
  }

  recent<T extends KubernetesObject>(uid: string): readonly T[] {
    const since = this.#nowMs - this.staleMs
    const versions = this.#versions.get(uid) ?? []
    const first = versions.findIndex(({ untilMs }) => untilMs >= since)
    if (first > 0) versions.splice(0, first)
    return first < 0 ? [] : (versions.map(({ object }) => object) as unknown as readonly T[])
  }

  deleterOf({ kind = '', metadata }: KubernetesObject): string | undefined {
    return this.#network.deleterOf(kind, metadata.namespace ?? '', metadata.name ?? '')
  }

  isForced({ kind = '', metadata }: KubernetesObject): boolean {
    return this.#network.isForced(kind, metadata.namespace ?? '', metadata.name ?? '')
  }

  deletionsOf({ kind = '', metadata }: KubernetesObject): number {
    return this.#network.deletionsOf(kind, metadata.namespace ?? '', metadata.name ?? '')
  }

  #hear(events: readonly StoreEvent[]): void {
    this.#nowMs = this.#environment.clock.now()
    for (const event of events) {
      this.#digest.update(`${event.revision} ${event.type} ${event.key} `).update(event.value)
      if (!skipped.test(event.key)) this.#apply(event)
    }
  }

  #apply({ type, key, value, revision }: StoreEvent): void {
    if (!key.startsWith('/registry/core/nodes/')) this.#lastChange = { atMs: this.#nowMs, what: `${type} ${key}` }
    const old = this.#objects.get(key)
    const object = type === 'put' ? objectIn(value) : undefined
    if (old !== undefined && old.metadata.uid !== object?.metadata.uid) this.#remove(key, old)
    if (object !== undefined) this.#put(key, object, old)
    if (key.startsWith('/registry/core/pods/')) {
      const kindOfEvent = object === undefined ? 'DELETED' : old === undefined ? 'ADDED' : 'MODIFIED'
      this.podEvents.push({ type: kindOfEvent, revision })
    }
    for (const { name, check } of this.#invariants) {
      const message = check?.({ revision, old, object }, this)
      if (message !== undefined) this.report(name, message)
    }
  }

  #put(key: string, object: KubernetesObject, old: KubernetesObject | undefined): void {
    const { uid = '' } = object.metadata
    this.#objects.set(key, object)
    this.#byUid.set(uid, object)
    if (object.kind === 'Pod') this.#file(object as Pod, old as Pod | undefined)
    const versions = this.#versions.get(uid) ?? []
    const last = versions.at(-1)
    if (last !== undefined) last.untilMs = this.#nowMs
    versions.push({ object, untilMs: Number.POSITIVE_INFINITY })
    this.#versions.set(uid, versions)
  }

  #remove(key: string, old: KubernetesObject): void {
    const { uid = '' } = old.metadata
    this.#objects.delete(key)
    this.#byUid.delete(uid)
    if (old.kind === 'Pod') this.#pods.get(controllerOf(old)?.uid ?? '')?.delete(uid)
    const last = this.#versions.get(uid)?.at(-1)
    if (last !== undefined) last.untilMs = this.#nowMs
  }

  #file(pod: Pod, old: Pod | undefined): void {
    const { uid = '' } = pod.metadata
    const owner = controllerOf(pod)?.uid ?? ''
    if (old !== undefined) this.#pods.get(controllerOf(old)?.uid ?? '')?.delete(uid)
    const siblings = this.#pods.get(owner) ?? new Map<string, Pod>()
    siblings.set(uid, pod)
    this.#pods.set(owner, siblings)
  }
}
