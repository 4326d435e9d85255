import type { KubernetesObject, Status } from '@coracle/api'
import type { Stored, WatchDelivery } from '../registry-contract.ts'
import type { StoredObject } from './stored-object.ts'

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/**
 * One change of one object. What watchers get of it is made at most once per kind of delivery and shared by all:
 * a watcher whose selector the object enters sees it ADDED, one whose selector it leaves sees it DELETED.
 */
export class CacheEvent {
  readonly type: ChangeType
  readonly key: string
  readonly revision: number
  /** Position among all events of the cache. Several events may share a revision, never a sequence. */
  readonly sequence: number
  readonly timeMs: number
  /** The object after the change; for a delete its last state, as of the revision of the delete. */
  readonly stored: StoredObject
  /** The object before the change. */
  readonly previous: StoredObject | undefined
  #added: WatchDelivery | undefined
  #modified: WatchDelivery | undefined
  #deleted: WatchDelivery | undefined

  constructor(change: Pick<CacheEvent, 'type' | 'key' | 'revision' | 'sequence' | 'timeMs' | 'stored' | 'previous'>) {
    this.type = change.type
    this.key = change.key
    this.revision = change.revision
    this.sequence = change.sequence
    this.timeMs = change.timeMs
    this.stored = change.stored
    this.previous = change.previous
  }

  /** The object came into view. */
  get added(): WatchDelivery {
    this.#added ??= new ObjectDelivery('ADDED', this.stored)
    return this.#added
  }

  get modified(): WatchDelivery {
    this.#modified ??= new ObjectDelivery('MODIFIED', this.stored)
    return this.#modified
  }

  /** The object went out of view: as it last was in view, at the revision of this event (as upstream's cacher). */
  get deleted(): WatchDelivery {
    if (this.#deleted === undefined) {
      const gone = this.type === 'DELETED' ? this.stored : (this.previous ?? this.stored).at(this.revision)
      this.#deleted = new ObjectDelivery('DELETED', gone)
    }
    return this.#deleted
  }
}

const lineEnd = Buffer.from('}\n')
const lineStarts: Readonly<Record<ChangeType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
}

/** An object on its way to watchers. */
export class ObjectDelivery implements WatchDelivery {
  readonly event: { readonly type: ChangeType; readonly object: KubernetesObject }
  readonly stored: Stored
  #bytes: Buffer | undefined

  constructor(type: ChangeType, stored: Stored) {
    this.event = { type, object: stored.object }
    this.stored = stored
  }

  /** The same event of the object in another form. */
  showing(stored: Stored): ObjectDelivery {
    return new ObjectDelivery(this.event.type, stored)
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.concat([lineStarts[this.event.type], this.stored.bytes, lineEnd])
    return this.#bytes
  }
}

/** What ends a watch with an error. */
export function errorDelivery(status: Status): WatchDelivery {
  return new PlainDelivery({ type: 'ERROR', object: status })
}

interface BookmarkedKind {
  readonly kind: string
  readonly apiVersion: string
}

/** Tells that the present state, as of `revision`, has been delivered. */
export function initialEndDelivery({ kind, apiVersion }: BookmarkedKind, revision: number): WatchDelivery {
  const annotations = { 'k8s.io/initial-events-end': 'true' }
  return bookmarkOf({ kind, apiVersion, metadata: { resourceVersion: String(revision), annotations } })
}

/** Tells that everything up to `revision` has been delivered. */
export const bookmarkDelivery = ({ kind, apiVersion }: BookmarkedKind, revision: number): WatchDelivery =>
  bookmarkOf({ kind, apiVersion, metadata: { resourceVersion: String(revision) } })

/** A bookmark that carries this object. */
export function bookmarkOf(object: KubernetesObject): WatchDelivery {
  return new PlainDelivery({ type: 'BOOKMARK', object })
}

/** What is no change of an object. Its bytes are made where somebody far away watches. */
class PlainDelivery implements WatchDelivery {
  readonly event: WatchDelivery['event']
  #bytes: Buffer | undefined

  constructor(event: WatchDelivery['event']) {
    this.event = event
  }

  get bytes(): Buffer {
    this.#bytes ??= Buffer.from(`${JSON.stringify(this.event)}\n`)
    return this.#bytes
  }
}
