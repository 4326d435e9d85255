/** Where Go's decoder of base64 stumbles: over what is none of the alphabet, or where the padding lacks or more follows it; undefined where it reads all. */
export function illegalByte(text: string): number | undefined {
  const bad = text.search(/[^A-Za-z0-9+/\r\n]/)
  const digits = text.slice(0, bad < 0 ? undefined : bad).replaceAll(/[\r\n]/g, '').length % 4
  if (bad < 0) return digits === 0 ? undefined : text.length - digits
  if (text[bad] !== '=' || digits < 2) return bad
  const padding = /^=[\r\n]*/.exec(text.slice(bad))?.[0] ?? ''
  const whole = digits === 3 ? padding : /^=[\r\n]*=[\r\n]*/.exec(text.slice(bad))?.[0]
  const next = bad + padding.length
  if (whole === undefined) return next >= text.length ? text.length : next - 1
  const end = bad + whole.length
  return end < text.length ? end : undefined
}
