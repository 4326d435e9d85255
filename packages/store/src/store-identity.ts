import { crc32 } from 'node:zlib'
import type { Random } from '@coracle/environment'

/**
 * What tells one store from every other: 16 bytes, drawn when the store is made. It is in each of its files, and every
 * checksum begins with it, so that a file or a record of another store is never taken for its own.
 */
export type StoreIdentity = Buffer

export const identityBytes = 16

export function createIdentity(random: Random): StoreIdentity {
  return Buffer.from(random.uuid().replaceAll('-', ''), 'hex')
}

/** Where the checksums of a store begin. */
export function checksumSeed(identity: StoreIdentity): number {
  return crc32(identity)
}
