import type { StoreEvent } from '@coracle/store'
import { CacheEvent } from './cache-event.ts'
import type { StoredObject } from './stored-object.ts'

/** What a cache would have seen, had it been there. */
export interface Past {
  /** The events follow the state at this revision. */
  readonly startRevision: number
  readonly events: readonly CacheEvent[]
}

export interface PastOptions {
  /** The revision that the store's events come after. */
  readonly after: number
  /** All keys begin with it. */
  readonly prefix: string
  readonly timeMs: number
  /** Reads what was stored under a key at a revision; undefined where it cannot be read. */
  readonly read: (key: string, value: Uint8Array, revision: number) => StoredObject | undefined
}

/**
 * Makes a cache's history of a store's. An event needs the object before it: whether a selector matched that decides what a
 * watch gets. Where the store no longer has it, or what it has cannot be read, history begins after that event.
 */
export function pastOf(changes: readonly StoreEvent[], { after, prefix, timeMs, read }: PastOptions): Past {
  const latest = new Map<string, StoredObject | undefined>()
  let startRevision = after
  let events: CacheEvent[] = []
  for (const [index, change] of changes.entries()) {
    const { type, key, value, revision, previousRevision } = change
    const previousValue = type === 'delete' ? value : change.previousValue
    const known = latest.get(key)
    const previous =
      known ?? (previousRevision > 0 && previousValue ? read(key, previousValue, previousRevision) : undefined)
    const stored = type === 'delete' ? previous?.at(revision) : read(key, value, revision)
    latest.set(key, type === 'delete' ? undefined : stored)
    if (stored === undefined || (previousRevision > 0 && previous === undefined)) {
      startRevision = revision
      events = []
      continue
    }
    events.push(
      new CacheEvent({
        type: type === 'delete' ? 'DELETED' : previousRevision === 0 ? 'ADDED' : 'MODIFIED',
        key: key.slice(prefix.length),
        revision,
        // Before all that the cache has seen itself, which counts from 1.
        sequence: index - changes.length,
        timeMs,
        stored,
        previous,
      }),
    )
  }
  return { startRevision, events: events.filter((event) => event.revision > startRevision) }
}
