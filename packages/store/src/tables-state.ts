import { crc32 } from 'node:zlib'
import type { JournalPosition } from './journal-format.ts'
import type { Revision } from './store.ts'
import { identityBytes, type StoreIdentity } from './store-identity.ts'

/** How far the tables are. */
export interface TablesState extends JournalPosition {
  readonly compacted: Revision
}

/** What the table `meta` holds of the state: how far the tables are, and whose they are. */
export interface IdentifiedState extends TablesState {
  readonly identity: StoreIdentity
}

const stateBytes = identityBytes + 3 * 8 + 4

/** Encodes `identity | sequence f64 | revision f64 | compacted f64 | checksum u32`, numbers big-endian. */
export function encodeState(identity: StoreIdentity, { sequence, revision, compacted }: TablesState): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(stateBytes)
  let at = identity.copy(bytes)
  for (const number of [sequence, revision, compacted]) at = bytes.writeDoubleBE(number, at)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, at)), at)
  return bytes
}

/** Undefined where the bytes are not as they were written. */
export function decodeState(found: Uint8Array | undefined): IdentifiedState | undefined {
  if (found?.length !== stateBytes) return undefined
  const bytes = Buffer.from(found)
  if (crc32(bytes.subarray(0, stateBytes - 4)) !== bytes.readUInt32BE(stateBytes - 4)) return undefined
  return {
    identity: bytes.subarray(0, identityBytes),
    sequence: bytes.readDoubleBE(identityBytes),
    revision: bytes.readDoubleBE(identityBytes + 8),
    compacted: bytes.readDoubleBE(identityBytes + 16),
  }
}
