import { fnv1a, nameAlphabet } from '@coracle/environment'

/**
 * A hash of JSON as names and labels carry it: FNV-1a over its text in the order of the keys, written in letters and digits that
 * do not form words. `collisions` gives another hash to what found its name taken.
 */
export function nameHash(value: unknown, collisions: number | undefined): string {
  return encoded(String(fnv1a(canonicalJson(value) + (collisions === undefined ? '' : String(collisions)))))
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}

/** As upstream's SafeEncodeString. */
function encoded(text: string): string {
  return Array.from(text, (char) => nameAlphabet[char.charCodeAt(0) % nameAlphabet.length]).join('')
}
