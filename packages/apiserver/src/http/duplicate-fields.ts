import { skipWhitespace } from '@coracle/api/json-syntax'

/** More than these are not reported: nobody reads them. */
export const duplicateFieldsMax = 100

/**
 * The paths of fields that occur twice in one object (`spec.replicas`, `spec.containers[0].image`), of which
 * `JSON.parse` keeps the last. `value` is what `JSON.parse` made of `text`; where it holds as many fields as the text
 * has, nothing occurs twice: that is the usual case, and costs far less than parsing did.
 */
export function duplicateFields(text: string, value: unknown): readonly string[] {
  if (countFieldsInText(text) === countFields(value)) return []
  const paths: string[] = []
  new DuplicateFinder(text, paths).value('')
  return paths
}

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
function endOfString(text: string, start: number): number {
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

/** Walks valid JSON and collects the paths of repeated fields. Only used once it is known that there are some. */
class DuplicateFinder {
  readonly #text: string
  readonly #found: string[]
  #position = 0

  constructor(text: string, found: string[]) {
    this.#text = text
    this.#found = found
  }

  value(path: string): void {
    const first = this.#peek()
    if (first === '{') this.#object(path)
    else if (first === '[') this.#array(path)
    else if (first === '"') this.#string()
    else this.#scalar()
  }

  #scalar(): void {
    while (this.#position < this.#text.length && !/[\s,\]}]/.test(this.#text.charAt(this.#position))) this.#position++
  }

  #object(path: string): void {
    const seen = new Set<string>()
    this.#position++
    while (this.#peek() !== '}') {
      if (this.#peek() === ',') this.#position++
      this.#peek()
      const key = this.#string()
      const fieldPath = path === '' ? key : `${path}.${key}`
      if (seen.has(key) && this.#found.length < duplicateFieldsMax) this.#found.push(fieldPath)
      seen.add(key)
      this.#peek()
      this.#position++
      this.value(fieldPath)
    }
    this.#position++
  }

  #array(path: string): void {
    this.#position++
    for (let index = 0; this.#peek() !== ']'; index++) {
      if (this.#peek() === ',') this.#position++
      this.value(`${path}[${index}]`)
    }
    this.#position++
  }

  #string(): string {
    const start = this.#position
    this.#position = endOfString(this.#text, start)
    return JSON.parse(this.#text.slice(start, this.#position)) as string
  }

  /** The next character that is not white space; the position is then at it. */
  #peek(): string {
    this.#position = skipWhitespace(this.#text, this.#position)
    return this.#text.charAt(this.#position)
  }
}
