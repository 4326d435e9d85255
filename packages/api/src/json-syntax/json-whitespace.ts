/** The position of the next character that is not white space, or the end. */
export function skipWhitespace(text: string, start: number): number {
  let position = start
  while (isWhitespace(text.charCodeAt(position))) position++
  return position
}

const isWhitespace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
