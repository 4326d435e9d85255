/**
 * Orders two resource versions: negative where `a` is older, 0 where they are the same, positive where `a` is newer.
 *
 * Versions used to be opaque. Since KEP-5504 every conforming server gives decimal numbers that grow, comparable among
 * the objects of one resource. They may exceed what a number holds exactly, so they are compared as text.
 */
export function compareVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length
  if (a === b) return 0
  return a < b ? -1 : 1
}

const zero = 0x30
const nine = 0x39

/** Whether `version` is of the comparable form: a decimal number without leading zeros. */
export function isComparableVersion(version: string): boolean {
  const { length } = version
  // A loop: it is asked twice for each event of each cache.
  for (let at = 0; at < length; at += 1) {
    const code = version.charCodeAt(at)
    if (code < zero || code > nine) return false
  }
  return length === 1 || (length > 0 && version.charCodeAt(0) !== zero)
}

/** Whether a version is older than another; not where one of them cannot be compared. */
export function isOlderVersion(version: string | undefined, other: string | undefined): boolean {
  if (version === undefined || other === undefined) return false
  return isComparableVersion(version) && isComparableVersion(other) && compareVersions(version, other) < 0
}

/** The newer of two versions; an absent one is older than any. */
export function newerVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined) return b
  if (b === undefined) return a
  return compareVersions(a, b) >= 0 ? a : b
}
