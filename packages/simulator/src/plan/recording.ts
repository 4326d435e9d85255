import type { KubernetesObject, Pod } from '@coracle/api'
import type { Clock } from '@coracle/environment'
import type { SoleWriterStore, StoreEvent, StoreWatch } from '@coracle/store'
import { objectIn } from '../stored-objects.ts'

/** Changes in a recording, at most: what takes more is broken off. */
export const changesMax = 500_000

/** A change of an object, as it was stored. */
export interface RecordedChange {
  readonly atMs: number
  /** Undefined where it is new. */
  readonly old: KubernetesObject | undefined
  /** Undefined where it is gone. */
  readonly object: KubernetesObject | undefined
}

/** Something that was said while it went on, and is no change: an eviction that a budget refused. */
export interface RecordedNote {
  readonly atMs: number
  readonly type: 'eviction-refused'
  readonly object: KubernetesObject
  readonly message: string
}

/** Kinds that say that somebody is alive, and nothing else. */
const skipped = /^\/registry\/(coordination\.k8s\.io\/leases|ranges|apiregistration\.k8s\.io)\//

/** What is written to a store, from the beginning on or from some moment, and all objects there are. */
export class Recording {
  readonly changes: RecordedChange[] = []
  readonly notes: RecordedNote[] = []
  readonly #clock: Clock
  readonly #watch: StoreWatch
  readonly #objects = new Map<string, KubernetesObject>()
  /** Uids of what comes and goes by itself: CronJobs with their Jobs and pods. */
  readonly #background = new Set<string>()
  #lastChangeMs: number
  #isFull = false

  private constructor(clock: Clock, store: SoleWriterStore, after: number) {
    this.#clock = clock
    this.#lastChangeMs = clock.now()
    this.#watch = store.watch('/registry/', {
      after,
      onEvents: (events) => this.#hear(events),
      onGap: () => this.#stop(),
      onEnd: () => {},
    })
  }

  /** Begins with what is in the store now. */
  static async start(clock: Clock, store: SoleWriterStore): Promise<Recording> {
    const { revision, entries } = await store.list('/registry/')
    const recording = new Recording(clock, store, revision)
    const objects = entries
      .filter(({ key }) => !skipped.test(key))
      .map(({ key, value }) => [key, objectIn(value)] as const)
    for (const [key, object] of objects) recording.#objects.set(key, object)
    for (const kind of ['CronJob', 'Job', 'Pod'])
      for (const [, object] of objects) if (object.kind === kind) recording.#file(object)
    return recording
  }

  /** When something was last written that is neither a sign of life nor what comes and goes by itself. */
  get lastChangeMs(): number {
    return this.#lastChangeMs
  }

  /** Whether more happened than is kept. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Everything there is now. */
  objects(): readonly KubernetesObject[] {
    return [...this.#objects.values()]
  }

  /** A pod as it is now. */
  podOf(namespace: string, name: string): Pod | undefined {
    return this.#objects.get(`/registry/core/pods/${namespace}/${name}`) as Pod | undefined
  }

  note(note: Omit<RecordedNote, 'atMs'>): void {
    if (this.notes.length < changesMax) this.notes.push({ atMs: this.#clock.now(), ...note })
  }

  close(): void {
    this.#watch.close()
  }

  #hear(events: readonly StoreEvent[]): void {
    const atMs = this.#clock.now()
    for (const { type, key, value } of events) {
      if (skipped.test(key)) continue
      const old = this.#objects.get(key)
      const object = type === 'put' ? objectIn(value) : undefined
      if (object === undefined) this.#objects.delete(key)
      else this.#objects.set(key, object)
      if (isSignOfLife(old, object)) continue
      if (!this.#file(object ?? old)) this.#lastChangeMs = atMs
      if (this.changes.length >= changesMax) this.#stop()
      else this.changes.push({ atMs, old, object })
    }
  }

  /** Whether an object comes and goes by itself, as what a CronJob makes does. */
  isBackground({ kind, metadata }: KubernetesObject): boolean {
    return kind === 'Event' || this.#background.has(metadata.uid ?? '')
  }

  #file(object: KubernetesObject | undefined): boolean {
    if (object === undefined) return false
    const { kind, metadata } = object
    const isOwned = metadata.ownerReferences?.some(({ uid }) => this.#background.has(uid)) === true
    if (kind === 'CronJob' || isOwned) this.#background.add(metadata.uid ?? '')
    return this.isBackground(object)
  }

  #stop(): void {
    this.#isFull = true
  }
}

/** Whether a change is a node's heartbeat: nothing but times differ. */
function isSignOfLife(old: KubernetesObject | undefined, object: KubernetesObject | undefined): boolean {
  if (object?.kind !== 'Node' || old === undefined) return false
  return withoutHeartbeats(old) === withoutHeartbeats(object)
}

const withoutHeartbeats = (object: KubernetesObject): string =>
  JSON.stringify(object, (key, value: unknown) =>
    key === 'lastHeartbeatTime' || key === 'resourceVersion' || key === 'managedFields' ? undefined : value,
  )
