/** As long as upstream lets a field manager's name be, in bytes. */
export const fieldManagerMax = 128

/** Go's unicode.IsPrint. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** Whether a character may be in a field manager's name. */
export const isPrintable = (character: string): boolean =>
  // Names are ASCII mostly, and the classes of Unicode take milliseconds to compile.
  (character >= ' ' && character <= '~') || printable.test(character)
