import { isJsonObject, resolveSchema, type Schema, setMember, writtenNumber } from '@coracle/api'
import { skipWhitespace } from '@coracle/api/json-syntax'
import { endOfString } from './duplicate-fields.ts'

/**
 * The value of a JSON text in which fields occur twice, as Go's decoder has it for a struct: what is read into an object goes into the one
 * that was there, into a list into its elements, and all else takes the place of what was there. Numbers are as the reviver `writtenNumber`
 * leaves them. `text` is valid JSON, and does not nest too deep.
 */
export const parseRepeated = (text: string, schema: Schema): unknown => new RepeatedFieldReader(text).value(schema)

class RepeatedFieldReader {
  readonly #text: string
  #position = 0

  constructor(text: string) {
    this.#text = text
  }

  value(schema: Schema | undefined): unknown {
    const first = this.#peek()
    if (first === '{') return this.#object(schema)
    if (first === '[') return this.#array(itemsOf(schema))
    return first === '"' ? this.#string() : this.#scalar()
  }

  #object(schema: Schema | undefined): unknown {
    const object: Record<string, unknown> = {}
    this.#position++
    while (this.#peek() !== '}') {
      if (this.#peek() === ',') this.#position++
      this.#peek()
      const key = this.#string()
      this.#peek()
      this.#position++
      const below = memberOf(schema, key)
      const value = this.value(below)
      setMember(object, key, Object.hasOwn(object, key) ? readInto(below, object[key], value) : value)
    }
    this.#position++
    return object
  }

  #array(items: Schema | undefined): unknown {
    const list: unknown[] = []
    this.#position++
    while (this.#peek() !== ']') {
      if (this.#peek() === ',') this.#position++
      list.push(this.value(items))
    }
    this.#position++
    return list
  }

  #string(): string {
    const start = this.#position
    this.#position = endOfString(this.#text, start)
    return (JSON.parse(this.#text.slice(start, this.#position)) as string).toWellFormed()
  }

  #scalar(): unknown {
    const start = this.#position
    while (this.#position < this.#text.length && !/[\s,\]}]/.test(this.#text.charAt(this.#position))) this.#position++
    return JSON.parse(this.#text.slice(start, this.#position), writtenNumber)
  }

  /** The next character that is not white space; the position is then at it. */
  #peek(): string {
    this.#position = skipWhitespace(this.#text, this.#position)
    return this.#text.charAt(this.#position)
  }
}

/** Both are the reader's own: what is there is changed, so that a field that occurs very often costs no more than its text. */
function readInto(schema: Schema | undefined, before: unknown, after: unknown): unknown {
  const resolved = schema && resolveSchema(schema)
  if (resolved?.type === 'list' && Array.isArray(before) && Array.isArray(after)) {
    return after.map((each, index) => (index < before.length ? readInto(resolved.items, before[index], each) : each))
  }
  const isMerged = resolved?.type === 'object' || resolved?.type === 'map'
  if (!isMerged || !isJsonObject(before) || !isJsonObject(after)) return after
  const object = before as Record<string, unknown>
  for (const [key, value] of Object.entries(after)) {
    // What is in a map is made anew.
    const isRead = resolved.type === 'object' && Object.hasOwn(object, key)
    setMember(object, key, isRead ? readInto(memberOf(resolved, key), object[key], value) : value)
  }
  return object
}

function memberOf(schema: Schema | undefined, key: string): Schema | undefined {
  const resolved = schema && resolveSchema(schema)
  if (resolved?.type === 'map') return resolved.values
  if (resolved?.type !== 'object') return undefined
  return Object.hasOwn(resolved.fields, key) ? resolved.fields[key]?.schema : undefined
}

function itemsOf(schema: Schema | undefined): Schema | undefined {
  const resolved = schema && resolveSchema(schema)
  return resolved?.type === 'list' ? resolved.items : undefined
}
