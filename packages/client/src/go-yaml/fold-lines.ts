/** Where Go's YAML looks for the next space to go on in a new line. */
const bestWidth = 80

/** How a text is written: plain, or within quotes. */
type Style = 'plain' | 'single' | 'double'

/**
 * A scalar of one line as Go's YAML writes it: a line that is longer than 80 columns ends at the next single space, and the rest goes on
 * indented. `column` is where it begins. Texts of several lines, which are written as blocks, stay as they are.
 */
export function foldLines(text: string, indent: string, column: number): string {
  const style = styleOf(text)
  if (style === undefined || column + text.length <= bestWidth) return text
  let folded = ''
  let at = column
  for (let index = 0; index < text.length; index++) {
    const isLone = text[index] === ' ' && text[index - 1] !== ' ' && text[index + 1] !== ' '
    if (isLone && at > bestWidth && mayEndLine(text, index, style)) {
      folded += `\n${indent}`
      at = indent.length
    } else {
      folded += text[index]
      at++
    }
  }
  return folded
}

function styleOf(text: string): Style | undefined {
  if (text.includes('\n')) return undefined
  if (text.startsWith('"')) return 'double'
  return text.startsWith("'") ? 'single' : 'plain'
}

/** Not before or after the quotes. */
const mayEndLine = (text: string, index: number, style: Style): boolean =>
  style === 'plain' || (index > 1 && index < text.length - 2)
