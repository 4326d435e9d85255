/**
 * Replaces `$(NAME)` by the value of NAME, as upstream's third_party/forked/golang/expansion does: `$$` is a dollar
 * sign, a reference to an unknown name stays as it is written, and what was put in is not looked at again.
 */
export function expand(text: string, lookUp: (name: string) => string | undefined): string {
  if (!text.includes('$')) return text
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name: string | undefined) => {
    if (name === undefined) return '$'
    return lookUp(name) ?? reference
  })
}
