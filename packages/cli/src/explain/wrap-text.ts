/**
 * Breaks lines at spaces, so that none is longer than `width` unless one word is. Line breaks of the text stay, and so do spaces
 * that end up before one.
 */
export function wrapText(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n')
}

function wrapLine(line: string, width: number): string {
  const lines: string[] = []
  let current = ''
  for (const [, space = '', word = ''] of line.matchAll(/(\s*)(\S+)/g)) {
    const isTooLong = current.length + space.length + word.length > width
    if (isTooLong && word.length < width && current + space !== '') {
      lines.push(current)
      current = word
    } else current += space + word
  }
  const [trailing = ''] = /\s*$/.exec(line) ?? []
  if (current.length + trailing.length <= width) current += trailing
  return [...lines, current].join('\n')
}

/**
 * A text in lines of at most `width`, as the older explain fills them: lines of the text flow together, but for those that are
 * empty, indented by four, the beginning of a list, or after a colon.
 */
export function fillText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let current = ''
  const flush = () => {
    if (current !== '') lines.push(current)
    current = ''
  }
  for (const line of text.split('\n')) {
    const isIndented = line.startsWith('    ')
    const isEmpty = line.trim() === ''
    if (isIndented || (isEmpty && lines.length > 0)) {
      flush()
      lines.push(isIndented ? line : '')
      continue
    }
    if (current.endsWith(':') || isEmpty || /^(\d+\.?|-|\*)\s/.test(line.trim())) flush()
    for (const word of line.trim().split(/\s+/)) {
      if (word === '') continue
      if (current !== '' && current.length + 1 + word.length > width) flush()
      current = current === '' ? word : `${current} ${word}`
    }
  }
  flush()
  return lines
}

/** Puts spaces before each line; empty ones have them too. */
export const indentText = (text: string, amount: number): string =>
  text
    .split('\n')
    .map((line) => ' '.repeat(amount) + line)
    .join('\n')
