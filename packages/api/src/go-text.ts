import { compareText } from './compare-text.ts'
import { isJsonObject } from './json.ts'

/** A value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`. Columns, descriptions and templates of kubectl show values so, and messages of the server what Go prints with it. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isJsonObject(value)) return String(value)
  const members = Object.keys(value).sort(compareText)
  return `map[${members.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`
}
