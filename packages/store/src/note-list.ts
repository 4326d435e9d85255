import { assert } from '@coracle/environment'
import type { LazyNote, Note, NotesQuery, Revision } from './store.ts'
import { noteBytes } from './transaction.ts'

interface KeptNote {
  readonly revision: Revision
  readonly note: Uint8Array | LazyNote
}

/** The last notes, in memory, oldest first after `#dropped` that are no longer kept. */
export class NoteList {
  readonly #notesMax: number
  #notes: KeptNote[] = []
  #dropped = 0

  constructor(notesMax: number) {
    assert(notesMax >= 0, `notesMax is not a count: ${notesMax}`)
    this.#notesMax = notesMax
  }

  /** Adds the note of the transaction that made a revision. */
  add(revision: Revision, note: Uint8Array | LazyNote): void {
    this.#notes.push({ revision, note })
    if (this.#notes.length - this.#dropped > this.#notesMax) this.#drop(this.#dropped + 1)
  }

  newest({ before = Number.POSITIVE_INFINITY, limit }: NotesQuery): readonly Note[] {
    const end = Math.max(this.#firstFrom(before), this.#dropped)
    const found = this.#notes.slice(Math.max(end - limit, this.#dropped), end).reverse()
    return found.map(({ revision, note }) => ({ revision, note: noteBytes(note) }))
  }

  forget(revision: Revision): void {
    this.#drop(Math.max(this.#firstFrom(revision + 1), this.#dropped))
  }

  /** Index of the first note at or after a revision. */
  #firstFrom(revision: Revision): number {
    let [low, high] = [0, this.#notes.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#notes[middle] as KeptNote).revision < revision) low = middle + 1
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
