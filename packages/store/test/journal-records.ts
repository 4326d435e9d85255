import type { JournalPosition, JournalRecord } from '../src/journal-format.ts'

export const identity = Buffer.alloc(16, 7)
export const beginning: JournalPosition = { sequence: 0, revision: 0 }

/** The position that a record leaves. */
export const positionAt = (sequence: number): JournalPosition => ({ sequence, revision: sequence * 2 })

/** A record with `length` bytes of events. */
export const recordOf = (sequence: number, length: number): JournalRecord => ({
  ...positionAt(sequence),
  compacted: sequence,
  events: new Uint8Array(length).fill(sequence),
})
