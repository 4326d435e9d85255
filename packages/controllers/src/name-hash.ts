import { nameAlphabet } from '@coracle/environment'

/**
 * A hash of JSON as names and labels carry it: FNV-1a over its text in the order of the keys, written in letters and digits that
 * do not form words. `collisions` gives another hash to what found its name taken.
 */
export function nameHash(value: unknown, collisions: number | undefined): string {
  const text = canonicalJson(value) + (collisions === undefined ? '' : String(collisions))
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return encoded(String(hash >>> 0))
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
