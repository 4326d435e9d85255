/** Escapes of one letter. */
const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

const escapePattern = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs

/** What a string of Go's source says, quoted or raw; undefined where an escape means nothing. */
export function unquote(text: string): string | undefined {
  if (text.startsWith('`')) return text.slice(1, -1)
  let isValid = true
  const value = text.slice(1, -1).replace(escapePattern, (_, hex, short, long, octal, letter) => {
    const code = hex ?? short ?? long
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
    if (octal !== undefined) return String.fromCodePoint(Number.parseInt(octal, 8))
    const char = escapes[letter]
    isValid &&= char !== undefined
    return char ?? ''
  })
  return isValid ? value : undefined
}

/** The code of the one character between single quotes. */
export function unquoteChar(text: string): bigint | undefined {
  const [char, ...more] = unquote(text) ?? ''
  return char === undefined || more.length > 0 ? undefined : BigInt(char.codePointAt(0) ?? 0)
}
