import { isJsonObject } from '@coracle/api'
import { goQuoted } from '@coracle/api/go-text'
import { floatOf, floatText, mapKeys } from './go-template/go-values.ts'

/** A value of JSON in Go's own syntax, as `%#v` prints it. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuoted(value)
  const float = floatOf(value)
  if (float !== undefined) return floatText(float)
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (!isJsonObject(value)) return String(value)
  const members = mapKeys(value).filter((key) => value[key] !== undefined)
  return `map[string]interface {}{${members.map((key) => `${goQuoted(key)}:${goSyntax(value[key])}`).join(', ')}}`
}
