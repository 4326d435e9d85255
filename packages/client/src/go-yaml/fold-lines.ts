/** Where Go's YAML looks for the next space to go on in a new line. */
const bestWidth = 80

/**
 * A scalar of one line as Go's YAML writes it: a line that is longer than 80 columns ends at the next single space, and the rest goes on
 * indented. Within double quotes it ends at the first of several spaces, too: a backslash saves the second one. `column` is where it
 * begins. Texts of several lines, which are written as blocks, stay as they are.
 */
export function foldLines(text: string, indent: string, column: number): string {
  if (text.includes('\n')) return text
  const isQuoted = /^["']/.test(text)
  /** The column of a character is how far it is behind this. */
  let lineStart = -column
  return text.replaceAll(text.startsWith('"') ? /(?<! ) /g : /(?<! ) (?! )/g, (space, index: number) => {
    // Not before or after the quotes.
    const isWithin = !isQuoted || (index > 1 && index < text.length - 2)
    if (index - lineStart <= bestWidth || !isWithin) return space
    const begin = text[index + 1] === ' ' ? `\n${indent}\\` : `\n${indent}`
    lineStart = index + 2 - begin.length
    return begin
  })
}
