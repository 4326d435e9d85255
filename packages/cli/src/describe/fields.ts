import { goText, isJsonObject, type JsonObject } from '@coracle/api'
import type { Description } from './description.ts'

/** Nested fields of any object, in order of their names: what kubectl prints of kinds it does not know. */
export function describeFields(text: Description, level: number, object: JsonObject): void {
  for (const key of Object.keys(object).sort()) describeValue(text, level, labelOf(key), object[key])
}

function describeValue(text: Description, level: number, label: string, value: unknown): void {
  if (Array.isArray(value)) {
    text.heading(level, label)
    for (const item of value) {
      if (isJsonObject(item)) describeFields(text, level + 1, item)
      else text.line(level + 1, goText(item))
    }
  } else if (isJsonObject(value)) {
    text.heading(level, label)
    describeFields(text, level + 1, value)
  } else text.field(level, label, goText(value))
}

/** Words that are all capitals in labels, however they are written. */
const acronyms = new Set(['API', 'URL', 'UID', 'GUID'])

/**
 * The words of a key: `creationTimestamp` is shown as `Creation Timestamp`, `diskURI` as `Disk URI`, `podIPs` as `Pod I Ps`. A key with
 * anything but letters and hyphens stays (smartLabelFor, of kubectl 1.36).
 */
export function labelOf(key: string): string {
  if (!/^[\p{L}-]*$/u.test(key)) return key
  return joined(wordsOf(key))
    .map((word) => {
      const capitals = word.toUpperCase()
      if (acronyms.has(capitals)) return capitals
      return word === word.toLowerCase() ? `${capitals.charAt(0)}${word.slice(1)}` : word
    })
    .join(' ')
}

/** Runs of small letters, of capitals, and of the rest; the last capital before small letters belongs to these. */
function wordsOf(key: string): readonly string[] {
  return key.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}]+/gu) ?? []
}

/** Two capitals and more are one word with what follows and begins with a capital: the `UR` and `Ls` of `nonResourceURLs`. */
function joined(words: readonly string[]): readonly string[] {
  const all: string[] = []
  for (let at = 0; at < words.length; at += 1) {
    const [word = '', next = ''] = words.slice(at)
    const isRun = word.length >= 2 && !/(?!\p{Lu})\p{L}/u.test(word) && /^[A-Z]/.test(next)
    all.push(isRun ? word + next : word)
    if (isRun) at += 1
  }
  return all
}
