/** What is wrong with a configuration that is applied, as upstream's structured-merge-diff says it. */
import { compareText } from '../compare-text.ts'
import { goText } from '../go-text.ts'
import { isJsonObject } from '../json.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ListSchema, Schema } from '../schema/schema.ts'
import { pathText } from './conflicts.ts'
import { fieldElement } from './field-set.ts'
import { listElement, memberSchema, UnidentifiedElementError } from './typed-value.ts'

/** More are not told: nobody reads them. */
const problemsMax = 100

/**
 * Why a value cannot be owned field by field under its schema: fields that are not there, values of another type, elements that nobody
 * can tell apart. One problem to a line where there are several. Undefined where there is none.
 */
export function typedProblems(schema: Schema, value: unknown): string | undefined {
  const found: string[] = []
  const note = (path: readonly string[], problem: string): void => {
    if (found.length < problemsMax) found.push(path.length === 0 ? problem : `${pathText(path)}: ${problem}`)
  }
  look(schema, value, [], note)
  return found.length < 2 ? found[0] : ['errors:', ...found.map((problem) => `  ${problem}`)].join('\n')
}

type Note = (path: readonly string[], problem: string) => void

function look(schema: Schema, value: unknown, path: readonly string[], note: Note): void {
  if (value === null || value === undefined) return
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'any':
      return
    case 'list':
      if (Array.isArray(value)) lookInList(resolved, value, path, note)
      else note(path, `expected list, got ${pointerText(value)}`)
      return
    case 'object':
    case 'map':
      if (isJsonObject(value)) lookInMap(resolved, value, path, note)
      else note(path, `expected map, got ${pointerText(value)}`)
      return
    case 'int-or-string':
      // Of custom resources it is taken as it is.
      if (resolved.checks === undefined) lookAtScalar(value, path, note)
      return
    case 'string':
      if (hasLooseFormat(resolved)) {
        lookAtScalar(value, path, note)
        return
      }
      if (typeof value !== 'string')
        note(path, `expected string, got &value.valueUnstructured{Value:${syntaxText(value)}}`)
      return
    case 'bytes':
      if (typeof value !== 'string')
        note(path, `expected string, got &value.valueUnstructured{Value:${syntaxText(value)}}`)
      return
    case 'integer':
    case 'number':
      if (typeof value !== 'number' && typeof value !== 'bigint')
        note(path, `expected numeric (int or float), got ${typeText(value)}`)
      return
    case 'boolean':
      if (typeof value !== 'boolean') note(path, `expected boolean, got ${pointerText(value)}`)
      return
    default:
      // A quantity or a time: any simple value.
      lookAtScalar(value, path, note)
  }
}

function lookAtScalar(value: unknown, path: readonly string[], note: Note): void {
  if (typeof value === 'object') note(path, `expected any scalar, got ${pointerText(value)}`)
}

/** What has a format may be written in other ways, as far as ownership goes. */
const hasLooseFormat = ({ checks }: Schema): boolean => !['', 'byte'].includes(checks?.format ?? '')

function lookInList(list: ListSchema, values: readonly unknown[], path: readonly string[], note: Note): void {
  const isAssociative = list.listType === 'set' || list.listType === 'map'
  const seen = new Set<string>()
  for (const [index, value] of values.entries()) {
    let element = `i:${index}`
    if (isAssociative) {
      const named = elementOf(list, value)
      if ('problem' in named) {
        // What is in such an element has no path, and neither has what follows it.
        note(path, `element ${index}: ${named.problem}`)
        return
      }
      element = named.element
      if (seen.has(element)) note(path, `duplicate entries for key ${pathText([element])}`)
      seen.add(element)
    }
    look(list.items, value, [...path, element], note)
  }
}

/** The path element of an element, or why it has none. Schemas of sets may allow objects and lists, which nobody can apply. */
function elementOf(list: ListSchema, value: unknown): { readonly element: string } | { readonly problem: string } {
  if (list.listType === 'set' && typeof value === 'object') {
    if (value === null) return { problem: "associative list without keys has an element that's an explicit null" }
    if (Array.isArray(value)) return { problem: 'not supported: associative list with lists as elements' }
    if (isJsonObject(value)) return { problem: "associative list without keys has an element that's a map type" }
  }
  try {
    return { element: listElement(list, value) }
  } catch (error) {
    if (!(error instanceof UnidentifiedElementError)) throw error
    return { problem: error.message }
  }
}

function lookInMap(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  note: Note,
): void {
  for (const name of Object.keys(value).sort(compareText)) {
    const each = value[name]
    const below = memberSchema(schema, name)
    const at = [...path, fieldElement(name)]
    if (below !== undefined) look(below, each, at, note)
    else if (!keepsUnknown(schema)) note(at, 'field not declared in schema')
  }
}

/** What a custom resource keeps without a description has whatever fields it has. */
const keepsUnknown = (schema: Schema): boolean => {
  const resolved = resolveSchema(schema)
  return resolved.type === 'object' && resolved.preserveUnknownFields === true
}

/** As Go's `%v` prints a pointer to what holds the value. */
const pointerText = (value: unknown): string => `&{${goText(value)}}`

/** The name of a value's type in Go. */
function typeText(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (isJsonObject(value)) return 'map[string]interface {}'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

/** A value as it would stand in a program in Go (`%#v`). */
function syntaxText(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(syntaxText).join(', ')}}`
  if (!isJsonObject(value)) return typeof value === 'string' ? JSON.stringify(value) : goText(value)
  const members = Object.keys(value).sort()
  return `map[string]interface {}{${members.map((name) => `${JSON.stringify(name)}:${syntaxText(value[name])}`).join(', ')}}`
}
