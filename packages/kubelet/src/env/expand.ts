/**
 * Replaces `$(NAME)` by the value of NAME, as upstream's third_party/forked/golang/expansion does: `$$` is a dollar
 * sign, a reference to an unknown name stays as it is written, and what was put in is not looked at again. Undefined
 * where that would be longer than `bytesMax` in UTF-8: a few short variables that refer to each other twice make any length.
 */
export function expand(
  text: string,
  lookUp: (name: string) => string | undefined,
  bytesMax: number,
): string | undefined {
  const lastClosing = text.lastIndexOf(')')
  let expanded = ''
  let from = 0
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', from)) {
    expanded += text.slice(from, at)
    const opening = text[at + 1]
    if (opening === '(' && at < lastClosing) {
      from = text.indexOf(')', at) + 1
      expanded += lookUp(text.slice(at + 2, from - 1)) ?? text.slice(at, from)
    } else {
      from = opening === '$' ? at + 2 : at + 1
      expanded += '$'
    }
    if (expanded.length > bytesMax) return undefined
  }
  expanded += text.slice(from)
  return Buffer.byteLength(expanded) > bytesMax ? undefined : expanded
}
