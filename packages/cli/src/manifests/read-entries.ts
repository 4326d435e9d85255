import type { Manifest, ReadManifests, UnreadableDocument } from './parse-manifests.ts'

/** What a text has, of its entries. */
export function readEntries(entries: readonly (Manifest | UnreadableDocument)[]): ReadManifests {
  const manifests = entries.flatMap((entry) => ('failure' in entry ? [] : [entry]))
  const failures = entries.flatMap((entry) => ('failure' in entry ? [entry.failure] : []))
  return { manifests, failures, entries }
}
