const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that bytes are in UTF-8; undefined for what is no such text. */
export function decodeText(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

const replacement = Buffer.from('\ufffd')

/** The text of bytes as Go's JSON decoder reads it: each byte that is no part of a character is replaced (U+FFFD). */
export function decodeBrokenText(bytes: Buffer): string {
  const text = Buffer.allocUnsafe(bytes.length * replacement.length)
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    const size = characterSize(bytes, at)
    length += size === 0 ? replacement.copy(text, length) : bytes.copy(text, length, at, at + size)
    at += Math.max(size, 1)
  }
  return text.toString('utf8', 0, length)
}

/** How many bytes the character has that begins there; 0 where there is none. */
function characterSize(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  // What a second byte may be tells apart forms that are too long, halves of surrogate pairs, and what is beyond Unicode.
  const min = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const max = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const size = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  for (let index = 1; index < size; index += 1) {
    const next = bytes[at + index] ?? 0
    if (index === 1 ? next < min || next > max : next < 0x80 || next > 0xbf) return 0
  }
  return size
}
