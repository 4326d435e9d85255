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
