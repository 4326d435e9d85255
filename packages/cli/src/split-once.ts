/** What stands before the first `separator` (a single letter) of a text and what after it; undefined after it where there is none. */
export function splitOnce(text: string, separator: string): readonly [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
