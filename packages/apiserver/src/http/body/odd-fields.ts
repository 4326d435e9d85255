import { goQuoted } from '@coracle/api'
import { skipWhitespace } from '@coracle/api/json-syntax'
import { endOfString } from './duplicate-fields.ts'

/** More than these are not reported: nobody reads them. */
export const oddFieldsMax = 100

/**
 * What strict decoding says of a JSON text: of fields that are not known, whose messages are given (`unknown field "spec.foo"`), and of
 * those that occur twice (`duplicate field "spec.containers[0].image"`), in the order of the text and each once. What is in a field that is not known
 * is not looked at.
 */
export function oddFields(text: string, unknown: ReadonlySet<string>): readonly string[] {
  const finder = new OddFieldFinder(text, unknown)
  finder.value('')
  return [...finder.found]
}

/** Walks valid JSON and collects what is odd about its fields. Only used once it is known that there is something. */
class OddFieldFinder {
  readonly found = new Set<string>()
  readonly #text: string
  readonly #unknown: ReadonlySet<string>
  #position = 0
  /** Whether the position is in a field that is not known. */
  #passes = false

  constructor(text: string, unknown: ReadonlySet<string>) {
    this.#text = text
    this.#unknown = unknown
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
      this.#peek()
      this.#position++
      const unknown = `unknown field ${goQuoted(fieldPath)}`
      if (this.#unknown.has(unknown)) {
        this.#report(unknown)
        this.#pass(fieldPath)
        continue
      }
      if (seen.has(key)) this.#report(`duplicate field ${goQuoted(fieldPath)}`)
      seen.add(key)
      this.value(fieldPath)
    }
    this.#position++
  }

  #report(message: string): void {
    if (!this.#passes && this.found.size < oddFieldsMax) this.found.add(message)
  }

  #pass(path: string): void {
    const outer = this.#passes
    this.#passes = true
    this.value(path)
    this.#passes = outer
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
