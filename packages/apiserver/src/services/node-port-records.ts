import type { Service } from '@coracle/api'
import { registryPrefix } from '../watch-cache/store-feed.ts'

/**
 * Where it is recorded which service has a port of the nodes: a key for each. No kind has objects there; that a key is there
 * is what keeps two servers from giving a port away twice.
 */
export const portRecordsPrefix = `${registryPrefix}ranges/servicenodeports/`

export const portRecordKey = (port: number): string => `${portRecordsPrefix}${port}`

/** The record of a port, for people who look into the store: nothing is decided by it. */
export function portRecordOf({ metadata: { namespace = '', name = '' } }: Service): Uint8Array {
  return Buffer.from(`${namespace}/${name}`)
}

/** The port that a record is about. */
export const portOfRecord = (key: string): number => Number(key.slice(portRecordsPrefix.length))
