/**
 * Compares two keys by their UTF-8 bytes. JavaScript's own `<` compares UTF-16 units, which places the characters
 * beyond U+FFFF (written as surrogates, D800 to DFFF) before those from U+E000 to U+FFFF; UTF-8 places them after.
 * Both keys must be well-formed.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const unitA = a.charCodeAt(index)
    const unitB = b.charCodeAt(index)
    if (unitA !== unitB) return rank(unitA) - rank(unitB)
  }
  return a.length - b.length
}

/** Moves surrogates above every other unit and leaves the order otherwise as it is. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit
}

/** The first key in byte order after all that start with `prefix`. A byte of UTF-8 is never 255, so that the last can be raised. */
export function prefixEnd(prefix: Uint8Array): Uint8Array {
  const end = Uint8Array.from(prefix)
  const last = end.length - 1
  end[last] = (end[last] as number) + 1
  return end
}
