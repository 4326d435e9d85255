import { ManifestFailures } from './manifest-failures.ts'
import type { Manifest, ReadManifests, UnreadableDocument } from './parse-manifests.ts'

/** What a text has, of its entries. */
export function readEntries(entries: readonly (Manifest | UnreadableDocument)[]): ReadManifests {
  const manifests = entries.flatMap((entry) => ('failure' in entry ? [] : [entry]))
  const failures = new ManifestFailures()
  for (const entry of entries) if ('failure' in entry) failures.add(entry.failure, entry)
  return { manifests, failures: failures.errors, entries }
}
