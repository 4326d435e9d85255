import { assert } from '@coracle/environment'
import type { Listing } from './store.ts'

/** A listing in pages of at most `entriesMax` entries; one empty page where there is nothing. */
export function* pagesOf({ revision, entries }: Listing, entriesMax: number): Generator<Listing> {
  assert(entriesMax > 0, `not a size of a page: ${entriesMax}`)
  for (let at = 0; at === 0 || at < entries.length; at += entriesMax) {
    yield { revision, entries: entries.slice(at, at + entriesMax) }
  }
}
