import {
  type Field,
  isJsonObject,
  type ResolvedSchema,
  resolveSchema,
  type Schema,
  setMember,
  writtenNumber,
} from '@coracle/api'
import { skipWhitespace } from '@coracle/api/json-syntax'
import { endOfString } from './duplicate-fields.ts'

/**
 * The value of a JSON text in which fields occur twice, as Go's decoder has it for a struct: what is read into an object goes into the one
 * that was there, into a list into its elements, and all else takes the place of what was there, but for a null: that only empties what Go
 * holds by a pointer. Numbers are as the reviver `writtenNumber`
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
      const field = fieldOf(schema, key)
      const value = this.value(field?.schema ?? valuesOf(schema))
      // What is in a map is made anew.
      const isRead = field !== undefined && Object.hasOwn(object, key)
      setMember(object, key, isRead ? readIntoField(field, object[key], value) : value)
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

/** How Go holds a value: an element of a list by value. */
type Holder = Pick<Field, 'schema' | 'pointer' | 'byValue'>

/** What a field holds once a second value is read into it. A null empties pointers, lists and maps, and leaves all else as it is. */
function readIntoField(holder: Holder, before: unknown, after: unknown): unknown {
  if (after !== null) return readInto(holder.schema, before, after)
  return isEmptied(holder) ? null : afterNull(resolveSchema(holder.schema).type, before)
}

/** Whether it is a pointer, a list or a map, or of a type that takes a null for its zero value. */
function isEmptied({ schema, pointer, byValue }: Holder): boolean {
  const resolved = resolveSchema(schema)
  switch (resolved.type) {
    case 'object':
      return byValue !== true
    case 'any':
      return resolved.name !== rawExtension
    case 'list':
    case 'map':
    case 'bytes':
    case 'time':
    case 'quantity':
      return true
    default:
      return pointer === true
  }
}

/** What holds any object reads no null. */
const rawExtension = 'io.k8s.apimachinery.pkg.runtime.RawExtension'

/** What a null makes of a value that it does not empty. A port is a number from then on, of which its name says nothing. */
function afterNull(type: ResolvedSchema['type'], before: unknown): unknown {
  return type === 'int-or-string' && typeof before === 'string' ? 0 : before
}

/** Both are the reader's own: what is there is changed, so that a field that occurs very often costs no more than its text. */
function readInto(schema: Schema, before: unknown, after: unknown): unknown {
  const resolved = resolveSchema(schema)
  if (resolved.type === 'list' && Array.isArray(before) && Array.isArray(after)) {
    const item: Holder = { schema: resolved.items, byValue: true }
    return after.map((each, index) => (index < before.length ? readIntoField(item, before[index], each) : each))
  }
  const isMerged = resolved.type === 'object' || resolved.type === 'map'
  if (!isMerged || !isJsonObject(before) || !isJsonObject(after)) return after
  const object = before as Record<string, unknown>
  for (const [key, value] of Object.entries(after)) {
    const field = Object.hasOwn(object, key) ? fieldOf(resolved, key) : undefined
    setMember(object, key, field === undefined ? value : readIntoField(field, object[key], value))
  }
  return object
}

function fieldOf(schema: Schema | undefined, key: string): Field | undefined {
  const resolved = schema && resolveSchema(schema)
  if (resolved?.type !== 'object') return undefined
  return Object.hasOwn(resolved.fields, key) ? resolved.fields[key] : undefined
}

function valuesOf(schema: Schema | undefined): Schema | undefined {
  const resolved = schema && resolveSchema(schema)
  return resolved?.type === 'map' ? resolved.values : undefined
}

function itemsOf(schema: Schema | undefined): Schema | undefined {
  const resolved = schema && resolveSchema(schema)
  return resolved?.type === 'list' ? resolved.items : undefined
}
