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
  readonly #watchers = new Map<CacheWatcher, string>()
  readonly #slots = new Map<string, Set<CacheWatcher>>()
  /** How many watchers are filed by each field. */
  readonly #fieldsInUse = new Map<string, number>()

  constructor(definition: StoredKind) {
    this.#fields = definition.selectableFields
  }

  get size(): number {
    return this.#watchers.size
  }

  [Symbol.iterator](): Iterator<CacheWatcher> {
    return this.#watchers.keys()
  }

  add(watcher: CacheWatcher): void {
    const { slot, field } = this.#slotOf(watcher)
    this.#watchers.set(watcher, slot)
    if (field !== undefined) this.#fieldsInUse.set(field, (this.#fieldsInUse.get(field) ?? 0) + 1)
    const filed = this.#slots.get(slot)
    if (filed === undefined) this.#slots.set(slot, new Set([watcher]))
    else filed.add(watcher)
  }

  delete(watcher: CacheWatcher): void {
    const slot = this.#watchers.get(watcher)
    if (slot === undefined) return
    this.#watchers.delete(watcher)
    const filed = this.#slots.get(slot)
    filed?.delete(watcher)
    if (filed?.size === 0) this.#slots.delete(slot)
    const { field } = this.#slotOf(watcher)
    if (field === undefined) return
    const remaining = (this.#fieldsInUse.get(field) ?? 1) - 1
    if (remaining === 0) this.#fieldsInUse.delete(field)
    else this.#fieldsInUse.set(field, remaining)
  }

  /** Shows an event to every watcher it may concern. */
  notify(event: CacheEvent): void {
    if (this.#watchers.size === 0) return
    this.#notifySlot('all', event)
    const slash = event.key.indexOf('/')
    if (slash >= 0) this.#notifySlot(`namespace ${event.key.slice(0, slash)}`, event)
    this.#notifySlot(`key ${event.key}`, event)
    for (const field of this.#fieldsInUse.keys()) {
      const read = this.#fields[field]
      if (read === undefined) continue
      const value = read(event.stored.object)
      const before = event.previous === undefined ? value : read(event.previous.object)
      this.#notifySlot(fieldSlot(field, value), event)
      if (before !== value) this.#notifySlot(fieldSlot(field, before), event)
    }
  }

  #notifySlot(slot: string, event: CacheEvent): void {
    const watchers = this.#slots.get(slot)
    if (watchers === undefined) return
    for (const watcher of watchers) watcher.notice(event)
  }

  #slotOf({ selection }: CacheWatcher): { readonly slot: string; readonly field?: string } {
    if (selection.key !== undefined) return { slot: `key ${selection.key}` }
    const term = selection.fieldTerms.find(({ operator }) => operator === '=')
    if (term !== undefined) return { slot: fieldSlot(term.field, term.value), field: term.field }
    return { slot: selection.namespace === '' ? 'all' : `namespace ${selection.namespace}` }
  }
}

const fieldSlot = (field: string, value: string): string => `field ${field}=${value}`
