import type { FieldReader, KubernetesObject, StoredKind } from '@coracle/api'
import type { CacheEvent } from './cache-event.ts'
import type { CacheWatcher } from './cache-watcher.ts'

/**
 * The watchers of a resource, filed by the narrowest thing they select by (one object, the value of a field, a
 * namespace), so that an event costs as much as there are watchers it may concern, not as there are watchers. Thousands of
 * node agents, each watching the pods of its own node, are what it is for.
 */
export class WatcherIndex {
  readonly #fields: Readonly<Record<string, FieldReader<KubernetesObject>>>
  readonly #watchers = new Set<CacheWatcher>()
  readonly #byKey: Slots = new Map()
  /** Those of all namespaces under the empty name. */
  readonly #byNamespace: Slots = new Map()
  /** By each field that somebody has selected by, and its value. */
  readonly #byField = new Map<string, Slots>()

  constructor(definition: StoredKind) {
    this.#fields = definition.selectableFields
  }

  get size(): number {
    return this.#watchers.size
  }

  [Symbol.iterator](): Iterator<CacheWatcher> {
    return this.#watchers.values()
  }

  add(watcher: CacheWatcher): void {
    const [slots, slot] = this.#slotOf(watcher)
    this.#watchers.add(watcher)
    const filed = slots.get(slot)
    if (filed === undefined) slots.set(slot, new Set([watcher]))
    else filed.add(watcher)
  }

  delete(watcher: CacheWatcher): void {
    if (!this.#watchers.delete(watcher)) return
    const [slots, slot] = this.#slotOf(watcher)
    const filed = slots.get(slot)
    filed?.delete(watcher)
    if (filed?.size === 0) slots.delete(slot)
  }

  /** Shows an event to every watcher it may concern. */
  notify(event: CacheEvent): void {
    const everywhere = this.#byNamespace.get('')
    notifyAll(everywhere, event)
    if (this.#byNamespace.size > (everywhere === undefined ? 0 : 1)) {
      const slash = event.key.indexOf('/')
      if (slash >= 0) notifyAll(this.#byNamespace.get(event.key.slice(0, slash)), event)
    }
    if (this.#byKey.size > 0) notifyAll(this.#byKey.get(event.key), event)
    for (const [field, slots] of this.#byField) {
      const read = this.#fields[field]
      if (read === undefined || slots.size === 0) continue
      const value = read(event.stored.object)
      const before = event.previous === undefined ? value : read(event.previous.object)
      notifyAll(slots.get(value), event)
      if (before !== value) notifyAll(slots.get(before), event)
    }
  }

  #slotOf({ selection }: CacheWatcher): readonly [slots: Slots, slot: string] {
    if (selection.key !== undefined) return [this.#byKey, selection.key]
    const term = selection.fieldTerms.find(({ operator }) => operator === '=')
    if (term === undefined) return [this.#byNamespace, selection.namespace]
    const slots = this.#byField.get(term.field) ?? new Map()
    this.#byField.set(term.field, slots)
    return [slots, term.value]
  }
}

/** Watchers by what they select. */
type Slots = Map<string, Set<CacheWatcher>>

function notifyAll(watchers: ReadonlySet<CacheWatcher> | undefined, event: CacheEvent): void {
  if (watchers === undefined) return
  for (const watcher of watchers) watcher.notice(event)
}
