import { assert } from '@coracle/environment'
import type { Note, NotesQuery, Revision, StoreEvent } from './store.ts'

/** The last notes, in memory, oldest first after `#dropped` that are no longer kept. */
export class NoteList {
  readonly #notesMax: number
  #notes: Note[] = []
  #dropped = 0

  constructor(notesMax: number) {
    assert(notesMax >= 0, `notesMax is not a count: ${notesMax}`)
    this.#notesMax = notesMax
  }

  /** Adds what the changes of one transaction carry. */
  add(events: readonly StoreEvent[]): void {
    const [event] = events
    if (event?.note === undefined) return
    this.#notes.push({ revision: event.revision, note: event.note })
    if (this.#notes.length - this.#dropped > this.#notesMax) this.#drop(this.#dropped + 1)
  }

  newest({ before = Number.POSITIVE_INFINITY, limit }: NotesQuery): readonly Note[] {
    const end = Math.max(this.#firstFrom(before), this.#dropped)
    return this.#notes.slice(Math.max(end - limit, this.#dropped), end).reverse()
  }

  forget(revision: Revision): void {
    this.#drop(Math.max(this.#firstFrom(revision + 1), this.#dropped))
  }

  /** Index of the first note at or after a revision. */
  #firstFrom(revision: Revision): number {
    let [low, high] = [0, this.#notes.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#notes[middle] as Note).revision < revision) low = middle + 1
      else high = middle
    }
    return low
  }

  #drop(dropped: number): void {
    this.#dropped = dropped
    // Moving the rest down costs as much as there is left of it: do it only when that is less than what was dropped.
    if (dropped * 2 <= this.#notes.length) return
    this.#notes = this.#notes.slice(dropped)
    this.#dropped = 0
  }
}
