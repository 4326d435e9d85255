import { isJsonObject, type JsonObject } from '@coracle/api'

/** A value as kubectl's `-o kyaml` prints it: YAML in braces, which no indentation can break, with every text in quotes. */
export function kyaml(value: unknown): string {
  return `---\n${render(value, '')}\n`
}

function render(value: unknown, indent: string): string {
  if (typeof value === 'string') return text(value, indent)
  if (Array.isArray(value)) return list(value, indent)
  if (isJsonObject(value)) return map(value, indent)
  return String(value ?? null)
}

function map(value: JsonObject, indent: string): string {
  const keys = Object.keys(value)
  if (keys.length === 0) return '{}'
  const inner = `${indent}  `
  const members = keys.map((key) => `${inner}${isPlain(key) ? key : quote(key)}: ${render(value[key], inner)},\n`)
  return `{\n${members.join('')}${indent}}`
}

/** Maps and lists in a list begin where it begins; what is simple has lines of its own. */
function list(items: readonly unknown[], indent: string): string {
  if (items.length === 0) return '[]'
  const isNested = items.every((item) => isJsonObject(item) || Array.isArray(item))
  if (isNested) return `[${items.map((item) => render(item, indent)).join(', ')}]`
  const inner = `${indent}  `
  return `[\n${items.map((item) => `${inner}${render(item, inner)},\n`).join('')}${indent}]`
}

/** Several lines stand below each other, each with its end spelled out. */
function text(value: string, indent: string): string {
  const lines = value.split('\n')
  if (lines.length === 1) return quote(value)
  const shown = lines.map((line, index) => {
    const isLast = index === lines.length - 1
    if (isLast && line === '') return ''
    // White space at the beginning of a line would be lost.
    const start = /^[ \t]/.test(line) ? '\\' : ' '
    return `${indent}  ${start}${quote(line).slice(1, -1)}${isLast ? '' : '\\n'}\\\n`
  })
  return `"\\\n${shown.join('')}${indent}  "`
}

/** A text in double quotes; escapes are those of YAML, which has one for the escape character and leaves tabs. */
const quote = (value: string): string =>
  JSON.stringify(value).replaceAll(/\\(u001b|t|.)/g, (whole, what) => shortEscapes[what] ?? whole)

const shortEscapes: Readonly<Record<string, string>> = { u001b: '\\e', t: '\t' }

/** Whether a key can do without quotes and is read as nothing but a text. */
const isPlain = (key: string): boolean =>
  /^[\p{L}_][\p{L}\p{N}_./-]*$/u.test(key) && !/^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i.test(key)
