import { skipWhitespace } from '@coracle/api/json-syntax'

/**
 * Whether a field occurs twice in one object, of which `JSON.parse` keeps the last. `value` is what `JSON.parse` made of `text`; where it
 * holds as many fields as the text has, nothing occurs twice: to count them costs far less than parsing did. Which fields it is, `oddFields`
 * tells.
 */
export const hasDuplicateFields = (text: string, value: unknown): boolean =>
  countFieldsInText(text) !== countFields(value)

/** Counts strings that are followed by a colon. `text` is valid JSON. */
function countFieldsInText(text: string): number {
  let count = 0
  for (let start = text.indexOf('"'); start >= 0; start = text.indexOf('"', start)) {
    start = skipWhitespace(text, endOfString(text, start))
    if (text.charCodeAt(start) === colon) count++
  }
  return count
}

function countFields(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const element of value) count += countFields(element)
    return count
  }
  for (const key in value) count += 1 + countFields((value as Record<string, unknown>)[key])
  return count
}

const colon = 0x3a
const backslash = 0x5c

/** The position after the string that begins at `start`. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? text.length : end + 1
}

/** Whether an odd number of backslashes precedes. */
function isEscaped(text: string, position: number): boolean {
  let before = position - 1
  while (text.charCodeAt(before) === backslash) before--
  return (position - before) % 2 === 0
}
