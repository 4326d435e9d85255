import type { JournalRecord } from './journal-format.ts'
import { decodeEvents, encodeEvents } from './log-record.ts'
import { checksumSeed, type StoreIdentity } from './store-identity.ts'
import type { JournaledBatch } from './write-behind.ts'

/** The batch that a record of the journal holds. */
export function batchOfRecord(record: JournalRecord, identity: StoreIdentity): JournaledBatch {
  const { sequence, revision, compacted } = record
  const events = decodeEvents(record.events)
  return { sequence, revision, compacted, events, encoded: encodeEvents(events, checksumSeed(identity)) }
}
