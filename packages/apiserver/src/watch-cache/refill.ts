import type { Entry, StoreEvent } from '@coracle/store'

/** What a cache holds when it finds that part of the history has passed it by. */
export interface Held {
  readonly keys: Iterable<string>
  /** The revision at which a key is held; undefined where it is not. */
  readonly revisionOf: (key: string) => number | undefined
  /** What is held was all there was at this revision. */
  readonly knownTo: number
}

/**
 * The events that make of what is held what there is at `revision`, in the order of their revisions: of several changes of a
 * key the last. A key that was deleted and made anew meanwhile gives both events, since it is another object.
 */
export function changesTo(entries: readonly Entry[], revision: number, held: Held): readonly StoreEvent[] {
  const changes: StoreEvent[] = []
  const present = new Set<string>()
  for (const entry of entries) {
    const { key, value, modRevision, createRevision } = entry
    present.add(key)
    const heldRevision = held.revisionOf(key)
    if (heldRevision === modRevision) continue
    const isOther = heldRevision !== undefined && createRevision > held.knownTo
    if (isOther) changes.push(deletion(key, modRevision, heldRevision))
    const previousRevision = isOther ? 0 : (heldRevision ?? 0)
    changes.push({ type: 'put', key, value, revision: modRevision, createRevision, previousRevision })
  }
  for (const key of held.keys) {
    if (!present.has(key)) changes.push(deletion(key, revision, held.revisionOf(key) ?? 0))
  }
  // A stable sort: a deletion stays before what came in its place.
  return changes.sort((a, b) => a.revision - b.revision)
}

const noValue = new Uint8Array()

/** Nothing is known of when it was but that it is gone by `revision`. */
function deletion(key: string, revision: number, previousRevision: number): StoreEvent {
  return { type: 'delete', key, value: noValue, revision, createRevision: previousRevision, previousRevision }
}
