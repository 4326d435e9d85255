import { type FieldOwners, hasReason } from '@coracle/api'
import type { WorkTurns } from '../work-turns.ts'

/**
 * Objects of so many values, or so many bytes, are written in passes, each in a turn of the event loop of its own: decoding,
 * checking and storing them takes long enough for others to wait.
 */
export const largeObjectValuesMin = 4_000
export const largeObjectBytesMin = 64 * 1024

/** Lets others be served before what comes next. */
export type Pause = () => Promise<void> | undefined

/** What stands between two passes over an object; undefined where it is small. */
export function pauseFor(turns: WorkTurns, valuesCount: number, byteLength: number): Pause | undefined {
  if (valuesCount < largeObjectValuesMin && byteLength < largeObjectBytesMin) return undefined
  return () => turns.take(true)
}

/**
 * Stores an object with the owners of its fields, or without any where the store takes no object so large with them, as upstream: they can
 * be large, and what they are good for can be done without. Not where `areNeeded`, because they are what an apply goes by.
 */
export async function putWithinLimit<T>(
  owners: FieldOwners,
  areNeeded: boolean,
  put: (owners: FieldOwners) => T | Promise<T>,
): Promise<T> {
  try {
    return await put(owners)
  } catch (error) {
    if (areNeeded || owners.length === 0 || !hasReason(error, 'RequestEntityTooLarge')) throw error
    return put([])
  }
}
