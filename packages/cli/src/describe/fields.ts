import { isJsonObject, type JsonObject } from '@coracle/api'
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
      else text.line(level + 1, scalarText(item))
    }
  } else if (isJsonObject(value)) {
    text.heading(level, label)
    describeFields(text, level + 1, value)
  } else text.field(level, label, scalarText(value))
}

const scalarText = (value: unknown): string =>
  value === null || value === undefined ? '<nil>' : String(value).replaceAll(/\s*\n\s*/g, ' ')

/** Words that are all capitals in labels. */
const acronyms = new Set(['api', 'url', 'uid', 'osb', 'guid'])

/** `podIPs` is shown as `Pod I Ps`, as kubectl has it, and `creationTimestamp` as `Creation Timestamp`. Keys that are no identifiers stay. */
export function labelOf(key: string): string {
  if (!/^[A-Za-z0-9]+$/.test(key)) return key
  return key
    .split(/(?=[A-Z])/)
    .map((word) =>
      acronyms.has(word.toLowerCase()) ? word.toUpperCase() : word.charAt(0).toUpperCase() + word.slice(1),
    )
    .join(' ')
}
