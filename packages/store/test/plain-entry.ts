import type { Entry } from '../src/store.ts'

/** An entry as a literal, to compare: one that makes its value when it is asked for is no literal. */
export function plainEntry(entry: Entry | undefined): Entry | undefined {
  if (entry === undefined) return undefined
  const { key, value, modRevision, createRevision } = entry
  return { key, value, modRevision, createRevision }
}
