const encoder = new TextEncoder()

/** 32 bits that stand for a text, the same in every process: Fowler, Noll and Vo's hash, 1a. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
