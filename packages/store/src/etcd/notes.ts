import { nameAlphabet, type Random } from '@coracle/environment'
import type { Decoded, Encodable } from '@coracle/environment/grpc'
import { etcdNoteLagMax, notesPageMax } from '../limits.ts'
import type { Note, NotesQuery, Revision } from '../store.ts'
import { type rangeRequest, type rangeResponse, sortDescending } from './api.ts'
import type { KeyRange, KeySpace } from './key-space.ts'

/** Begins the keys of notes, behind the store's prefix: `etcdctl get --prefix coracle-notes/` shows them. */
export const notePrefix = 'coracle-notes/'

const revisionDigits = 16
const suffixLength = 8

/** Whether a key is that of a note, which is no entry of the store. */
export const isNoteKey = (key: string): boolean => key.startsWith(notePrefix)

export interface EtcdNotesParts {
  readonly keys: KeySpace
  readonly random: Random
  readonly notesMax: number
  readonly range: (request: Encodable<typeof rangeRequest>) => Promise<Decoded<typeof rangeResponse>>
  readonly remove: (range: KeyRange) => Promise<unknown>
}

/**
 * The notes of transactions, each under a key of its own that the transaction writes too: its mod revision is then the
 * transaction's. What that will be nobody knows beforehand, so that the key tells the latest one the writer has heard of, which
 * is earlier, and mostly by little.
 */
export class EtcdNotes {
  readonly #parts: EtcdNotesParts

  constructor(parts: EtcdNotesParts) {
    this.#parts = parts
  }

  /** A key for the note of a transaction that is written now; `known` is the latest revision heard of. */
  newKey(known: Revision): Uint8Array {
    const { keys, random } = this.#parts
    return keys.bytesOf(`${keyAt(known)}/${random.string(suffixLength, nameAlphabet)}`)
  }

  /** Notes of revisions before `before`, newest first. */
  async newest({ before, limit }: NotesQuery): Promise<readonly Note[]> {
    const notes = await this.#written(before, limit + etcdNoteLagMax)
    const isNext = limit === 1 && before !== undefined && notes[0]?.revision !== before - 1
    const next = isNext ? await this.#writtenAt(before - 1) : []
    return [...next, ...notes].slice(0, limit)
  }

  /** Removes notes up to a revision and those beyond the number kept, page by page. */
  async forget(revision: Revision): Promise<void> {
    const { count } = await this.#parts.range({ ...this.#parts.keys.rangeOf(notePrefix), countOnly: true })
    let surplus = count - this.#parts.notesMax
    for (;;) {
      const { kvs } = await this.#parts.range({
        ...this.#parts.keys.rangeOf(notePrefix),
        limit: notesPageMax,
        keysOnly: true,
      })
      const kept = kvs.findIndex(({ modRevision }, index) => modRevision > revision && index >= surplus)
      const gone = kept < 0 ? kvs : kvs.slice(0, kept)
      const last = gone.at(-1)
      if (last === undefined) return
      const range = this.#parts.keys.rangeOf(notePrefix)
      await this.#parts.remove({ key: range.key, rangeEnd: Buffer.concat([last.key, Uint8Array.of(0)]) })
      surplus -= gone.length
      if (kept >= 0 || kvs.length < notesPageMax) return
    }
  }

  async #written(before: Revision | undefined, limit: number): Promise<readonly Note[]> {
    const { keys, range } = this.#parts
    const all = keys.rangeOf(notePrefix)
    const rangeEnd = before === undefined ? all.rangeEnd : keys.bytesOf(keyAt(before))
    const { kvs } = await range({ key: all.key, rangeEnd, limit, sortOrder: sortDescending })
    return notesOf(kvs)
      .filter(({ revision }) => before === undefined || revision < before)
      .sort((a, b) => b.revision - a.revision)
  }

  /** The note of one revision, wherever its key is. */
  async #writtenAt(revision: Revision): Promise<readonly Note[]> {
    const all = this.#parts.keys.rangeOf(notePrefix)
    const { kvs } = await this.#parts.range({ ...all, limit: 1, minModRevision: revision, maxModRevision: revision })
    return notesOf(kvs)
  }
}

const keyAt = (revision: Revision): string => notePrefix + String(revision).padStart(revisionDigits, '0')

const notesOf = (kvs: Decoded<typeof rangeResponse>['kvs']): readonly Note[] =>
  kvs.map(({ modRevision, value }) => ({ revision: modRevision, note: value }))
