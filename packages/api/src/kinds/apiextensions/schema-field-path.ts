/** Paths such as `.spec.parts['a-b']` to fields that a schema describes: those of selectable fields and of rules. */
import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'

/** A step on a path: to a field, or to a value of a map by its key. */
export interface FieldPathStep {
  readonly name: string
  readonly isKey: boolean
}

export interface ResolvedFieldPath {
  readonly steps: readonly FieldPathStep[]
  /** The schema of what the path leads to. */
  readonly schema: JsonSchemaProps
}

export interface FieldPathProblem {
  readonly problem: string
}

export const isFieldPathProblem = (path: ResolvedFieldPath | FieldPathProblem): path is FieldPathProblem =>
  'problem' in path

const token = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/y

/** The parts of a path; a quoted text is one, with its quotes. */
function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  token.lastIndex = 0
  while (token.lastIndex < text.length) {
    const [found = ''] = token.exec(text) ?? []
    tokens.push(found)
  }
  return tokens
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

/** A text as it stands between quotes. */
export function unescaped(text: string): string | FieldPathProblem {
  const unknown = [...text.matchAll(/\\(.)/g)].find(([, mark = '']) => !Object.hasOwn(escapes, mark))
  if (unknown !== undefined) return { problem: `invalid string literal: invalid escape char ${unknown[0]}` }
  return text.replaceAll(/\\(.)/g, (_, mark: string) => escapes[mark] ?? '')
}

/** Whether schemas have properties. Looking takes as long as there are many, and a definition may have many paths through one schema. */
const known = new WeakMap<object, boolean>()

function hasMembers(properties: object): boolean {
  const before = known.get(properties)
  if (before !== undefined) return before
  const found = Object.keys(properties).length > 0
  known.set(properties, found)
  return found
}

/** Follows a path in a schema; `brackets`: whether `['name']` may be a step. The problem is in the words of upstream's ValidFieldPath. */
export function resolveFieldPath(
  text: string,
  root: JsonSchemaProps,
  { brackets }: { readonly brackets: boolean },
): ResolvedFieldPath | FieldPathProblem {
  const steps: FieldPathStep[] = []
  const tokens = tokensOf(text)
  let schema = root
  let at = 0
  const next = (): string | undefined => tokens[at++]
  const descend = (name: string): boolean => {
    const { properties = {}, additionalProperties } = schema
    const isNamed = hasMembers(properties)
    const below = isNamed ? (Object.hasOwn(properties, name) ? properties[name] : undefined) : additionalProperties
    if (below === undefined || typeof below === 'boolean') return false
    steps.push({ name, isKey: !isNamed })
    schema = below
    return true
  }
  while (at < tokens.length) {
    const step = next()
    if (step === '.') {
      const name = next()
      if (name === undefined) return { problem: 'unexpected end of JSON path' }
      if (!descend(name)) return { problem: 'does not refer to a valid field' }
    } else if (step === '[') {
      if (!brackets) return { problem: 'array notation is not allowed' }
      const quoted = next()
      if (quoted === undefined) return { problem: 'unexpected end of JSON path' }
      if (quoted.length < 2 || !quoted.startsWith("'") || !quoted.endsWith("'"))
        return { problem: `expected single quoted string but got ${quoted}` }
      const name = unescaped(quoted.slice(1, -1))
      if (typeof name === 'object') return name
      if (!descend(name)) return { problem: 'does not refer to a valid field' }
      const end = next()
      if (end === undefined) return { problem: 'unexpected end of JSON path' }
      if (end !== ']') return { problem: `expected ] but got ${end}` }
    } else return { problem: `expected [ or . but got: ${step ?? ''}` }
  }
  return { steps, schema }
}
