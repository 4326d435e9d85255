import { type FieldOwners, hasReason, Pieces } from '@coracle/api'
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
 * What pure work comes to that knows what is dear in it (`dear` in `api`). Where that is much it is done in pieces, each in a turn of
 * the event loop of its own.
 */
export function inPieces<T>(turns: WorkTurns, work: () => T): T | Promise<T> {
  const pieces = new Pieces(work)
  const done = pieces.next()
  return done === undefined ? restOf(pieces, turns) : done.result
}

async function restOf<T>(pieces: Pieces<T>, turns: WorkTurns): Promise<T> {
  for (;;) {
    await turns.take(true)
    const done = pieces.next()
    if (done !== undefined) return done.result
  }
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
