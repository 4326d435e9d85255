import type { Event, KubernetesObject, ObjectMeta } from '@coracle/api'
import type { SoleWriterStore, StoreEvent, StoreWatch } from '@coracle/store'

/** What a transaction did to an object, as the store tells it. */
export interface LoggedChange {
  readonly operation: 'create' | 'update' | 'delete'
  /** `apps/deployments/default/web`. */
  readonly path: string
  readonly uid: string
}

const eventPath = /^core\/events\//

const nobody: ReadonlySet<string> = new Set()

const prefix = '/registry/'

/** What leaves no cause: see decision 0035. */
const unrecorded = /^(coordination\.k8s\.io\/leases|(core|events\.k8s\.io)\/events)\//

/** What is no object: the ports of services that are taken. */
const records = /^ranges\//

/** Everything that was written, by revision. It reads the store itself, and nothing that the causal record is made of. */
export class WriteLog {
  readonly #watch: StoreWatch
  readonly #byRevision = new Map<number, LoggedChange[]>()
  readonly #latest = new Map<string, number>()
  readonly #counts = new Map<string, number>()
  readonly #uids = new Map<string, string>()
  /** Where each object is, or was. */
  readonly #paths = new Map<string, string>()
  readonly #owners = new Map<string, ReadonlySet<string>>()
  readonly #events = new Map<string, Event>()

  constructor(store: SoleWriterStore) {
    this.#watch = store.watch(prefix, {
      after: 0,
      onEvents: (events) => {
        for (const event of events) this.#hear(event)
      },
      onGap: (error) => {
        throw error
      },
      onEnd: (error) => {
        throw error
      },
    })
  }

  /** What was done at a revision; nothing where that leaves no cause. */
  at(revision: number): readonly LoggedChange[] {
    return this.#byRevision.get(revision) ?? []
  }

  /** The revision of the latest change of an object. */
  latestOf(uid: string): number | undefined {
    return this.#latest.get(uid)
  }

  /** How often an object was changed. */
  countOf(uid: string): number {
    return this.#counts.get(uid) ?? 0
  }

  /** Whom an object has ever named as an owner, by their uids. */
  ownersOf(uid: string): ReadonlySet<string> {
    return this.#owners.get(uid) ?? nobody
  }

  /** Whether there has ever been such an object. */
  knows(uid: string): boolean {
    return this.#paths.has(uid)
  }

  /** Where an object is, or was: of two at one path one came after the other. */
  pathOf(uid: string): string | undefined {
    return this.#paths.get(uid)
  }

  /** The events there are about an object. */
  eventsAbout(uid: string): readonly Event[] {
    return [...this.#events.values()].filter(({ involvedObject }) => involvedObject.uid === uid)
  }

  close(): void {
    this.#watch.close()
  }

  #hearEvent(path: string, event: Event | undefined): void {
    if (event === undefined) this.#events.delete(path)
    else this.#events.set(path, event)
  }

  #hear({ type, key, value, revision }: StoreEvent): void {
    const path = key.slice(prefix.length)
    if (records.test(path)) return
    const before = this.#uids.get(path)
    const { uid = '', ownerReferences = [] } = type === 'put' ? metadataIn(value) : { uid: before }
    this.#paths.set(uid, path)
    for (const owner of ownerReferences) this.#owners.set(uid, new Set([...this.ownersOf(uid), owner.uid]))
    if (type === 'put') this.#uids.set(path, uid)
    else this.#uids.delete(path)
    if (eventPath.test(path)) this.#hearEvent(path, type === 'put' ? (JSON.parse(textOf(value)) as Event) : undefined)
    if (unrecorded.test(path)) return
    const operation = type !== 'put' ? 'delete' : before === uid ? 'update' : 'create'
    const known = this.#byRevision.get(revision) ?? []
    known.push({ operation, path, uid })
    this.#byRevision.set(revision, known)
    this.#latest.set(uid, revision)
    this.#counts.set(uid, this.countOf(uid) + 1)
  }
}

function metadataIn(value: Uint8Array): ObjectMeta {
  const { metadata = {} } = JSON.parse(textOf(value)) as Partial<KubernetesObject>
  return metadata
}

const textOf = (value: Uint8Array): string => Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
