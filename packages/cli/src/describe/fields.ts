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

/** Words that are all capitals in labels. */
const acronyms = new Set(['API', 'URL', 'UID', 'OSB', 'GUID'])

/**
 * The words of a key, each with a capital at its beginning alone: `creationTimestamp` is shown as `Creation Timestamp`,
 * `diskURI` as `Disk Uri`, `podIPs` as `Pod I Ps`. A key with anything but letters and hyphens stays (smartLabelFor).
 */
export function labelOf(key: string): string {
  if (!/^[\p{L}-]*$/u.test(key)) return key
  return wordsOf(key)
    .map((word) => {
      const capitals = word.toUpperCase()
      return acronyms.has(capitals) ? capitals : `${capitals.charAt(0)}${word.slice(1).toLowerCase()}`
    })
    .join(' ')
}

/** Runs of small letters, of capitals, and of the rest; the last capital before small letters belongs to these. */
function wordsOf(key: string): readonly string[] {
  return key.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[^\p{Lu}\p{Ll}]+/gu) ?? []
}
